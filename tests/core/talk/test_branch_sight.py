"""What of each conversation may be told in another, as branches limit it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from mufakat.core.base import ConversationId
from mufakat.core.talk import branch, branch_sight
from mufakat.core.talk.branch import Branch, Status

from .test_branch import one


def adopted(some: Branch, at: int) -> Branch:
    return replace(some, status=Status.ADOPTED, summary="m_x", summary_number=at)


def bounds(viewer: str | None, *branches: Branch, linked: tuple[str, ...] = ()) -> dict[str, int]:
    known = {each.conversation: each for each in branches}
    return dict(
        branch_sight.bounds(
            known,
            ConversationId(viewer) if viewer else None,
            linked=[ConversationId(id) for id in linked],
        )
    )


def test_the_parent_knows_nothing_of_a_branch() -> None:
    assert bounds("c_1", one()) == {"c_2": 0}
    assert bounds(None, one()) == {"c_2": 0}
    assert bounds("c_9", one()) == {"c_2": 0}


def test_a_branch_knows_its_parent_up_to_the_checkpoint() -> None:
    assert bounds("c_2", one(number=4)) == {"c_1": 4}


def test_a_nested_branch_knows_its_line_up_to_each_checkpoint() -> None:
    outer, inner = one(number=4), one("c_3", "c_2", number=2, depth=2)
    assert bounds("c_3", outer, inner) == {"c_1": 4, "c_2": 2}
    assert bounds("c_2", outer, inner) == {"c_1": 4, "c_3": 0}
    assert bounds("c_1", outer, inner) == {"c_2": 0, "c_3": 0}


def test_what_was_adopted_is_known_where_it_was_adopted() -> None:
    assert bounds("c_1", adopted(one(), 9)) == {}
    assert bounds(None, adopted(one(), 9)) == {}


def test_a_nested_branch_is_known_above_only_by_every_step() -> None:
    outer, inner = one(), adopted(one("c_3", "c_2", depth=2), 5)
    assert bounds("c_1", outer, inner) == {"c_2": 0, "c_3": 0}
    assert bounds("c_1", adopted(outer, 9), inner) == {}


@pytest.mark.parametrize(("at", "known"), [(4, True), (5, False)])
def test_what_was_adopted_after_the_checkpoint_is_not_known(at: int, known: bool) -> None:
    viewer, sister = one(number=4), adopted(one("c_3", "c_1"), at)
    assert ("c_3" not in bounds("c_2", viewer, sister)) is known


def test_a_link_opens_a_branch_and_a_deletion_closes_it() -> None:
    assert bounds("c_9", one(), linked=("c_2",)) == {}
    gone = replace(one(), status=Status.DELETED)
    assert bounds("c_9", gone, linked=("c_2",)) == {"c_2": 0}
    assert branch_sight.for_person({gone.conversation: gone}) == {"c_2": 0}
    assert branch_sight.for_person({one().conversation: one()}) == {}


def test_archiving_does_not_take_an_adoption_back() -> None:
    put_away = replace(adopted(one(), 9), status=Status.ARCHIVED)
    assert bounds("c_1", put_away) == {}


def test_a_damaged_circle_ends() -> None:
    a, b = one("c_1", "c_2"), one("c_2", "c_1")
    assert len(branch_sight.chain({a.conversation: a, b.conversation: b}, a.conversation)) == 2


def test_nobody_is_told_more_than_its_line_and_what_was_adopted() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(300):
        branches = _some(chance)
        ids = ["c_0", *branches]
        for viewer in ids:
            limits = branch_sight.bounds(branches, ConversationId(viewer))
            line = {each.parent: each.number for each in branch_sight.chain(branches, viewer)}
            for id, each in branches.items():
                limit = limits.get(id, branch_sight.ALL)
                if id == viewer:
                    assert limit == branch_sight.ALL
                elif id in line:
                    assert limit == line[id]
                elif not each.adopted:
                    assert limit == 0


def _some(chance: random.Random) -> dict[ConversationId, Branch]:
    branches: dict[ConversationId, Branch] = {}
    for number in range(1, chance.randint(2, 8)):
        parent = chance.choice(["c_0", *branches])
        above = branches.get(ConversationId(parent))
        made = one(
            f"c_{number}",
            parent,
            number=chance.randint(1, 9),
            depth=above.depth + 1 if above else 1,
        )
        if chance.random() < 0.5:
            made = adopted(made, chance.randint(1, 12))
        branches[made.conversation] = made
    return branches


def test_depth_makes_circles_impossible() -> None:
    chance = random.Random(7)
    for _ in range(50):
        for each in _some(chance).values():
            assert each.depth <= branch.MOST_DEEP + 8
