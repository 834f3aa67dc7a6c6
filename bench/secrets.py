"""How many made-up secrets are found, and how much ordinary code is taken for one."""

from __future__ import annotations

import random
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

from bench import report
from core import secret_samples as made
from mufakat.core import secrets

EACH = 1_000
"""Made-up secrets of each kind."""
REPOSITORY = Path(__file__).resolve().parents[1]
SOURCES: tuple[tuple[str, Path, str], ...] = (
    ("this repository, its package", REPOSITORY / "src", "**/*.py"),
    ("this repository, its tests, which hold made secrets", REPOSITORY / "tests", "**/*.py"),
    ("this repository, its pages", REPOSITORY / "docs", "**/*.md"),
    ("Python's standard library", Path(sysconfig.get_path("stdlib")), "*.py"),
    ("installed packages", Path(sysconfig.get_path("purelib")), "**/*.py"),
)


def main() -> str:
    """Both tables."""
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    found = {kind: sum(_found(kind, chance) for _ in range(EACH)) for kind in secrets.KINDS}
    worst = min(found, key=lambda kind: found[kind])
    total = sum(found.values())
    columns = (f"{len(found)} kinds, {EACH:,} of each, seed {seed}", "recall")
    recall = [
        ["all kinds", f"{total / EACH / len(found):.5f}"],
        [f"the worst kind, {worst}", f"{found[worst] / EACH:.3f}"],
    ]
    ordinary = [_ordinary(name, _texts(folder, pattern)) for name, folder, pattern in SOURCES]
    columns_of_code = ("text", "lines", "lines taken for a secret", "one in", "MB/s")
    return f"{report.table(columns, recall)}\n\n{report.table(columns_of_code, ordinary)}"


def _found(kind: str, chance: random.Random) -> bool:
    secret, text = made.samples(kind, chance)
    clean = secrets.scrub(text)
    return secret not in clean.text and kind in clean.kinds


def _texts(folder: Path, pattern: str) -> Iterator[str]:
    for file in sorted(folder.glob(pattern)):
        if file.is_file():
            yield file.read_text("utf-8", "replace")


def _ordinary(name: str, texts: Iterator[str]) -> list[str]:
    lines = taken = chars = 0
    seconds = 0.0
    for text in texts:
        began = time.process_time()
        clean = secrets.scrub(text)
        seconds += time.process_time() - began
        lines += text.count("\n")
        chars += len(text)
        if clean.kinds:
            taken += sum(bool(secrets.scrub(line).kinds) for line in text.split("\n"))
    rare = f"{lines // taken:,}" if taken else "–"
    return [name, f"{lines:,}", str(taken), rare, f"{chars / 1e6 / seconds:.1f}"]
