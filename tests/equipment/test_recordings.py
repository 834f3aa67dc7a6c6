"""The recordings: complete, small, and without a trace of the machine that made them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from equipment import clis, record

RECORDINGS = sorted(record.FOLDER.glob("*/*.jsonl"))
TRACE = re.compile(r"/(?:root|Users|home/(?!agent\b))|/tmp/(?!file\b)|dummy-key")


def meta(recording: Path) -> Path:
    return recording.with_suffix(".meta.json")


@pytest.mark.parametrize("name", clis.NAMES)
def test_every_scenario_is_recorded(name: str) -> None:
    wanted = {scenario.name for scenario in record.SCENARIOS if name in scenario.only}
    assert {path.stem for path in RECORDINGS if path.parent.name == name} == wanted


@pytest.mark.parametrize(
    "recording", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_recording_is_small_neutral_and_json(recording: Path) -> None:
    text = recording.read_text(encoding="utf-8")
    assert len(text.encode()) < record.LIMIT
    for line in text.splitlines():
        assert isinstance(json.loads(line), dict)
    about = json.loads(meta(recording).read_text(encoding="utf-8"))
    assert (about["cli"], about["scenario"]) == (recording.parent.name, recording.stem)
    assert set(about) >= {"exit_code", "stderr_tail", "version"}
    assert TRACE.findall(text + about["stderr_tail"]) == []
