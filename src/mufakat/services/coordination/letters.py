"""Letters: deliveries with what was sent and its words, free of secrets."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from mufakat.core.base import MessageId
from mufakat.core.coordination.inbox import Delivery, Letter
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction


def load(
    tx: Transaction,
    rows: Sequence[Delivery],
    *,
    scrub: Scrub,
    texts: Container[int] | None = None,
) -> list[Letter]:
    """The letters of some deliveries; `texts` are the numbers whose words are read, all if None."""
    found = []
    for row in rows:
        envelope = tx.inbox.envelope(row.message)
        if envelope is None:
            continue
        words, chars = "", 0
        if texts is None or row.number in texts:
            words, chars = read(tx, row.message, scrub)
        found.append(Letter(envelope, row, words, chars))
    return found


def with_texts(
    tx: Transaction, bare: Sequence[Letter], numbers: Container[int], *, scrub: Scrub
) -> list[Letter]:
    """The same letters, those of these numbers with their words."""
    found = []
    for one in bare:
        if one.delivery.number in numbers:
            words, chars = read(tx, one.envelope.message, scrub)
            found.append(replace(one, text=words, chars=chars))
        else:
            found.append(one)
    return found


def read(tx: Transaction, message: MessageId, scrub: Scrub) -> tuple[str, int]:
    """A message's words without secrets, and how long they are."""
    said = tx.messages.get(message)
    if said is None:
        return "", 0
    words = scrub(said.text).text if said.secrets else said.text
    return words, len(words)
