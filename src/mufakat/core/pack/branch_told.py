"""What a copied session knows of a branch's pack, in the words of the branch."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from mufakat.core.pack import parity
from mufakat.core.pack.fill import Filled
from mufakat.core.pack.item import Told
from mufakat.core.pack.sections import branch


def carried(sections: Sequence[Filled], told: frozenset[str], *, parent: str) -> frozenset[str]:
    """Keys of all that the copy knows, for the branch's own session.

    Numbers of messages are those of the parent there and mean others here, so that each is
    known only as the inherited message that it is.
    """
    kept = {key for key in told if not parity.is_message(key)}
    ranks = parity.message_ranks(told)
    subjects = {parity.subject(key) for key in kept}
    pieces = (
        piece.told
        for section in sections
        if section.kind == branch.KIND
        for piece in section.pieces
    )
    known = (one for one in pieces if _knows(one, parent, told, ranks, subjects))
    return frozenset({*kept, *(parity.key(one) for one in known)})


def _knows(
    one: Told,
    parent: str,
    told: frozenset[str],
    ranks: dict[str, tuple[int, int]],
    subjects: set[str],
) -> bool:
    conversation, _, number = one.id.rpartition("/")
    if conversation == parent:
        return parity.known(dataclasses.replace(one, id=number), told, ids=ranks)
    # Of a conversation farther above: the parent's session was told it as it inherited it.
    return bool(conversation) and one.id in subjects
