"""What a session was told: enough to leave out what it knows, and no more than it knows."""

from __future__ import annotations

import random
from dataclasses import replace

from core.pack import conversations as made
from mufakat.core.pack import assemble, deliver, parity
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.facts import Facts, Unavailable
from mufakat.core.pack.item import Resolution, Told, Trust


def pack(facts: Facts) -> Pack:
    made_of = assemble.assemble(facts)
    assert isinstance(made_of, Pack)
    return made_of


def go_on(facts: Facts, told: frozenset[str]) -> deliver.Delivery:
    return deliver.resumed(pack(facts), told, system="", splits_system=False, expands_at=False)


def test_a_fact_that_goes_back_to_what_it_was_is_told_again() -> None:
    usual = made.facts(made.talk(4, random.Random(1)))
    slow = replace(usual, unavailable=(Unavailable("git", "timed out after 400 ms"),))
    first = deliver.fresh(pack(usual), splits_system=False, expands_at=False)
    second = go_on(slow, first.told)
    assert "timed out" in second.user
    third = go_on(usual, second.told)
    assert "project: demo" in third.user
    assert "project: demo" not in go_on(usual, third.told).user


def trimmed(chars: int) -> Told:
    return Told("m:5", Resolution.TRIMMED, chars, f"{chars:064x}", "message m_5", Trust.PEER)


def test_a_message_of_which_more_is_told_now_is_news() -> None:
    session = frozenset({parity.key(trimmed(500))})
    ranks = parity.message_ranks(session)
    assert not parity.known(trimmed(4_000), session, ids=ranks)
    assert parity.known(trimmed(400), session, ids=ranks)


def test_a_message_that_the_session_wrote_is_known_in_every_form() -> None:
    session = frozenset({parity.said_itself(5)})
    ranks = parity.message_ranks(session)
    assert parity.known(trimmed(4_000), session, ids=ranks)
    assert parity.known(replace(trimmed(9_000), resolution=Resolution.FULL), session, ids=ranks)
