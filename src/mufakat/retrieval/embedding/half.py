"""Vectors as bytes: numbers of two bytes, the vector of length one, the same on every machine."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from mufakat.ports.embedding import Vector

WIDTH = 2
"""Bytes of a number."""
MOST = 8_192
"""Numbers of a vector that are taken."""


def pack(numbers: Sequence[float]) -> Vector:
    """Bring a vector to length one; raises ValueError for what is none."""
    if not 0 < len(numbers) <= MOST:
        raise ValueError(f"a vector of {len(numbers)} numbers")
    length = math.sqrt(math.fsum(one * one for one in numbers))
    if not math.isfinite(length):
        raise ValueError("a vector with numbers that are none")
    scale = 1 / length if length else 0.0
    return Vector(struct.pack(f"<{len(numbers)}e", *(one * scale for one in numbers)))


def dims(vector: Vector) -> int:
    """Numbers of a vector."""
    return len(vector) // WIDTH
