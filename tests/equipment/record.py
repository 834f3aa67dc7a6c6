"""Records what the real CLIs print, for the tests of the stream parsers.

`python -m equipment.record [CLI ...] [--only SCENARIO]` rewrites `recorded/CLI/SCENARIO.jsonl`
(stdout as it came, with paths of the machine made neutral) and `SCENARIO.meta.json` beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipment import clis, plain, process
from equipment.model_server import server

FOLDER = Path(__file__).parent / "recorded"
HALF = "half of an answer here"
LIMIT = 60_000
TEMPORARY = re.escape(str(Path(tempfile.gettempdir()).resolve()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One recording: the script of the model and what is special about the turn."""

    name: str
    script: dict[str, Any]
    resumed: bool = False
    only: tuple[str, ...] = clis.NAMES
    extra: tuple[str, ...] = ()


def _always(**turn: Any) -> dict[str, Any]:
    return {"default": turn}


def _shell(command: str) -> dict[str, Any]:
    call = {"name": "$shell", "args": {"command": command}}
    return {"turns": [{"text": "I look.", "tools": [call]}, {"text": "The tool has run."}]}


def _write(path: str, content: str) -> dict[str, Any]:
    call = {"name": "$write", "args": {"file_path": path, "content": content}}
    return {"turns": [{"text": "I write.", "tools": [call]}, {"text": "It is written."}]}


ANSWER = _always(text="Hello from the scripted model.", thinking="The user says hello.")
SCENARIOS = (
    Scenario(name="answer", script=ANSWER),
    Scenario(name="tool", script=_shell("cat README.md")),
    Scenario(name="tool_fails", script=_shell("echo broken >&2; exit 7")),
    Scenario(name="write", script=_write("new.txt", "one\ntwo\n")),
    Scenario(name="resume", script=ANSWER, resumed=True),
    Scenario(name="resume_unknown", script=ANSWER, resumed=True),
    Scenario(name="http_400", script=_always(status=400, message="prompt is too long")),
    Scenario(name="http_401", script=_always(status=401)),
    Scenario(name="http_429", script=_always(status=429, retry_after=1)),
    Scenario(name="http_429_once", script={"turns": [{"status": 429, "retry_after": 1}], **ANSWER}),
    Scenario(name="http_500", script=_always(status=500)),
    Scenario(name="empty", script=_always(fault="empty")),
    Scenario(name="malformed", script=_always(text=HALF, chunk=4, fault="malformed")),
    Scenario(name="truncate", script=_always(text=HALF, chunk=4, fault="truncate")),
    Scenario(
        name="partial",
        script=ANSWER,
        only=("claude",),
        extra=("--include-partial-messages",),
    ),
)


def main() -> None:
    """Record what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cli", nargs="*", default=list(clis.NAMES))
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    for name in options.cli:
        for scenario in SCENARIOS:
            if name in scenario.only and scenario.name in (options.only or [scenario.name]):
                print(name, scenario.name, record(name, scenario), flush=True)


def record(name: str, scenario: Scenario) -> dict[str, Any]:
    """Run one scenario and write its two files; returns the meta document."""
    with _place() as place, server.ModelServer(scenario.script) as model:
        project = _project(place)
        setup = clis.setup(name, model.base, place / "home")
        turn = _turn(setup, scenario, project)
        finished = plain.run(setup, turn, project, timeout=150.0)
        neutral = _Neutral(place, model.port)
        meta = {
            "cli": name,
            "version": _version(setup, project),
            "scenario": scenario.name,
            "exit_code": finished.exit_code,
            "model_requests": len(model.requests),
            "stderr_tail": neutral.text(finished.stderr)[-2000:],
        }
    target = FOLDER / name
    target.mkdir(parents=True, exist_ok=True)
    stdout = neutral.text(finished.stdout)
    if len(stdout.encode()) > LIMIT:
        raise ValueError(f"{name} {scenario.name}: {len(stdout)} characters are too many to keep")
    (target / f"{scenario.name}.jsonl").write_text(stdout, encoding="utf-8")
    document = json.dumps(meta, indent=1, ensure_ascii=False) + "\n"
    (target / f"{scenario.name}.meta.json").write_text(document, encoding="utf-8")
    return {key: meta[key] for key in ("exit_code", "model_requests")} | {"chars": len(stdout)}


def _turn(setup: clis.CliSetup, scenario: Scenario, project: Path) -> plain.Turn:
    prompt = "Say hello."
    if not scenario.resumed:
        return plain.Turn(prompt=prompt, session=str(uuid.uuid4()), extra=scenario.extra)
    if scenario.name == "resume_unknown":
        unknown = "ses_" + "0" * 26 if setup.name == "opencode" else str(uuid.uuid4())
        return plain.Turn(prompt=prompt, resume=unknown)
    first = plain.Turn(prompt=prompt, session=str(uuid.uuid4()))
    output = plain.run(setup, first, project).stdout
    keys = r'"(?:session_id|thread_id|sessionID)":"([^"]+)"'
    found = re.search(keys, output)
    if found is None:
        raise ValueError(f"{setup.name} named no session: {output[:200]}")
    return plain.Turn(prompt="Say it again.", resume=found[1])


@contextlib.contextmanager
def _place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="record-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def _project(place: Path) -> Path:
    project = place / "project"
    project.mkdir()
    (project / "README.md").write_text("# demo\nThe secret word is PELICAN.\n", encoding="utf-8")
    git = ["git", "init", "-q", "--initial-branch=main", "."]
    subprocess.run(git, cwd=project, check=True, env={**process.base_env(), "HOME": str(place)})
    return project


def _version(setup: clis.CliSetup, project: Path) -> str:
    shown = process.run([setup.command, "--version"], env=setup.env, cwd=project).stdout
    found = re.search(r"\d+\.\d+\.\d+", shown)
    return found[0] if found else "?"


class _Neutral:
    """Takes this machine out of a text: the temporary folder, the CLI folder, the port."""

    def __init__(self, place: Path, port: int) -> None:
        installed = clis.folder().resolve()
        self._replaced = (
            (str(place / "project"), "/project"),
            (str(place / "home"), "/home/agent"),
            (str(place), "/place"),
            (str(place).replace("/", "-"), "-place"),
            (str(installed.parent.parent), "/clis"),
            (f":{port}", ":40000"),
        )

    def text(self, text: str) -> str:
        for real, neutral in self._replaced:
            text = text.replace(real, neutral)
        return re.sub(TEMPORARY + r"/[^\s\"]*", "/tmp/file", text)


if __name__ == "__main__":
    main()
