"""Which turns answer: sums of scores whose order no order of input changes."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.base import ConversationId, MessageId, Millis
from mufakat.core.knowledge import indexing, posting, query, turn_ranking
from mufakat.core.knowledge.indexing import IndexedTurn
from mufakat.core.talk.message import Kind, Message

DAY = 86_400_000
SAID = ("ada", "bob")


def index(
    *sessions: Sequence[str],
) -> tuple[dict[str, list[int]], dict[int, IndexedTurn], dict[int, str]]:
    """Sessions of texts, said in turns by two speakers, one session a day."""
    entries: dict[str, list[int]] = defaultdict(list)
    known, texts = {}, {}
    for ordinal, session in enumerate(sessions, 1):
        for position, text in enumerate(session):
            said = Message(
                *(MessageId(f"m_{ordinal}_{position}"), ConversationId("c"), position + 1),
                *(Millis(ordinal * DAY), Kind.PERSON, SAID[position % 2], text, len(text), 1),
            )
            turn = indexing.turn(said, "")
            at = posting.turn_of(ordinal, turn.lane, position=position)
            known[at] = IndexedTurn(said.id, said.number, said.at, said.speaker, turn.marks)
            texts[at] = text
            for term, count in turn.terms.items():
                entries[term].append(posting.entry(at, count))
    return entries, known, texts


def best(
    text: str, entries: Mapping[str, Sequence[int]], known: Mapping[int, IndexedTurn]
) -> list[int]:
    question = query.parse(text, SAID)
    found = turn_ranking.match(question, entries, turns=len(known), mean=8.0)
    return [one.turn for one in turn_ranking.rank(question, found, known)]


def test_the_turn_with_the_words_comes_first() -> None:
    entries, known, texts = index(
        ["The port is 8123 now.", "The weather is fine.", "Tea is ready."],
        ["Nothing here.", "Nothing there."],
    )
    assert texts[best("Which port is it?", entries, known)[0]].startswith("The port")


def test_the_answer_after_the_question_is_found_by_the_question() -> None:
    entries, known, texts = index(
        ["Tea?", "Which database do we take?", "Postgres, it is settled.", "Fine."],
        ["What else?", "The garden is green.", "The street is long and it is wide."],
    )
    found = [texts[turn] for turn in best("database", entries, known)[:2]]
    assert "Postgres, it is settled." in found


def test_who_is_named_counts() -> None:
    entries, known, _ = index(["The lease ends soon.", "The lease ends soon."])
    assert known[best("What did bob say about the lease?", entries, known)[0]].speaker == "bob"
    assert known[best("What did ada say about the lease?", entries, known)[0]].speaker == "ada"


def test_when_it_was_said_counts() -> None:
    session = ["The lease ends soon.", "Good."]
    entries, known, _ = index(session, session, session)
    found = best("What of the lease on 3 January 1970?", entries, known)[0]
    assert known[found].at == 2 * DAY


def test_names_of_code_are_found_by_a_piece_of_them() -> None:
    entries, known, texts = index(["See parserConfig for it.", "The weather is fine."])
    assert texts[best("serConf", entries, known)[0]].startswith("See parserConfig")


def test_only_among_the_conversations_that_are_asked_for() -> None:
    entries, _, _ = index(["The port is 1."], ["The port is 2."])
    found = turn_ranking.match(query.parse("port"), entries, turns=2, among=frozenset({2}))
    assert set(found.sessions) == {2}
    assert all(posting.ordinal_of(turn) == 2 for turn in found.alone)


TEXTS = st.lists(
    st.sampled_from(("port", "lease", "tea", "port lease", "tea port tea")), max_size=6
)


@given(st.lists(TEXTS, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_what_is_stored_changes_nothing(
    sessions: list[list[str]], shuffle: random.Random
) -> None:
    entries, known, _ = index(*sessions)
    mixed = {term: shuffle.sample(some, len(some)) for term, some in entries.items()}
    turns = shuffle.sample(list(known), len(known))
    again = {turn: known[turn] for turn in turns}
    assert best("port and lease", entries, known) == best("port and lease", mixed, again)


@given(st.lists(TEXTS, max_size=4))
def test_candidates_are_bounded_and_hold_every_match_of_a_small_store(
    sessions: list[list[str]],
) -> None:
    entries, known, _ = index(*sessions)
    found = turn_ranking.match(query.parse("port"), entries, turns=len(known))
    chosen = turn_ranking.candidates(found, dict.fromkeys(turn_ranking.sessions(found), 6))
    assert set(found.alone) <= set(chosen)
    assert len(chosen) <= 4 * turn_ranking.BEST + 6 * turn_ranking.BEST_SESSIONS


def test_a_common_word_only_tells_apart_what_a_rare_one_found() -> None:
    many = [posting.turn_of(one, 0, position=0) for one in range(turn_ranking.DEEP + 10)]
    entries = {
        "common": [posting.entry(turn, 1) for turn in many],
        "rare": [posting.entry(many[7], 1), posting.entry(many[8], 1)],
    }
    del entries["common"][8]
    found = turn_ranking.match(query.parse("rare common"), entries, turns=len(many))
    assert len(found.window) <= 6
    assert found.window[many[7]] > found.window[many[8]]
