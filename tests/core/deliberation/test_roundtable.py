"""A table's moves, who speaks and hears whom, caps, vendors, names."""

from __future__ import annotations

import dataclasses

import pytest

from mufakat.core.base import (
    AgentId,
    Conflict,
    ConversationId,
    InvalidInput,
    MessageId,
    Millis,
    NotFound,
    ProjectId,
    RoundtableId,
)
from mufakat.core.deliberation import anonymity, caps, preflight, round, roundtable, seat, vendors
from mufakat.core.deliberation.caps import Caps, Spent
from mufakat.core.deliberation.preflight import First
from mufakat.core.deliberation.round import Close, Speak, Standing, Word
from mufakat.core.deliberation.roundtable import Order, Remark, Roundtable, Status
from mufakat.core.deliberation.seat import Seat, Wanted

ID = RoundtableId("r_1")
NOW = Millis(1_000)


def sit(label: str, *, engine: str = "", model: str = "", vendor: str = "") -> Seat:
    name = engine or f"engine-{label.lower()}"
    return Seat(
        label, name, model, "", vendor or name, AgentId(f"a_{label}"), f"{name}@h:00000{label}"
    )


def table(**more: object) -> Roundtable:
    start = Roundtable(
        id=ID,
        project=ProjectId("p_1"),
        conversation=ConversationId("c_1"),
        question=MessageId("m_1"),
        number=1,
        seats=tuple(sit(label) for label in "ABC"),
        rounds=3,
        created=Millis(0),
        updated=Millis(0),
    )
    return dataclasses.replace(start, **more)  # type: ignore[arg-type]


def word(number: int, label: str, standing: Standing = Standing.STATED) -> Word:
    return Word(ID, number, label, standing, answer=MessageId(f"m_{number}{label}"))


def test_every_status_has_its_moves_and_none_is_a_trap() -> None:
    assert set(roundtable.MOVES) == set(Status)
    assert all(roundtable.MOVES[status] for status in Status)


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize(
    ("act", "to"),
    [
        (lambda t: roundtable.start(t, NOW), Status.RUNNING),
        (lambda t: roundtable.pause(t, NOW, why="x"), Status.PAUSED),
        (lambda t: roundtable.stop(t, NOW, why="x"), Status.STOPPED),
        (lambda t: roundtable.finish(t, NOW, why="x"), Status.DONE),
        (lambda t: roundtable.cap(t, NOW, why="x"), Status.CAPPED),
        (lambda t: roundtable.fail(t, NOW, why="x"), Status.FAILED),
    ],
)
def test_a_table_moves_as_the_map_says_or_not_at_all(status: Status, act, to: Status) -> None:
    now = table(status=status)
    if to in roundtable.MOVES[status]:
        assert act(now).status is to
    else:
        with pytest.raises(Conflict):
            act(now)


def test_time_stands_still_while_it_is_paused() -> None:
    ran = roundtable.start(table(), Millis(1_000))
    paused = roundtable.pause(ran, Millis(5_000), why="x")
    assert paused.seconds(Millis(100_000)) == 4
    again = roundtable.start(paused, Millis(200_000))
    assert again.seconds(Millis(203_000)) == 7


def test_more_rounds_and_their_bounds() -> None:
    done = table(status=Status.DONE, round=3)
    longer = roundtable.again(done, NOW, rounds=2)
    assert (longer.status, longer.rounds, longer.round) == (Status.RUNNING, 5, 3)
    assert roundtable.advance(longer, NOW).round == 4
    running = roundtable.again(table(status=Status.RUNNING), NOW, rounds=1)
    assert running.status is Status.RUNNING
    for rounds in (0, 6):
        with pytest.raises(InvalidInput):
            roundtable.again(done, NOW, rounds=rounds)
    with pytest.raises(Conflict):
        roundtable.again(table(), NOW, rounds=1)


def test_seats_are_dropped_once_and_the_last_stays() -> None:
    now = table(status=Status.RUNNING)
    one = roundtable.drop(now, "b", why="slow", at=NOW)
    assert [seat.label for seat in one.active] == ["A", "C"]
    with pytest.raises(Conflict):
        roundtable.drop(one, "B", why="", at=NOW)
    two = roundtable.drop(one, "A", why="", at=NOW)
    with pytest.raises(Conflict):
        roundtable.drop(two, "C", why="", at=NOW)
    with pytest.raises(NotFound):
        roundtable.drop(now, "Z", why="", at=NOW)
    with pytest.raises(Conflict):
        roundtable.drop(table(status=Status.DONE), "A", why="", at=NOW)


def test_remarks_have_a_bound() -> None:
    now = table()
    for number in range(roundtable.MOST_REMARKS):
        now = roundtable.interject(now, Remark(MessageId(f"m_{number}"), number, 1), NOW)
    with pytest.raises(Conflict):
        roundtable.interject(now, Remark(MessageId("m"), 1, 1), NOW)


def test_who_speaks_next() -> None:
    now = table(status=Status.RUNNING)
    assert round.next_step(now, ()) == Speak(("A", "B", "C"))
    assert round.next_step(now, {"B"}) == Speak(("A", "C"))
    assert round.next_step(now, {"A", "B", "C"}) == Close()
    one_by_one = table(order=Order.SEQUENTIAL)
    assert round.next_step(one_by_one, ()) == Speak(("A", "B", "C"))
    later = table(order=Order.SEQUENTIAL, round=2)
    assert round.next_step(later, {"A"}) == Speak(("B",))
    open_eyed = table(order=Order.SEQUENTIAL, blind=False)
    assert round.next_step(open_eyed, ()) == Speak(("A",))


def heard(now: Roundtable, words: list[Word], label: str) -> list[tuple[int, str]]:
    found = round.heard_by(now, words, seat=label, round=now.round)
    return [(one.round, one.seat) for one in found]


def test_who_hears_whom() -> None:
    words = [word(1, label) for label in "CBA"] + [word(2, "A")]
    assert heard(table(round=2), words, "C") == [(1, "A"), (1, "B"), (1, "C")]
    assert heard(table(round=1), words[1:2], "C") == []
    one_by_one = table(order=Order.SEQUENTIAL, round=2)
    assert heard(one_by_one, words, "B") == [(1, "A"), (1, "B"), (1, "C"), (2, "A")]
    blind = table(order=Order.SEQUENTIAL)
    assert heard(blind, [word(1, "A")], "B") == []
    open_eyed = table(order=Order.SEQUENTIAL, blind=False)
    assert heard(open_eyed, [word(1, "A"), word(1, "C")], "B") == [(1, "A")]
    unread = word(2, "C", Standing.ASKED)
    assert heard(table(round=2), [unread], "C") == [(2, "C")]
    assert heard(table(round=2), [unread], "B") == []


def test_seats_are_asked_for_by_engine_model_and_stance() -> None:
    assert seat.parse("claude") == Wanted("claude")
    assert seat.parse("opencode:local/qwen=against, hard") == Wanted(
        "opencode", "local/qwen", "against, hard"
    )
    assert seat.parse("codex=for") == Wanted("codex", "", "for")
    for bad in ("", "Claude Code", ":x", "=for", "../x"):
        with pytest.raises(InvalidInput):
            seat.parse(bad)


def test_caps_that_permit_nothing_are_refused() -> None:
    for bad in (Caps(chars=0), Caps(tokens=-1), Caps(cost=0.0), Caps(seconds=float("inf"))):
        with pytest.raises(InvalidInput):
            caps.check(bad)
    caps.check(Caps(None, None, None, None))


def test_a_cap_is_reached_before_it_is_passed() -> None:
    most = Caps(chars=100, tokens=None, cost=1.0, seconds=None)
    assert not caps.reached(most, Spent(99))
    assert "100 characters" in caps.reached(most, Spent(100))
    assert not caps.exceeded(most, Spent(100))
    assert "dollars" in caps.reached(most, Spent(cost=1.0))
    assert not caps.reached(most, Spent(cost=0.99))


def test_vendors_and_warnings() -> None:
    assert vendors.of("anthropic", "claude", model="opus") == "anthropic"
    assert vendors.of("", "opencode", model="OpenAI/gpt") == "openai"
    assert vendors.of("", "mine", model="") == "mine"
    same = [sit("A", vendor="x", model="m"), sit("B", vendor="x", model="m")]
    assert "same model" in vendors.warning(same)
    assert vendors.wanted(same) == 1
    siblings = [sit("A", vendor="x", model="m"), sit("B", vendor="x", model="n")]
    assert "one vendor" in vendors.warning(siblings)
    mixed = [*same, sit("C", vendor="y")]
    assert not vendors.warning(mixed)
    assert vendors.wanted(mixed) == 2


def test_peers_are_letters() -> None:
    seats = [sit("A", engine="claude", vendor="anthropic"), sit("B", engine="codex")]
    assert anonymity.name(seats[0], anonymous=True) == "Seat A"
    assert "claude@" in anonymity.name(seats[0], anonymous=False)
    words = f"As Claude, I say: {seats[1].identity} is wrong. I'm an Anthropic model."
    shown = anonymity.disguise(words, seats)
    assert shown == "As Seat A, I say: Seat B is wrong. I'm an Seat A model."
    subject = "The Claude CLI resumes sessions and codex does not."
    assert anonymity.disguise(subject, seats) == subject


def test_preflight_counts_every_seat_and_round() -> None:
    firsts = [First("A", 10_000, True), First("B", 10_000, True), First("C", 4_000, False, "lite")]
    found = preflight.estimate(table(rounds=2), firsts, warning="w")
    assert [(row.round, row.seat) for row in found.rows] == [
        (n, label) for n in (1, 2) for label in "ABC"
    ]
    assert [row.chars for row in found.rows[:3]] == [10_000, 10_000, 4_000]
    assert found.rows[3].chars < 5_000
    assert found.rows[5].chars > 4_000
    assert found.rows[5].variant == "lite"
    assert found.chars < found.naive
