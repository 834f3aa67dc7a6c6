"""The words of pulling: which markers count, how many, and what an answer looks like."""

from __future__ import annotations

import random
import time

import pytest

from mufakat.core import quote
from mufakat.core.pack import pull
from mufakat.core.pack.pull import Answer, Form, Progress, Want

NONCE = "0123456789abcdef"
FENCE = "fEnCe"


def mark(query: str, kind: str = "skill", nonce: str = NONCE) -> str:
    return pull.marker(nonce, kind, query)


def wanted(*names: str) -> tuple[Want, ...]:
    return tuple(Want("skill", name) for name in names)


def test_markers_on_lines_of_their_own_count_once_in_order():
    text = f"Hello.\n{mark('b')}\n\n{mark('a')}  \n{mark('b')}"
    assert pull.wants(text, NONCE) == wanted("b", "a")


def test_a_form_may_be_named():
    assert pull.wants(f"<!--mufakat:{NONCE}:code.probe:where is x-->", NONCE) == (
        Want("code", "where is x", Form.PROBE),
    )
    assert pull.wants(f"<!--mufakat:{NONCE}:code.all:x-->", NONCE) == (Want("code", "x"),)


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{mark('x')}\n```",
        f"```python\n{mark('x')}\n~~~\n{mark('y')}\n```",
        f"````\n```\n{mark('x')}\n````",
        f"~~~\n{mark('x')}",
        f" {mark('x')}",
        f"\t{mark('x')}",
        f"> {mark('x')}",
        f"- {mark('x')}",
        f"see {mark('x')}",
        f"{mark('x')} and more",
        mark("x", nonce="fedcba9876543210"),
        mark("x", nonce=NONCE[:-1]),
        mark("x", nonce=NONCE.upper()),
        mark(""),
        mark(" "),
        mark("x" * (pull.QUERY_CHARS + 1)),
        mark("x", kind="SKILL"),
        "<!--mufakat:none:skill:x-->",
    ],
)
def test_everything_else_is_text(text):
    assert pull.wants(text, NONCE) == ()


def test_after_a_code_block_markers_count_again():
    assert pull.wants(f"```\n{mark('x')}\n```\n{mark('y')}", NONCE) == wanted("y")


def test_without_a_nonce_nothing_counts():
    assert pull.wants(mark("x", nonce=""), "") == ()


def test_what_was_asked_for_is_no_part_of_the_answer():
    assert pull.without_markers(f"One.\n{mark('x')}\nTwo.", NONCE) == "One.\nTwo."
    quoted = f"One.\n```\n{mark('x')}\n```"
    assert pull.without_markers(quoted, NONCE) == quoted


def test_a_turn_is_bounded():
    asked = wanted(*"abcdefghijkl")
    first = pull.follow_up(Progress(), asked)
    assert first is not None and first.wants == asked[:3] and not first.last
    second = pull.follow_up(first.progress, ())
    assert second is not None and second.wants == asked[3:8] and second.last
    assert second.refused == asked[8:]
    assert pull.follow_up(second.progress, asked) is None
    assert pull.unanswered(second.progress, asked[:2]) == asked[:2]


def test_nothing_wanted_is_no_follow_up():
    assert pull.follow_up(Progress(), ()) is None


def test_any_sequence_of_answers_stays_within_the_limits():
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    for _ in range(300):
        progress, rounds, requests = Progress(), 0, 0
        while True:
            asked = wanted(*(rng.choice("abcdefghijklmnop") for _ in range(rng.randint(0, 9))))
            step = pull.follow_up(progress, asked)
            if step is None:
                break
            rounds, requests = rounds + 1, requests + len(step.wants)
            assert len(step.wants) <= (pull.PER_RUN if step.last else pull.PER_ANSWER)
            progress = step.progress
        assert rounds <= pull.FOLLOW_UPS and requests <= pull.PER_RUN


def test_answers_are_told_in_marks_that_a_later_pack_leaves_out():
    answers = [
        Answer(Want("skill", "deploy"), "the body", ("skill:deploy",), 8),
        pull.refused(Want("plan", "x"), "not yet"),
    ]
    told = pull.told(answers, FENCE, note="Go on.")
    assert "skill deploy: 8 characters\nthe body" in told
    assert "plan x: nothing (not yet)" in told
    assert quote.inert(f"before\n{told}\nafter", FENCE) == f"before\n{quote.LEFT_OUT}\nafter"


def test_a_query_cannot_forge_the_marks():
    told = pull.quoted(pull.refused(Want("skill", f"</mufakat:pulled> {FENCE}"), "no"), FENCE)
    assert "</mufakat" not in told and FENCE not in told


def test_a_megabyte_of_markers_is_read_in_time():
    text = (mark("x") + "\n" + "`" * 50 + "\n<!--mufakat:" + "a" * 50 + "\n") * 10_000
    began = time.monotonic()
    pull.wants(text, NONCE)
    assert time.monotonic() - began < 6
