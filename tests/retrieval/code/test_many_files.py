"""A repository of 100,000 files: bounded memory, and other work goes on."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from mufakat.retrieval.code.index import LocalCodeIndex

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(900)]

FILES = 100_000
MOST_KB = 1_500_000


async def test_a_hundred_thousand_files(tmp_path: Path) -> None:
    root, home = tmp_path / "root", tmp_path / "home"
    home.mkdir()
    for folder in range(FILES // 500):
        (root / f"d{folder}").mkdir(parents=True)
        for number in range(500):
            text = f"def function_{folder}_{number}(a, b):\n    return a + b\n"
            (root / f"d{folder}" / f"f{number}.py").write_text(text)
    index = LocalCodeIndex(home / "index" / "code", home=home)
    found = await index.refresh(root)
    assert (found.files, found.changed) == (FILES, FILES)
    hits = (await index.search(root, "function_150_77")).hits
    assert hits[0].path == "d150/f77.py"
    (root / "d3" / "f3.py").write_text("def quite_another():\n    pass\n")
    assert (await index.refresh(root)).changed == 1
    assert (await index.search(root, "quite_another")).hits[0].path == "d3/f3.py"
    await index.close()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < MOST_KB
