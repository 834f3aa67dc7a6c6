"""Packs that were sent: their receipts, their texts, and what differs between two."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import NotFound, PackId
from mufakat.core.pack.receipt import StoredPack
from mufakat.ports.store import Store, Transaction
from mufakat.services import resolving, talk

NEWEST = ("", "last")
"""Names of the newest pack."""


@dataclass(frozen=True, slots=True)
class PackDiff:
    """What differs between two packs; items are named `section/item`."""

    same: tuple[str, ...]
    changed: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    parity_equal: bool
    text: str
    """Unified diff of the section texts."""


class Packs:
    """Reads stored packs."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, id: str) -> StoredPack:
        """One pack by id, unique prefix, or `last`."""
        return await self._store.read(lambda tx: resolve(tx, id))

    async def list(
        self, *, conversation: str = "", before: str = "", limit: int = 50
    ) -> Sequence[StoredPack]:
        """Newest first."""

        def query(tx: Transaction) -> Sequence[StoredPack]:
            of = talk.resolve(tx, conversation).id if conversation else None
            return tx.packs.list(conversation=of, before=before, limit=limit)

        return await self._store.read(query)

    async def texts(self, pack: StoredPack) -> tuple[tuple[str, str], ...]:
        """Kind and text of every section that said something."""
        return await self._store.read(lambda tx: texts(tx, pack))

    async def sent(self, pack: StoredPack) -> tuple[str, str]:
        """Text of the system slot and the user text, exactly as the engine got them."""
        return await self._store.read(
            lambda tx: (tx.packs.text(pack.system) or "", tx.packs.text(pack.sent) or "")
        )

    async def diff(self, a: str, b: str) -> PackDiff:
        """Compare two packs by their items and by their text."""

        def query(tx: Transaction) -> PackDiff:
            one, other = resolve(tx, a), resolve(tx, b)
            return compare(one, other, texts(tx, one), texts(tx, other))

        return await self._store.read(query)


def texts(tx: Transaction, pack: StoredPack) -> tuple[tuple[str, str], ...]:
    """Kind and text of every section of a pack that said something."""
    rows = [(section.kind, section.digest) for section in pack.receipt.sections if section.digest]
    return tuple((kind, tx.packs.text(digest) or "") for kind, digest in rows)


def compare(
    one: StoredPack,
    other: StoredPack,
    one_texts: Sequence[tuple[str, str]],
    other_texts: Sequence[tuple[str, str]],
) -> PackDiff:
    """Tell which items two packs share, and show the difference of their texts."""
    a, b = _items(one), _items(other)
    both = a.keys() & b.keys()
    lines = difflib.unified_diff(
        _lines(one_texts), _lines(other_texts), one.id, other.id, lineterm="", n=1
    )
    return PackDiff(
        same=tuple(sorted(name for name in both if a[name] == b[name])),
        changed=tuple(sorted(name for name in both if a[name] != b[name])),
        only_a=tuple(sorted(a.keys() - both)),
        only_b=tuple(sorted(b.keys() - both)),
        parity_equal=one.receipt.parity == other.receipt.parity,
        text="\n".join(lines),
    )


def _items(pack: StoredPack) -> dict[str, str]:
    return {
        f"{section.kind}/{told.id}": told.digest
        for section in pack.receipt.sections
        for told in section.items
    }


def _lines(texts: Sequence[tuple[str, str]]) -> list[str]:
    return [line for _, text in texts for line in text.split("\n")]


def resolve(tx: Transaction, id: str) -> StoredPack:
    """A pack by id, unique prefix or `last`; raises NotFound or InvalidInput."""
    if id in NEWEST:
        newest = tx.packs.list(limit=1)
        if newest:
            return newest[0]
        raise NotFound("There is no pack yet.", fix='Ask something first: mufakat ask "…"')
    exact = tx.packs.get(PackId(id))
    if exact is not None:
        return exact
    found = tx.packs.find(id)
    return resolving.only(id, found, noun="pack", fix="The newest one is: mufakat pack show last")
