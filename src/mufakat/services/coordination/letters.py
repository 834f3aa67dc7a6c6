"""Letters: deliveries with what was sent and its words, free of secrets."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
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
    envelopes = tx.inbox.envelopes([row.message for row in rows])
    kept = [row for row in rows if row.message in envelopes]
    wanted = [row.message for row in kept if texts is None or row.number in texts]
    said = read(tx, wanted, scrub)
    return [Letter(envelopes[row.message], row, *said.get(row.message, ("", 0))) for row in kept]


def with_texts(
    tx: Transaction, bare: Sequence[Letter], numbers: Container[int], *, scrub: Scrub
) -> list[Letter]:
    """The same letters, those of these numbers with their words."""
    wanted = [one.envelope.message for one in bare if one.delivery.number in numbers]
    said = read(tx, wanted, scrub)
    found = []
    for one in bare:
        words, chars = said.get(one.envelope.message, (one.text, one.chars))
        found.append(replace(one, text=words, chars=chars))
    return found


def read(
    tx: Transaction, messages: Sequence[MessageId], scrub: Scrub
) -> Mapping[MessageId, tuple[str, int]]:
    """The words of some messages without secrets, and how long they are."""
    found = {}
    for id, said in tx.messages.some(messages).items():
        words = scrub(said.text).text if said.secrets else said.text
        found[id] = (words, len(words))
    return found
