"""Assembly: within the budget, well filled, stable in its prefix, accounted for."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from core.pack import conversations as made
from mufakat.core import quote
from mufakat.core.pack import assemble, deliver
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.budget import Impossible
from mufakat.core.pack.facts import Unavailable
from mufakat.core.pack.item import Item, Resolution, Trust
from mufakat.core.pack.mode import Mode
from mufakat.core.pack.section import Section
from mufakat.core.pack.sections import table


def pack(facts, sections=table.SECTIONS) -> Pack:
    made_pack = assemble.assemble(facts, sections)
    assert isinstance(made_pack, Pack), made_pack
    return made_pack


def test_sections_stand_in_the_order_of_the_table():
    kinds = [section.kind for section in pack(made.facts(made.talk(6, random.Random(1)))).sections]
    assert kinds == [row.kind for row in table.SECTIONS if row.kind in kinds]
    assert kinds == ["platform", "project", "role", "identity", "history", "participants"]


def test_an_impossible_budget_is_itemised_and_nothing_is_cut():
    refused = assemble.assemble(made.facts(prompt="p" * 900, budget=800))
    assert isinstance(refused, Impossible)
    assert dict(refused.sizes)["prompt"] == 900
    assert refused.needed > refused.budget == 800
    assert refused.sizes[0][0] == "prompt"


def test_case_015_static_parts_over_the_window_fail_once_with_sizes():
    facts = made.facts(prompt="p" * 5_000, window_tokens=2_000)
    refused = assemble.assemble(facts)
    assert isinstance(refused, Impossible)
    assert sum(size for _, size in refused.sizes) == refused.needed


def test_case_017_absurd_limits_keep_the_arithmetic_right():
    for window in (1, 512, 10**9):
        outcome = assemble.assemble(made.facts(prompt="hi", window_tokens=window))
        if isinstance(outcome, Pack):
            assert outcome.receipt.used <= outcome.receipt.budget <= 60_000


def test_a_small_window_makes_the_lite_variant_and_says_so():
    receipt = pack(made.facts(made.talk(200, random.Random(2)), window_tokens=8_192)).receipt
    assert receipt.variant == "lite"
    assert receipt.used <= receipt.budget == 12_288
    assert any("8,192 tokens" in note for note in receipt.notes)


def test_an_unavailable_source_is_told_to_the_agent_and_in_the_receipt():
    gap = Unavailable("git", "timed out after 400 ms")
    made_pack = pack(made.facts(unavailable=(gap,)))
    assert made_pack.receipt.unavailable == (gap,)
    assert "unavailable: git: timed out after 400 ms" in made_pack.text


def test_the_recorded_reason_of_the_mode():
    talk = made.talk(12, random.Random(3))
    assert pack(made.facts(talk)).receipt.reason == "long-conversation"
    assert pack(made.facts(talk[:11])).receipt.reason == "default"
    assert pack(made.facts(talk, mode=Mode.LITE)).receipt.reason == "user-override"


def test_a_section_that_fits_uses_exactly_what_it_needs() -> None:
    receipt = pack(made.facts(made.talk(9, random.Random(4)))).receipt
    for row in receipt.sections:
        assert row.need == row.granted == row.used or row.kind == "history", row
    history = next(row for row in receipt.sections if row.kind == "history")
    assert history.granted == history.need
    assert history.need - history.used <= 1, "the newline after the last message"


def test_muted_sections_are_left_out_and_noted():
    receipt = pack(made.facts(made.talk(9, random.Random(4)), muted=frozenset({"history"}))).receipt
    assert "history" not in [section.kind for section in receipt.sections]
    assert "left out by request: history" in receipt.notes


def rows(count: int, rng: random.Random) -> tuple[Section, ...]:
    """The table, filled up to `count` sections with items of many sizes."""

    def items(kind: str) -> list[Item]:
        texts = [made.prose(rng, rng.randint(10, 3_000)) for _ in range(rng.randint(0, 8))]
        return [
            Item(
                f"{kind}:{n}",
                kind,
                Trust.RETRIEVED,
                ((Resolution.FULL, text), (Resolution.DIGEST, text[:80])),
            )
            for n, text in enumerate(texts)
            if len(text) > 80
        ]

    extra = []
    for n in range(count - len(table.SECTIONS)):
        fixed_items = items(f"extra-{n}")
        extra.append(
            Section(
                f"extra-{n}",
                1,
                lambda _, kept=fixed_items: kept,
                weight=rng.choice([0.6, 1, 2]),
                floor=rng.choice([0, 300, 500]),
                ceiling=rng.choice([2_000, 5_000, None]),
            )
        )
    return (*table.SECTIONS[:-1], *extra, table.SECTIONS[-1])


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(0, 150), budget=st.integers(500, 80_000))
def test_never_over_the_budget_and_what_is_used_adds_up(seed, count, budget):
    rng = random.Random(seed)
    facts = made.facts(made.talk(count, rng, chars=rng.choice([40, 400, 3_000])), budget=budget)
    outcome = assemble.assemble(facts, rows(28, rng))
    if isinstance(outcome, Impossible):
        assert outcome.needed > budget
        return
    inline = deliver.fresh(outcome, splits_system=False, expands_at=False).user
    assert len(inline) == outcome.receipt.used <= budget
    assert sum(section.used for section in outcome.receipt.sections) == outcome.receipt.used
    for section, row in zip(
        outcome.sections, [r for r in outcome.receipt.sections if r.digest], strict=False
    ):
        assert section.kind == row.kind
        assert row.used <= row.granted


def test_the_budget_is_filled_when_there_is_enough_to_say():
    for seed in range(20):
        rng = random.Random(seed)
        facts = made.facts(made.talk(400, rng, agents=3, chars=rng.choice([200, 600])))
        receipt = pack(facts).receipt
        assert receipt.used >= 0.98 * receipt.budget, (seed, receipt.used)


def shared(one: str, other: str) -> int:
    return len(os.path.commonprefix([one, other]))


def test_consecutive_packs_share_their_prefix_over_120_turns():
    rng = random.Random(11)
    said = made.talk(100, rng, agents=2, chars=400)
    start, before, shares = 1, "", []
    for _ in range(120):
        asked = pack(made.facts(said, window_start=start))
        start = asked.receipt.window_start
        stable = "\n".join(
            s.text for s in asked.sections if s.kind not in {"participants", "earlier"}
        )
        if before:
            shares.append(shared(before, asked.text) / len(before))
        before = stable
        number = len(said) + 1
        said.append(made.message(number, made.prose(rng, 120)))
        said.append(made.message(number + 1, made.prose(rng, 400), f"claude@host:{number % 2:06x}"))
    assert sum(shares) / len(shares) >= 0.93


def test_twin_a_window_that_slides_with_every_message_shares_little():
    rng = random.Random(11)
    said = made.talk(400, rng, agents=2, chars=400)
    shares, before = [], ""
    for length in range(300, 360, 2):
        asked = pack(made.facts(said[:length], window_start=10**9))
        stable = "\n".join(
            s.text for s in asked.sections if s.kind not in {"participants", "earlier"}
        )
        if before:
            shares.append(shared(before, asked.text) / len(before))
        before = stable
    assert sum(shares) / len(shares) < 0.93


def test_the_same_facts_give_the_same_bytes_under_any_hash_seed():
    code = (
        "import random, sys; sys.path.insert(0, sys.argv[1]);"
        "from core.pack import conversations as made, test_assemble as t;"
        "facts = made.facts(made.talk(150, random.Random(5), agents=4));"
        "p = t.pack(facts, t.rows(28, random.Random(6)));"
        "print(p.receipt.parity, p.receipt)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parents[2])],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(seen) == 1


def test_parity_is_equal_for_two_agents_and_breaks_when_one_is_told_less():
    said = made.talk(30, random.Random(12))
    one = pack(made.facts(said, identity="claude@host:000001"))
    other = pack(made.facts(said, identity="codex@host:000002"))
    less = pack(made.facts(said, identity="codex@host:000002", muted=frozenset({"participants"})))
    assert one.receipt.parity == other.receipt.parity != less.receipt.parity


def test_the_fixed_sections_of_every_built_in_role_fit_into_1500_characters():
    from mufakat.retrieval import library, role_documents

    platform = library.LocalLibrary(made_home()).platform()
    for role in role_documents.roles(made_home()):
        facts = replace(made.facts(), platform=platform, role=role)
        fixed = [
            s for s in pack(facts).sections if s.kind in {"platform", "project", "role", "identity"}
        ]
        assert sum(len(section.text) for section in fixed) <= 1_500, role.name


def made_home():
    return Path("/nonexistent")


def test_delivery_says_the_same_in_both_forms():
    asked = pack(made.facts(made.talk(8, random.Random(13))))
    split = deliver.fresh(asked, splits_system=True, expands_at=False)
    inline = deliver.fresh(asked, splits_system=False, expands_at=False)
    assert split.user == "What now?"
    for section in asked.sections:
        assert section.text in split.system
        assert section.text in inline.user
    assert inline.user.endswith(quote.DIVIDER + "What now?")
    assert split.told == inline.told


def test_a_resumed_session_is_told_only_what_is_new_and_then_knows_all():
    said = made.talk(8, random.Random(14))
    first = pack(made.facts(said))
    session = deliver.fresh(first, splits_system=True, expands_at=False)
    said.append(made.message(9, "BRAND-NEW", "codex@far:abcdef"))
    second = pack(made.facts(said, prompt="And now?"))
    assert deliver.missing(second, session.told)
    resumed = deliver.resumed(
        second, session.told, system=session.system, splits_system=True, expands_at=False
    )
    assert resumed.system == session.system
    assert "BRAND-NEW" in resumed.user
    assert said[0].text not in resumed.user
    assert resumed.user.endswith("And now?")
    assert deliver.missing(second, resumed.told) == ()


def test_at_signs_are_neutralised_only_where_an_engine_expands_them():
    asked = pack(made.facts(prompt="look at @README.md and a@b.c"))
    assert "@\u2060README.md" in deliver.fresh(asked, splits_system=True, expands_at=True).user
    assert "@README.md" in deliver.fresh(asked, splits_system=True, expands_at=False).user
