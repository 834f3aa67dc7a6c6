"""Fuzzing with atheris: `PYTHONPATH=tests python -m fuzz.run --seconds 30 [TARGET ...]`.

An input that breaks a property is printed; put it into `corpus/TARGET/` with the fix.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fuzz import targets

TESTS = Path(__file__).resolve().parents[1]
GRACE = 120
"""Seconds for the start and the last input."""
LONGEST = 4096
"""Bytes of an input: enough for a few events, short enough for thousands of runs a second."""
FIGURE = re.compile(r"stat::(number_of_executed_units|average_exec_per_sec):\s+(\d+)")


@dataclass(frozen=True)
class Outcome:
    """How a target did."""

    name: str
    crashes: tuple[bytes, ...]
    """Inputs that broke a property."""
    runs: int
    runs_per_second: int
    exit_code: int
    log: str

    @property
    def good(self) -> bool:
        return not self.crashes and self.exit_code == 0

    def __str__(self) -> str:
        figures = f"{self.runs:>9,} inputs, {self.runs_per_second:>6,} a second"
        return f"{self.name:>12}: {figures}, {len(self.crashes)} crashes"


def available() -> bool:
    """Whether atheris is installed (`scripts/setup dev slow`)."""
    return importlib.util.find_spec("atheris") is not None


def fuzz(name: str, *, seconds: int, seed: int) -> Outcome:
    """Fuzz one target for some seconds, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        seeds, found = place / "seeds", place / "found"
        seeds.mkdir()
        found.mkdir()
        for number, data in enumerate(targets.ALL[name].seeds()):
            (seeds / f"{number:03d}").write_bytes(data)
        options = [
            f"-max_total_time={seconds}",
            f"-seed={seed}",
            f"-max_len={LONGEST}",
            f"-artifact_prefix={found}/",
            "-print_final_stats=1",
            "-rss_limit_mb=1024",
            "-timeout=20",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "fuzz.guided", name, str(seeds), *options],
            env={**os.environ, "PYTHONPATH": str(TESTS), "PYTHONUTF8": "1"},
            cwd=place,
            capture_output=True,
            timeout=seconds + GRACE,
            check=False,
        )
        lines = (done.stdout + done.stderr).decode("utf-8", "replace").split("\n")
        log = "\n".join(line for line in lines if not line.startswith("INFO: Instrumenting"))
        figures = {key: int(value) for key, value in FIGURE.findall(log)}
        return Outcome(
            name,
            tuple(file.read_bytes() for file in sorted(found.iterdir())),
            figures.get("number_of_executed_units", 0),
            figures.get("average_exec_per_sec", 0),
            done.returncode,
            log,
        )


def main(arguments: list[str]) -> int:
    """Fuzz the named targets, or all; 0 when nothing was found."""
    parser = argparse.ArgumentParser(prog="fuzz.run", description=__doc__)
    parser.add_argument("--seconds", type=int, default=30, help="for each target")
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("target", nargs="*", metavar="TARGET", help=", ".join(targets.ALL))
    asked = parser.parse_args(arguments)
    if unknown := set(asked.target) - set(targets.ALL):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    if not available():
        parser.error("atheris is not installed: scripts/setup dev slow")
    good = True
    for name in asked.target or targets.ALL:
        outcome = fuzz(name, seconds=asked.seconds, seed=asked.seed)
        print(outcome, flush=True)
        good = good and outcome.good
        for data in outcome.crashes:
            print(f"  input: {data!r}")
        if not outcome.good:
            print(outcome.log[-4000:])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
