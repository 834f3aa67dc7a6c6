"""LlamaIndex's `Memory`: a queue in its own SQLite store, and a block for what is static."""

from __future__ import annotations

import asyncio
from importlib import metadata

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory, StaticMemoryBlock
from llama_index.core.storage.chat_store.sql import MessageStatus

from bench.case import PERSON, Case

BATCH = 100
"""Messages put at once; one at a time takes many times as long."""
NEWEST = 1_000
"""Messages that pass through the queue; older ones are put where the queue would have put them,
because the queue looks through the whole table for every batch.
"""
FLUSH = 2_000
"""Characters that leave the queue at once; the default, a tenth, would leave more room unused."""
FRAME = 1_000
"""Room for the names, and for the marks with which the library frames its blocks."""


class Contender:
    """Counts characters where the library counts tokens."""

    version = f"llama-index-core {metadata.version('llama-index-core')}"

    def prepare(self, given: Case) -> None:
        """Put the whole conversation into the memory."""
        told = "\n".join(text for _, items in given.sections for text in items)
        limit = given.budget - len(given.prompt) - FRAME
        self._prompt = given.prompt
        self._loop = asyncio.new_event_loop()
        self._memory = Memory.from_defaults(
            session_id="made",
            token_limit=limit,
            chat_history_token_ratio=(limit - len(told)) / limit,
            token_flush_size=FLUSH,
            tokenizer_fn=lambda text: text,
            memory_blocks=[StaticMemoryBlock(name="told", static_content=told, priority=0)],
        )
        self._loop.run_until_complete(self._put(given))

    async def _put(self, given: Case) -> None:
        messages = [
            ChatMessage(
                role="user" if said.speaker == PERSON else "assistant",
                content=f"{said.speaker}: {said.text}",
            )
            for said in given.messages
        ]
        old, new = messages[:-NEWEST], messages[-NEWEST:]
        store, key = self._memory.sql_store, self._memory.session_id
        for at in range(0, len(old), BATCH):
            batch = old[at : at + BATCH]
            await store.add_messages(key, batch, status=MessageStatus.ARCHIVED)
        for at in range(0, len(new), BATCH):
            await self._memory.aput_messages(new[at : at + BATCH])

    def run(self) -> str:
        """Get what the memory would tell a model."""
        kept = self._loop.run_until_complete(self._memory.aget())
        return "\n\n".join([*(one.content or "" for one in kept), self._prompt])
