"""The raw output on disk: private, bounded, and never the reason that a run fails."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.engines.process.spool import Spool


def spooled(path: Path, chunks: list[bytes], cap: int) -> bytes:
    spool = Spool(path, cap=cap)
    for chunk in chunks:
        spool.write(chunk)
    spool.close()
    spool.close()
    assert spool.why == ""
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    return path.read_bytes()


@given(
    chunks=st.lists(st.binary(max_size=40), max_size=12),
    cap=st.integers(2, 60).map(lambda n: n * 2),
)
def test_x4_head_and_tail_are_kept(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], cap: int
) -> None:
    data = b"".join(chunks)
    kept = spooled(tmp_path_factory.mktemp("spool") / "raw", chunks, cap)
    if len(data) <= cap:
        assert kept == data
        return
    half = cap // 2
    note = f"\n[... {len(data) - cap} bytes left out ...]\n".encode()
    assert kept == data[:half] + note + data[-half:]


def test_row_67_private_under_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = tmp_path / "runs" / "raw"
        spooled(path, [b"secret" * 10], 20)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_wide_open_file_is_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    path.write_text("old")
    path.chmod(0o666)
    assert spooled(path, [b"new"], 100) == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_symlink_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    link = tmp_path / "raw"
    link.symlink_to(target)
    with pytest.raises(OSError, match="symbolic"):
        Spool(link, cap=10)
    assert target.read_text() == "precious"


def test_row_disk_full_ends_the_spool_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    spool = Spool(path, cap=100)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, spool._file)
    os.close(full)
    spool.write(b"lost")
    spool.write(b"lost too")
    spool.close()
    assert "No space left" in spool.why
