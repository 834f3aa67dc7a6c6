"""Vectors from a model on this disk, by onnxruntime; nothing is downloaded, ever."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mufakat.core.base import Unavailable
from mufakat.ports.embedding import Vector
from mufakat.retrieval.embedding import half, space

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
TOKENS = 256
"""Of a longer text only the beginning is read."""
THREADS = 1
"""Vectors are made beside everything else that this machine does."""
NEEDED = (space.NEEDED, "onnxruntime", "tokenizers")
DIGEST_CHARS = 12


@dataclass(frozen=True, slots=True)
class Files:
    """A sentence model: an ONNX graph, and the tokenizer that its inputs are made by."""

    model: Path
    tokenizer: Path
    name: str
    sha256: str = ""
    """Of the model, hex; empty where any file is taken."""
    tokenizer_sha256: str = ""
    install: str = space.INSTALL
    """What to do where something is missing."""


def of_directory(folder: Path, *, sha256: str = "") -> Files:
    """The files of a folder as sentence models are usually laid out."""
    beside, below = folder / MODEL, folder / "onnx" / MODEL
    model = below if below.is_file() and not beside.is_file() else beside
    return Files(model, folder / TOKENIZER, folder.name, sha256.lower())


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Any
    tokenizer: Any
    inputs: frozenset[str]
    output: str
    digest: str


@dataclass(slots=True)
class _State:
    loaded: _Loaded | None = None
    dims: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class OnnxModel:
    """Loads on its first use; one text after another, in a thread of its own."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._state = _State()

    @property
    def model(self) -> str:
        """Name and digest, so that another file of the same name is another model."""
        loaded = self._state.loaded
        return f"{self._files.name}@{loaded.digest[:DIGEST_CHARS]}" if loaded else self._files.name

    @property
    def dims(self) -> int:
        """Numbers of a vector; 0 until the first text."""
        return self._state.dims

    @property
    def problem(self) -> str:
        """What is missing; the files themselves are read on the first use."""
        missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            return f"{', '.join(missing)} not installed: {self._files.install}"
        lost = [path for path in (self._files.model, self._files.tokenizer) if not path.is_file()]
        return f"there is no file {lost[0]}: {self._files.install}" if lost else ""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Run the model; see the port. What was begun is ended even where nobody waits for it."""
        return await asyncio.to_thread(self._embed, list(texts)) if texts else []

    def _embed(self, texts: list[str]) -> list[Vector]:
        with self._state.lock:
            if self._state.loaded is None:
                self._state.loaded = _load(self._files, self.problem)
            try:
                vectors = [_run(self._state.loaded, text) for text in texts]
            except Exception as problem:
                # onnxruntime and tokenizers raise types of their own for inputs they cannot take.
                raise Unavailable(f"The embedding model failed: {problem}"[:300]) from problem
            self._state.dims = half.dims(vectors[0])
            return vectors


def _load(files: Files, problem: str) -> _Loaded:
    if problem:
        raise Unavailable(f"The embedding model cannot be used: {problem}.")
    digest = _digest(files.model)
    pinned = ((files.model, files.sha256), (files.tokenizer, files.tokenizer_sha256))
    for path, wanted in pinned:
        if wanted and _digest(path) != wanted:
            raise Unavailable(f"{path} is not the file whose SHA-256 was given.")
    runtime = importlib.import_module("onnxruntime")
    tokenizers = importlib.import_module("tokenizers")
    try:
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = THREADS
        session = runtime.InferenceSession(
            str(files.model), options, providers=["CPUExecutionProvider"]
        )
        tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
        tokenizer.enable_truncation(TOKENS)
        tokenizer.no_padding()
    except Exception as failure:
        # Damaged files raise types of the two libraries' own.
        raise Unavailable(f"The embedding model cannot be read: {failure}"[:300]) from failure
    inputs = frozenset(one.name for one in session.get_inputs())
    outputs = [one.name for one in session.get_outputs()]
    output = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]
    return _Loaded(session, tokenizer, inputs, output, digest)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _run(loaded: _Loaded, text: str) -> Vector:
    """One text a pass: a model of eight-bit weights answers a little differently beside others.

    The mean over tokens is taken where the model does not make it itself.
    """
    numpy = importlib.import_module("numpy")
    encoded = loaded.tokenizer.encode(text)
    mask = numpy.array([encoded.attention_mask], dtype=numpy.int64)
    ids = numpy.array([encoded.ids], dtype=numpy.int64)
    every = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": numpy.zeros_like(ids),
    }
    given = {name: value for name, value in every.items() if name in loaded.inputs}
    (states,) = loaded.session.run([loaded.output], given)
    if states.ndim == 3:
        weights = mask[:, :, None].astype(states.dtype)
        states = (states * weights).sum(axis=1) / weights.sum(axis=1)
    return half.pack(states[0].tolist())
