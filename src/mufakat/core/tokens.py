"""How many tokens a text costs, estimated from its characters."""

from __future__ import annotations

ASCII_CHARS_PER_TOKEN = 4
"""English and code average close to four characters a token in current vocabularies."""
OTHER_CHARS_PER_TOKEN = 1.5


def estimate(text: str) -> int:
    """Estimate the tokens of `text`; at least 1 for any text that is not empty."""
    if text.isascii():
        return -(-len(text) // ASCII_CHARS_PER_TOKEN)
    ascii_chars = len(text.encode("ascii", "ignore"))
    other = len(text) - ascii_chars
    return max(1, round(ascii_chars / ASCII_CHARS_PER_TOKEN + other / OTHER_CHARS_PER_TOKEN))
