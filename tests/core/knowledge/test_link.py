"""Links weigh less with time; conversations about the same things are found."""

from __future__ import annotations

from mufakat.core.base import ConversationId, Millis
from mufakat.core.knowledge import link

DAY = link.DAY


def test_a_link_weighs_half_after_a_month_and_never_nothing() -> None:
    assert link.weight(Millis(0), Millis(0)) == 1
    assert link.weight(Millis(0), Millis(30 * DAY)) == 0.5
    assert link.weight(Millis(0), Millis(3000 * DAY)) == link.LEAST
    assert link.weight(Millis(5), Millis(0)) == 1


def test_what_is_about_the_same_is_found_and_the_old_weighs_less() -> None:
    about = link.words(["Cache of the login sessions", "redis eviction policy for login sessions"])
    same = link.words(["redis eviction", "login sessions vanish from the cache"])
    other = link.words(["Colours of the landing page", "a warmer blue for the buttons"])
    now = Millis(60 * DAY)
    known = {
        ConversationId("c_same"): (same, now),
        ConversationId("c_old"): (same, Millis(0)),
        ConversationId("c_other"): (other, now),
    }
    found = link.rank(about, known, now, limit=5)
    assert [one.conversation for one in found] == ["c_same", "c_old"]
    assert found[0].score > 2 * found[1].score > 0
    assert not link.rank(link.words([""]), known, now, limit=5)
