"""A branch goes its own way: what it inherits, what stays in it, and what comes back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mufakat.core.base import Conflict, InvalidInput, NotFound
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.pack.pull import Want
from mufakat.core.talk import branch as rules
from mufakat.core.talk import stream
from mufakat.core.talk.branch import Status
from mufakat.core.talk.turn import Reply
from mufakat.core.talk.turn import Status as Ended
from mufakat.services import branch_state, inheritance
from mufakat.services.branches import Shown
from mufakat.services.knowledge import handlers
from mufakat.services.knowledge.gathering import Subject
from mufakat.services.request import Ask
from services.conftest import INLINE, House, Puppet

pytestmark = pytest.mark.anyio
ME = Principal(Right.OPERATOR, "person@host:abcdef")


async def echo(run, on_event, cancel) -> Reply:
    """Answers with the last line of its prompt in capitals."""
    session = run.resume if run.resume and not run.fork else f"s-{run.id}"
    await on_event(stream.SessionStarted(session))
    said = run.delivery.user.strip().splitlines()[-1]
    return Reply(Ended.DONE, text=f"I heard: {said}", session=session)


def seat(house: House) -> Puppet:
    puppet = Puppet("one", echo, INLINE)
    house.seat(puppet)
    return puppet


async def ask(house: House, prompt: str, conversation: str = "", **more: Any) -> Any:
    turn = await house.ask(prompt, engine="one", conversation=conversation, **more)
    assert turn.status is Ended.DONE, turn
    return turn


async def branch(house: House, conversation: str, at: str = "", **more: Any) -> Shown:
    return await house.app.branches.add(ME, conversation, at=at, **more)


async def told(house: House, turn: Any) -> str:
    pack = await house.app.packs.get(turn.pack)
    return "\n".join(await house.app.packs.sent(pack))


async def said(house: House, conversation: str) -> list[str]:
    return [one.text for one in await house.app.talk.messages(conversation, limit=200)]


async def kinds(house: House, *, since: str) -> list[str]:
    events = await house.app.store.read(lambda tx: tx.events.after(0, limit=1000))
    return [one.kind for one in events if one.kind.startswith(since)]


async def test_a_branch_knows_what_was_said_before_it_and_nothing_that_came_later(
    house: House,
) -> None:
    seat(house)
    first = await ask(house, "The cache is called WALNUT.")
    await ask(house, "Later we said QUINCE.", first.conversation)
    made = await branch(house, first.conversation, "m:2")
    turn = await ask(house, "What is it called?", made.conversation.id)
    text = await told(house, turn)
    assert "WALNUT" in text and "QUINCE" not in text
    assert f"{first.conversation}/m:2" in text
    pack = await house.app.packs.get(turn.pack)
    assert any(note.startswith("in a branch: from ") for note in pack.receipt.notes)
    (row,) = [one for one in pack.receipt.sections if one.kind == "branch"]
    assert row.tier == 0 and row.used <= 2_000


async def test_twin_without_its_bound_a_branch_hears_what_came_later(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unbounded(tx, one, limit):
        return tx.messages.newest(one.parent, before=10_000, limit=limit, clip=4_000)

    monkeypatch.setattr(inheritance, "_before", unbounded)
    seat(house)
    first = await ask(house, "The cache is called WALNUT.")
    await ask(house, "Later we said QUINCE.", first.conversation)
    made = await branch(house, first.conversation, "m:2")
    turn = await ask(house, "What is it called?", made.conversation.id)
    assert "QUINCE" in await told(house, turn)


async def test_nested_branches_inherit_along_the_chain(house: House) -> None:
    seat(house)
    first = await ask(house, "Top fact ALMOND.")
    outer = await branch(house, first.conversation)
    await ask(house, "Outer fact HAZEL.", outer.conversation.id)
    inner = await branch(house, outer.conversation.id)
    await ask(house, "After the inner one PECAN.", outer.conversation.id)
    assert (outer.branch.depth, inner.branch.depth) == (1, 2)
    text = await told(house, await ask(house, "Tell.", inner.conversation.id))
    assert "ALMOND" in text and "HAZEL" in text and "PECAN" not in text


async def test_what_is_said_in_a_branch_stays_in_it(house: House) -> None:
    seat(house)
    first = await ask(house, "We talk about the parser.")
    made, other = [await branch(house, first.conversation) for _ in range(2)]
    await ask(house, "The branch-only fact about the parser is ZEBRAFISH.", made.conversation.id)
    question = {"prompt": "What is the branch-only fact about the parser?", "mode": "full"}
    for place in (first.conversation, other.conversation.id, ""):
        turn = await ask(house, question["prompt"], place, mode="full")
        assert "ZEBRAFISH" not in await told(house, turn)
    assert not any("ZEBRAFISH" in one for one in await said(house, first.conversation))
    own = await house.app.knowledge.recall.ask(
        ME, "branch-only fact parser", project=str(house.project)
    )
    (hit,) = [one for one in own.found if "ZEBRAFISH" in one.text]
    assert "branch, open" in hit.head


async def test_twin_without_the_sight_of_branches_the_fact_leaks(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branch_state, "sight", lambda *_, **__: {})
    seat(house)
    first = await ask(house, "We talk about the parser.")
    made = await branch(house, first.conversation)
    await ask(house, "The branch-only fact about the parser is ZEBRAFISH.", made.conversation.id)
    turn = await ask(
        house, "What is the branch-only fact about the parser?", first.conversation, mode="full"
    )
    assert "ZEBRAFISH" in await told(house, turn)


async def test_adopting_brings_back_a_summary_and_nothing_else(house: House) -> None:
    seat(house)
    first = await ask(house, "We talk about the parser.")
    made = await branch(house, first.conversation, title="Try it")
    await ask(house, "Small talk without weight.", made.conversation.id)
    await ask(house, "We decided to use a queue.", made.conversation.id)
    before = len(await said(house, first.conversation))
    adopted = await house.app.branches.adopt(ME, made.conversation.id)
    after = await said(house, first.conversation)
    assert len(after) == before + 1 and len(after[-1]) <= 2_000
    assert "“Try it”" in after[-1] and "We decided to use a queue." in after[-1]
    assert f"{made.conversation.id}/m:3" in after[-1] and "Small talk" not in after[-1]
    assert adopted.branch.status is Status.ADOPTED
    assert adopted.branch.summary_number == before + 1
    assert (await kinds(house, since="branch.")) == ["branch.added", "branch.adopted"]
    text = await told(house, await ask(house, "What came of it?", first.conversation))
    assert f"pull session {made.conversation.id}" in text


async def test_an_adopted_branch_can_be_pulled_and_recalled(house: House) -> None:
    seat(house)
    first = await ask(house, "We talk about the parser.")
    made = await branch(house, first.conversation)
    await ask(house, "The parser needs a ZEBRAFISH.", made.conversation.id)
    await house.app.branches.adopt(ME, made.conversation.id, words="It works.")
    answer = await house.app.knowledge.asking.pull(
        ME,
        Want("session", made.conversation.id),
        project=str(house.project),
        conversation=first.conversation,
    )
    assert "ZEBRAFISH" in answer.text
    found = await told(
        house, await ask(house, "What does the parser need?", first.conversation, mode="full")
    )
    assert "ZEBRAFISH" in found


async def test_a_persons_own_words_are_adopted_as_they_are(house: House) -> None:
    seat(house)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    done = await house.app.branches.adopt(ME, made.conversation.id, words="  It works. ")
    text = (await said(house, first.conversation))[-1]
    assert text.splitlines()[1] == "It works."
    with pytest.raises(Conflict, match="adopted"):
        await house.app.branches.adopt(ME, made.conversation.id, words="Again.")
    with pytest.raises(Conflict, match="adopted"):
        await house.app.turns.ask(
            Ask("More.", str(house.project), made.conversation.id, engine="one")
        )
    with pytest.raises(Conflict, match="adopted"):
        await house.app.talk.say(done.conversation.id, "More.")
    assert (
        await branch(
            house, made.conversation.id if done.conversation.messages else first.conversation
        )
    ).branch.depth >= 1


async def test_an_empty_branch_has_nothing_to_adopt(house: House) -> None:
    seat(house)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    with pytest.raises(Conflict, match="Nothing was said"):
        await house.app.branches.adopt(ME, made.conversation.id)


async def test_the_same_key_makes_one_branch_and_adopts_once(house: House) -> None:
    seat(house)
    first = await ask(house, "One.")
    made = [await branch(house, first.conversation, key="k") for _ in range(2)]
    assert made[0] == made[1]
    id = made[0].conversation.id
    await ask(house, "Two.", id)
    done = [await house.app.branches.adopt(ME, id, key="a") for _ in range(2)]
    assert done[0].branch == done[1].branch
    assert len(await said(house, first.conversation)) == 3
    with pytest.raises(Conflict):
        await branch(house, first.conversation, at="m:1", key="k")


async def test_a_deleted_branch_is_gone_from_lists_packs_recall_and_links(house: House) -> None:
    seat(house)
    app = house.app
    first = await ask(house, "We talk about the parser.")
    other = await ask(house, "Another conversation.")
    made = await branch(house, first.conversation)
    id = made.conversation.id
    await ask(house, "The parser needs a ZEBRAFISH.", id)
    await app.knowledge.links.add(ME, other.conversation, id)
    await app.branches.adopt(ME, id, words="Done.")
    await app.branches.delete(ME, id)
    assert id not in [one.id for one in await app.talk.conversations()]
    assert await app.branches.tree(archived=True) == []
    for look in (app.talk.conversation, app.branches.get, app.talk.messages):
        with pytest.raises(NotFound):
            await look(id)
    with pytest.raises(NotFound):
        await app.talk.conversation(id[:-3])
    assert not await app.knowledge.links.of(ME, other.conversation)
    found = await app.knowledge.recall.ask(ME, "ZEBRAFISH parser", project=str(house.project))
    assert not any("ZEBRAFISH" in one.text for one in found.found)
    for place in (first.conversation, other.conversation):
        turn = await ask(house, "What does the parser need?", place, mode="full")
        assert "ZEBRAFISH" not in await told(house, turn)
    assert not await app.store.read(lambda tx: tx.members.of(id))
    assert (await app.store.check(deep=True)).problems == ()


async def test_archived_ones_are_listed_where_all_are_wanted(house: House) -> None:
    seat(house)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    inner_of = await ask(house, "Two.", made.conversation.id)
    inner = await branch(house, inner_of.conversation)
    archived = await house.app.branches.archive(ME, made.conversation.id)
    assert archived.branch.status is Status.ARCHIVED
    assert await house.app.branches.archive(ME, made.conversation.id) == archived
    shown = [one.conversation.id for one in await house.app.branches.tree()]
    assert shown == [inner.conversation.id]
    tree = await house.app.branches.tree(conversation=first.conversation, archived=True)
    assert [(one.conversation.id, one.branch.depth) for one in tree] == [
        (made.conversation.id, 1),
        (inner.conversation.id, 2),
    ]
    assert made.conversation.id not in [one.id for one in await house.app.talk.conversations()]
    with pytest.raises(Conflict, match="came from is archived"):
        await house.app.branches.adopt(ME, inner.conversation.id, words="x")


async def test_what_a_branch_refuses_while_something_hangs_on_it(house: House) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    async def slow(run, on_event, cancel) -> Reply:
        if "Slowly." in run.delivery.user:
            started.set()
            await go_on.wait()
        return await echo(run, on_event, cancel)

    house.seat(Puppet("one", slow, INLINE))
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    id = made.conversation.id
    turn = await house.app.turns.ask(Ask("Slowly.", str(house.project), id, engine="one"))
    await asyncio.wait_for(started.wait(), 10)
    for act in ("adopt", "archive", "delete"):
        with pytest.raises(Conflict, match="under way"):
            await getattr(house.app.branches, act)(ME, id)
    go_on.set()
    await house.app.turns.wait(turn.id, seconds=20)
    inner = await branch(house, id)
    with pytest.raises(Conflict, match="1 branch begins in it"):
        await house.app.branches.delete(ME, id)
    await house.app.branches.delete(ME, inner.conversation.id)
    assert (await house.app.branches.delete(ME, id)).branch.status is Status.DELETED


async def test_a_branch_is_renamed(house: House) -> None:
    seat(house)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    assert made.conversation.title == "One. (from m:2)"
    named = await house.app.branches.rename(ME, made.conversation.id, "  Two \n three ")
    assert named.conversation.title == "Two three"
    assert (await house.app.talk.conversation(made.conversation.id)).title == "Two three"
    for bad in (" ", "x" * 201):
        with pytest.raises(InvalidInput):
            await house.app.branches.rename(ME, made.conversation.id, bad)
    with pytest.raises(NotFound, match="is no branch"):
        await house.app.branches.rename(ME, first.conversation, "x")


@pytest.mark.parametrize("at", ["m:99", "0", "m_nothing", "m:1x"])
async def test_a_checkpoint_that_is_not_there_is_refused(house: House, at: str) -> None:
    seat(house)
    first = await ask(house, "One.")
    with pytest.raises(NotFound):
        await branch(house, first.conversation, at)
    assert len(await house.app.talk.conversations()) == 1


async def test_no_branch_is_deeper_than_the_limit(house: House) -> None:
    seat(house)
    at = (await ask(house, "One.")).conversation
    for _ in range(rules.MOST_DEEP):
        await house.app.talk.say(at, "Deeper.")
        at = (await branch(house, at)).conversation.id
    await house.app.talk.say(at, "Too deep.")
    with pytest.raises(Conflict, match="9 branches deep"):
        await branch(house, at)


async def test_a_turn_of_a_closed_branch_is_not_asked_again(house: House) -> None:
    async def fails(run, on_event, cancel) -> Reply:
        return (
            Reply(Ended.FAILED)
            if "Break." in run.delivery.user
            else await echo(run, on_event, cancel)
        )

    house.seat(Puppet("one", fails, INLINE))
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    broken = await house.ask("Break.", engine="one", conversation=made.conversation.id)
    await house.app.branches.archive(ME, made.conversation.id)
    with pytest.raises(Conflict, match="archived"):
        await house.app.turns.retry(broken.id)


async def test_agents_see_a_branchs_message_only_where_it_may_be_told(house: House) -> None:
    seat(house)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation, "m:1")
    await ask(house, "Inside.", made.conversation.id)
    source = handlers.message(house.app.store)

    async def pulled(viewer: str, text: str) -> str:
        subject = Subject(house.project, text, made.branch.project, viewer)  # type: ignore[arg-type]
        return (await source(subject))[0].text

    assert await pulled(made.conversation.id, f"{first.conversation}/m:1") == "One."
    with pytest.raises(NotFound):
        await pulled(made.conversation.id, f"{first.conversation}/m:2")
    with pytest.raises(NotFound):
        await pulled(first.conversation, f"{made.conversation.id}/m:1")
    assert await pulled(made.conversation.id, "m:1") == "Inside."


async def test_what_came_of_a_conversation_later_than_the_checkpoint_is_not_told(
    house: House,
) -> None:
    seat(house)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation, "m:1")
    messages = await house.app.talk.messages(first.conversation)
    project, parent = made.branch.project, made.branch.parent

    def told(tx: Any) -> list[bool]:
        inside = branch_state.sight(tx, project, made.conversation.id)
        outside = branch_state.sight(tx, project, parent)
        at = messages[0].at
        return [
            branch_state.tells(tx, inside, parent, at=at),
            branch_state.tells(tx, inside, parent, at=at + 1),
            branch_state.tells(tx, inside, made.conversation.id, at=at + 1),
            branch_state.tells(tx, outside, made.conversation.id, at=at),
            branch_state.tells(tx, outside, parent, at=at + 1),
        ]

    assert await house.app.store.read(told) == [True, False, True, False, True]
