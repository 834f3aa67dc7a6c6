"""What may be done with a branch in which state, and what it is made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mufakat.core.base import ConversationId, MessageId, Millis, ProjectId
from mufakat.core.talk import branch
from mufakat.core.talk.branch import Act, Branch, Refused, Status
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Kind, Message

HERE = ConversationId("c_2")


def one(
    id: str = "c_2", parent: str = "c_1", *, number: int = 4, depth: int = 1, at: int = 1
) -> Branch:
    return Branch(
        ConversationId(id),
        ConversationId(parent),
        MessageId("m_4"),
        number,
        depth,
        ProjectId("p_1"),
        "person@host:abcdef",
        Millis(at),
        Millis(at),
    )


def message(number: int = 4, conversation: str = "c_1") -> Message:
    id = MessageId(f"m_{number}")
    here = ConversationId(conversation)
    return Message(id, here, number, Millis(1), Kind.AGENT, "claude@h:aaaaaa", "Yes.", 4, 1)


def talk(id: str = "c_2") -> Conversation:
    return Conversation(ConversationId(id), ProjectId("p_1"), "t", "f", Millis(1), Millis(1))


ADOPTED = branch.adopted(one(), message(9), now=Millis(5))
STANDING = {
    Status.OPEN: one(),
    Status.ADOPTED: ADOPTED,
    Status.ARCHIVED: branch.moved(one(), Status.ARCHIVED, now=Millis(5)),
    Status.DELETED: branch.moved(one(), Status.DELETED, now=Millis(5)),
}
ALLOWED = {
    Status.OPEN: set(Act),
    Status.ADOPTED: {Act.BRANCH, Act.ARCHIVE, Act.DELETE, Act.RENAME},
    Status.ARCHIVED: {Act.BRANCH, Act.ADOPT, Act.DELETE, Act.RENAME},
    Status.DELETED: set(),
}


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("act", Act)
def test_each_state_has_its_acts(status: Status, act: Act) -> None:
    refused = branch.may(STANDING[status], act)
    assert (refused is None) is (act in ALLOWED[status])
    if refused:
        assert status.value in refused.why and refused.fix


def test_what_was_adopted_and_archived_is_not_adopted_again() -> None:
    put_away = branch.moved(ADOPTED, Status.ARCHIVED, now=Millis(6))
    assert put_away.adopted and put_away.hidden
    refused = branch.may(put_away, Act.ADOPT)
    assert refused is not None and refused.why == "The branch is adopted."


def test_what_was_deleted_is_no_longer_adopted() -> None:
    assert not branch.moved(ADOPTED, Status.DELETED, now=Millis(6)).adopted


@pytest.mark.parametrize("act", [Act.ADOPT, Act.ARCHIVE, Act.DELETE])
def test_a_turn_under_way_is_waited_for(act: Act) -> None:
    refused = branch.may(one(), act, busy=True)
    assert refused is not None and "under way" in refused.why
    assert branch.may(one(), Act.RENAME, busy=True) is None


def test_what_others_begin_in_is_not_deleted() -> None:
    refused = branch.may(one(), Act.DELETE, branches=2)
    assert refused == Refused("2 branches begin in it.", "delete those first")
    assert branch.may(one(), Act.ARCHIVE, branches=2) is None


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.OPEN])
def test_only_an_open_parent_takes_a_branch_in(status: Status) -> None:
    above = STANDING[status]
    refused = branch.may(one("c_3", "c_2", depth=2), Act.ADOPT, above=above)
    assert refused is not None and f"came from is {status.value}" in refused.why


def test_a_branch_is_one_deeper_than_what_it_comes_from() -> None:
    first = branch.begin(talk(), message(), above=None, author="p", now=Millis(3))
    assert isinstance(first, Branch)
    assert (first.parent, first.checkpoint, first.number, first.depth) == ("c_1", "m_4", 4, 1)
    second = branch.begin(talk("c_3"), message(2, "c_2"), above=first, author="p", now=Millis(4))
    assert isinstance(second, Branch)
    assert (second.parent, second.depth, second.status) == ("c_2", 2, Status.OPEN)


def test_there_is_a_limit_to_depth_and_to_number() -> None:
    deep = replace(one(), depth=branch.MOST_DEEP)
    refused = branch.begin(talk(), message(), above=deep, author="p", now=Millis(1))
    assert isinstance(refused, Refused) and "9 branches deep" in refused.why
    many = branch.begin(
        talk(), message(), above=None, author="p", now=Millis(1), branches=branch.MOST
    )
    assert isinstance(many, Refused) and "100 branches" in many.why


def test_nothing_begins_in_what_was_deleted() -> None:
    above = STANDING[Status.DELETED]
    refused = branch.begin(talk(), message(), above=above, author="p", now=Millis(1))
    assert isinstance(refused, Refused)


def test_a_title_is_one_line() -> None:
    assert branch.title(" a\n b ") == "a b"
    for bad in ("", " \n", "x" * 201):
        assert isinstance(branch.title(bad), Refused)


def test_a_tree_puts_each_after_what_it_came_from() -> None:
    every = [
        one("c_5", "c_1", at=9),
        one("c_3", "c_2", depth=2, at=3),
        one("c_2", "c_1", at=2),
        replace(one("c_4", "c_3", depth=3, at=4), status=Status.ARCHIVED),
        replace(one("c_6", "c_1", at=5), status=Status.DELETED),
    ]
    ids = [each.conversation for each in branch.tree(every)]
    assert ids == ["c_2", "c_3", "c_5"]
    assert "c_4" in [each.conversation for each in branch.tree(every, archived=True)]
    below = branch.tree(every, top=ConversationId("c_2"), archived=True)
    assert [each.conversation for each in below] == ["c_3", "c_4"]


def test_below_one_that_is_put_away_the_tree_goes_on() -> None:
    every = [
        replace(one("c_2", "c_1"), status=Status.ARCHIVED),
        one("c_3", "c_2", depth=2),
    ]
    assert [each.conversation for each in branch.tree(every)] == ["c_3"]
