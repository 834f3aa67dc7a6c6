"""Nothing outside a root is read, whatever a path says and the tree does meanwhile."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mufakat.core.base import InvalidInput
from mufakat.retrieval.code import reading
from mufakat.retrieval.code.reading import Refused

SECRET = "outside-secret"
RACES = 1_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("inside = 1\n")
    beside = tmp_path / "root-beside"
    beside.mkdir()
    (beside / "secret.txt").write_text(SECRET)
    (tmp_path / "secret.txt").write_text(SECRET)
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "out").symlink_to(beside)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "round").symlink_to(folder)
    return folder


def read(root: Path, path: str) -> str:
    with reading.opened(root) as folder:
        return reading.read(folder, path).text


def test_a_file_inside_is_read_with_its_mark(root: Path) -> None:
    with reading.opened(root) as folder:
        found = reading.read(folder, "src/app.py")
    stat = (root / "src" / "app.py").stat()
    assert found.text == "inside = 1\n"
    assert found.mark == reading.Mark(stat.st_size, stat.st_mtime_ns, stat.st_ino)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt", "src/../../secret.txt", "..", ".", "", "/etc/passwd", "//etc/passwd",
        "link.txt", "out/secret.txt", "loop", "loop/a", "round/src/app.py", "a\0b", "src//app.py",
        "%2e%2e/secret.txt", "..%2fsecret.txt", "../root-beside/secret.txt", "src/./app.py",
        ".git/config", "src/.GIT/config", "x/" * 100 + "y", "a" * 5000, "src", "src/", "\udcff",
    ],
)  # fmt: skip
def test_row_41_no_byte_of_the_outside_is_read(root: Path, path: str) -> None:
    with pytest.raises(Refused):
        read(root, path)


def test_row_41_twin_a_reader_that_follows_links_reads_the_outside(root: Path) -> None:
    assert (root / "link.txt").read_text() == SECRET


def test_a_root_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("file", "none", "a\0b"):
        with pytest.raises(InvalidInput), reading.opened(tmp_path / name):
            pass


def swapping(root: Path, stop: threading.Event, count: list[int]) -> None:
    """Exchange a file for a link to the outside and back, as fast as it goes."""
    here, file, link = root / "swap.txt", root / "kept.txt", root / "kept-link.txt"
    file.write_text("inside")
    link.symlink_to(root.parent / "secret.txt")
    while not stop.is_set():
        os.link(file, root / "next")
        (root / "next").replace(here)
        (root / "next").symlink_to(root.parent / "secret.txt")
        (root / "next").replace(here)
        count[0] += 1


def test_row_42_a_thousand_swaps_between_check_and_open_never_escape(root: Path) -> None:
    stop, count, seen = threading.Event(), [0], set()
    thread = threading.Thread(target=swapping, args=(root, stop, count))
    thread.start()
    limit = time.monotonic() + 60
    try:
        with reading.opened(root) as folder:
            while (count[0] < RACES or "inside" not in seen) and time.monotonic() < limit:
                try:
                    seen.add(reading.read(folder, "swap.txt").text)
                except Refused as refused:
                    seen.add(str(refused))
    finally:
        stop.set()
        thread.join()
    assert count[0] >= RACES
    assert "inside" in seen
    assert SECRET not in seen


def swap_after_check(root: Path, patch: pytest.MonkeyPatch) -> None:
    """Put a link in the file's place at the worst moment: right after the check."""
    real: Callable[..., None] = reading._regular
    done: list[int] = []

    def regular(found: os.stat_result, largest: int) -> None:
        real(found, largest)
        if not done:
            done.append(1)
            (root / "src" / "app.py").unlink()
            (root / "src" / "app.py").symlink_to(root.parent / "secret.txt")

    patch.setattr(reading, "_regular", regular)


def test_row_42_a_link_put_there_right_after_the_check(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap_after_check(root, monkeypatch)
    with pytest.raises(Refused, match="a link"):
        read(root, "src/app.py")


def test_row_42_twin_without_nofollow_the_link_is_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap_after_check(root, monkeypatch)
    monkeypatch.setattr(reading, "_FILE", reading._FILE & ~os.O_NOFOLLOW)
    assert read(root, "src/app.py") == SECRET


def test_row_42_a_folder_swapped_for_a_link(root: Path, tmp_path: Path) -> None:
    with reading.opened(root) as folder:
        (root / "src").rename(root / "old")
        (root / "src").symlink_to(tmp_path / "root-beside")
        with pytest.raises(Refused, match="link"):
            reading.read(folder, "src/secret.txt")


def test_row_42_twin_a_folder_opened_through_links(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_FOLDER", reading._FOLDER & ~os.O_NOFOLLOW)
    assert read(root, "out/secret.txt") == SECRET


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(5 * 1024**3)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "a link"),
        (sparse, "larger than"),
        (lambda path: path.write_bytes(b"\0\1\2"), "binary"),
        (lambda path: path.mkdir(), "no regular file"),
        (lambda path: None, "gone"),
    ],
)
def test_row_45_what_is_no_text_is_refused_at_once(
    root: Path, make: Callable[[Path], None], why: str
) -> None:
    make(root / "odd")
    began = time.monotonic()
    with pytest.raises(Refused, match=why):
        read(root, "odd")
    assert time.monotonic() - began < 3


def test_row_45_a_fifo_put_there_right_after_the_check_does_not_hold_the_reader(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def swapped(path: object, *words: object, **more: object) -> int:
        if path == "app.py":
            (root / "src" / "app.py").unlink()
            os.mkfifo(root / "src" / "app.py")
        return real(path, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", swapped)
    began = time.monotonic()
    with pytest.raises(Refused, match="no regular file"):
        read(root, "src/app.py")
    assert time.monotonic() - began < 3


def test_row_45_a_file_deleted_while_it_is_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = reading._whole

    def deleting(file: int, largest: int) -> bytes:
        (root / "src" / "app.py").unlink()
        return real(file, largest)

    monkeypatch.setattr(reading, "_whole", deleting)
    assert read(root, "src/app.py") == "inside = 1\n"
    with pytest.raises(Refused, match="gone"):
        read(root, "src/app.py")


def test_a_file_that_grows_while_it_is_read_ends_at_the_limit(root: Path) -> None:
    path = root / "src" / "app.py"
    with reading.opened(root) as folder:
        path.write_text("x" * 100)
        with pytest.raises(Refused, match="larger"):
            reading.read(folder, "src/app.py", largest=99)
    file = os.open("/dev/zero", os.O_RDONLY)
    try:
        with pytest.raises(Refused, match="larger"):
            reading._whole(file, 1000)
    finally:
        os.close(file)
