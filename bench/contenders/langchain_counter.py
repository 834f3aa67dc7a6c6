"""LangChain's `trim_messages` with the counter that LangChain brings, at one character a token."""

from __future__ import annotations

from functools import partial

from langchain_core.messages.utils import count_tokens_approximately

from bench.contenders import langchain


class Contender(langchain.Contender):
    """What its documentation recommends where exact tokens do not matter."""

    def __init__(self) -> None:
        super().__init__(
            partial(
                count_tokens_approximately,
                chars_per_token=1.0,
                extra_tokens_per_message=float(langchain.FRAME),
            )
        )
