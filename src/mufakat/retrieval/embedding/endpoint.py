"""Vectors from any server that speaks OpenAI's embeddings: Ollama, vLLM, LM Studio and others."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from typing import Any

import httpx

from mufakat.core.base import InvalidInput, Unavailable
from mufakat.ports.embedding import Vector
from mufakat.retrieval.embedding import half, space

SECONDS = 20.0
ANSWER_BYTES = 64 * 1024 * 1024
OF_THE_TEXTS = frozenset({400, 413, 422})
"""Refusals of these texts; others may be taken."""


class Endpoint:
    """Asks one server; the key is sent in a header, and stands nowhere else."""

    def __init__(
        self, base_url: str, model: str, *, key: str = "", seconds: float = SECONDS
    ) -> None:
        """`base_url` ends where OpenAI's own ends in `/v1`."""
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._name = model
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._seconds = seconds
        self._dims = 0

    @property
    def model(self) -> str:
        """The name that the server knows."""
        return self._name

    @property
    def dims(self) -> int:
        """Numbers of a vector; 0 until the server has answered once."""
        return self._dims

    @property
    def problem(self) -> str:
        """Nothing is known of a server before it is asked; its vectors are compared by numpy."""
        return (
            ""
            if importlib.util.find_spec(space.NEEDED)
            else f"numpy not installed: {space.INSTALL}"
        )

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Ask once for all; see the port."""
        if not texts:
            return []
        try:
            status, body = await self._post({"model": self._name, "input": list(texts)})
        except httpx.HTTPError as problem:
            raise Unavailable(
                f"The embedding endpoint did not answer: {type(problem).__name__}."
            ) from problem
        if status in OF_THE_TEXTS:
            raise InvalidInput(f"The embedding endpoint refused: HTTP {status}.")
        if status != 200:
            raise Unavailable(f"The embedding endpoint answered HTTP {status}.")
        return self._vectors(body, len(texts))

    async def _post(self, payload: dict[str, Any]) -> tuple[int, bytes]:
        """Post, and read no more of the answer than an honest one has."""
        body = bytearray()
        async with (
            httpx.AsyncClient(timeout=self._seconds, follow_redirects=False) as client,
            client.stream("POST", self._url, json=payload, headers=self._headers) as answer,
        ):
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > ANSWER_BYTES:
                    raise Unavailable("The embedding endpoint sent an endless answer.")
        return answer.status_code, bytes(body)

    def _vectors(self, body: bytes, count: int) -> list[Vector]:
        """The vectors of an answer, which may come in any order."""
        try:
            rows = sorted(json.loads(body)["data"], key=lambda row: int(row["index"]))
            vectors = [half.pack([float(one) for one in row["embedding"]]) for row in rows]
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as problem:
            raise Unavailable("The embedding endpoint sent no vectors.") from problem
        if [row["index"] for row in rows] != list(range(count)):
            raise Unavailable("The embedding endpoint sent vectors for other texts.")
        dims = {half.dims(one) for one in vectors} | ({self._dims} if self._dims else set())
        if len(dims) != 1:
            raise Unavailable("The embedding endpoint changed the dimensions of its vectors.")
        self._dims = dims.pop()
        return vectors
