"""What could not be sent is kept, and sent once, in order, whatever crashes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mufakat.sdk import outbox
from mufakat.sdk.outbox import Outbox, OutboxFull


def sent_by(box: Outbox, *, fail_at: str = "") -> list[str]:
    sent: list[str] = []

    def send(key: str, body: dict[str, object]) -> bool:
        if key == fail_at:
            return False
        sent.append(key)
        return True

    box.replay(send)
    return sent


def test_what_is_kept_is_sent_in_order_and_once(tmp_path: Path) -> None:
    box = Outbox(tmp_path / "deep" / "outbox")
    for n in range(3):
        box.keep(str(n), {"body": f"line\n{n}"})
    assert len(box) == 3
    assert sent_by(box) == ["0", "1", "2"]
    assert sent_by(box) == [] and len(box) == 0


def test_what_was_not_sent_stays(tmp_path: Path) -> None:
    box = Outbox(tmp_path / "outbox")
    for n in range(4):
        box.keep(str(n), {})
    assert sent_by(box, fail_at="2") == ["0", "1"]
    assert sent_by(box) == ["2", "3"]


def test_an_error_while_sending_loses_nothing(tmp_path: Path) -> None:
    box = Outbox(tmp_path / "outbox")
    box.keep("a", {})

    def broken(key: str, body: dict[str, object]) -> bool:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        box.replay(broken)
    assert sent_by(box) == ["a"]


def test_a_line_cut_off_by_a_crash_costs_no_other(tmp_path: Path) -> None:
    box = Outbox(tmp_path / "outbox")
    box.keep("a", {})
    with box.path.open("ab") as file:
        file.write(b'{"key": "half", "bo')
    box.keep("b", {})
    assert sent_by(box) == ["a", "b"]


def test_two_processes_do_not_lose_each_others_messages(tmp_path: Path) -> None:
    """A new file takes the old one's place while others wait for its lock."""
    path = tmp_path / "outbox"
    sent: list[str] = []
    lock = threading.Lock()

    def take(key: str, body: dict[str, object]) -> bool:
        with lock:
            sent.append(key)
        return True

    def write(name: str) -> None:
        for n in range(40):
            Outbox(path).keep(f"{name}{n}", {})
            Outbox(path).replay(take)

    writers = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    Outbox(path).replay(take)
    assert sorted(sent) == sorted(f"{name}{n}" for name in "abc" for n in range(40))


def test_it_is_private_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "LONGEST", 60)
    box = Outbox(tmp_path / "outbox")
    box.keep("a", {})
    assert box.path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(OutboxFull, match="start the server"):
        box.keep("b", {"body": "x" * 60})
    assert sent_by(box) == ["a"]
