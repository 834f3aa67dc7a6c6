"""In CI nothing is skipped in silence; elsewhere the skipped are counted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shape import sources

TESTS = """
import pytest

def test_runs():
    pass

@pytest.mark.skipif(True, reason="no npm")
def test_marked():
    pass

def test_inside():
    pytest.skip("no npm")

@pytest.mark.xfail(strict=True)
def test_known():
    assert False
"""


def run(folder: Path, *, ci: str, module: bool = False) -> str:
    """Run a few tests under our conftest; answers what was printed."""
    shutil.copy(sources.REPOSITORY / "tests/conftest.py", folder)
    (folder / "test_few.py").write_text(TESTS)
    if module:
        skipping = "import pytest\npytest.skip('no browser', allow_module_level=True)\n"
        (folder / "test_module.py").write_text(skipping)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull]
    done = subprocess.run(
        [*command, "--rootdir", str(folder), str(folder)],
        cwd=folder,
        env=os.environ | {"CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_skips_are_counted_by_reason(tmp_path: Path) -> None:
    printed = run(tmp_path, ci="", module=True)
    assert "not run: 1 tests - no browser" in printed
    assert "not run: 2 tests - no npm" in printed
    assert "not run: 3 tests in all" in printed
    assert "1 passed, 3 skipped, 1 xfailed" in printed


def test_in_ci_a_skip_is_a_failure(tmp_path: Path) -> None:
    printed = run(tmp_path, ci="true")
    assert "skipped, and CI=true allows no skip: no npm" in printed
    assert "not run: 0 tests in all" in printed
    assert " skipped" not in printed.strip().split("\n")[-1]


def test_in_ci_a_module_that_skips_itself_is_an_error(tmp_path: Path) -> None:
    printed = run(tmp_path, ci="true", module=True)
    assert "skipped, and CI=true allows no skip: no browser" in printed
    assert "1 error" in printed.strip().split("\n")[-1]


@pytest.mark.parametrize("ci", ["", "true"])
def test_what_is_expected_to_fail_is_no_skip(tmp_path: Path, ci: str) -> None:
    assert "1 xfailed" in run(tmp_path, ci=ci)
