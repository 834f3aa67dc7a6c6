"""The command line starts light: heavy libraries are loaded by the command that needs them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from shape import sources

HEAVY = (
    "fastapi",
    "starlette",
    "uvicorn",
    "sqlalchemy",
    "alembic",
    "pydantic",
    "httpx",
    "prometheus_client",
)


def loaded(program: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after `program`."""
    report = "import json, sys; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"], capture_output=True, text=True, check=True
    )
    modules: list[str] = json.loads(done.stdout.strip().split("\n")[-1])
    return set(modules)


@pytest.mark.parametrize(
    "program",
    [
        "from mufakat.cli import main; assert main.main(['--version']) == 0",
        "from mufakat.cli import main; assert main.main(['--help']) == 0",
        "from mufakat.cli import main; assert main.main(['ask', '--help']) == 0",
        "import mufakat",
    ],
)
def test_nothing_heavy_is_loaded(program: str) -> None:
    assert loaded(program) & set(HEAVY) == set()


def test_the_sdk_loads_no_third_party_and_no_event_loop() -> None:
    folder = sources.PACKAGE / "sdk"
    names = sorted(file.stem for file in folder.glob("*.py") if file.stem != "__init__")
    program = "\n".join(f"import mufakat.sdk.{name}" for name in names)
    third_party = loaded(program) - set(sys.stdlib_module_names) - {"mufakat", "__main__"}
    started_with = loaded("pass")
    assert third_party - started_with == set()


def test_a_heavy_import_is_noticed() -> None:
    assert "pydantic" in loaded("import pydantic")
