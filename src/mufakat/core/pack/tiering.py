"""Adaptive tiering: what is pushed into a pack and what waits to be pulled, learnt from use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

LEAST_REQUESTS = 20
"""Before these nothing changes, nor within as many after a change."""
MARGIN = 0.2
"""Pushing and pulling must differ by so much before one takes the other's place."""
ROUND_CHARS = 2_000
"""What a pull costs beside its answer, in characters: the model is asked once more."""
RUN_WORDS = 8
HALF = 200
"""Requests after which all counts are halved, so that a project's habits may change."""
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[\w./:#@-]*\w", re.ASCII)
_LETTER = re.compile(r"[^\W\d_]")
_LINES = re.compile(r":\d+(?:-\d+)?$")
_MESSAGE = re.compile(r"(?:^|:)m:\d+$")
LEAST_NAME = 4
NEW_LINE = "\n"


@dataclass(frozen=True, slots=True)
class Use:
    """What a project made of one section since it was last decided; sizes in characters."""

    kind: str
    push: bool
    requests: int = 0
    """Turns for which the section had something, or which pulled it."""
    pushed: int = 0
    used: int = 0
    """Of those that were pushed: the answer, or a tool call, named something of it."""
    pulled: int = 0
    """Turns that pulled it at least once."""
    pushed_chars: int = 0
    pulled_chars: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """What a project's use says about one section."""

    kind: str
    push: bool
    why: str
    """The numbers behind it, for the receipt."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one turn made of one section."""

    kind: str
    push: bool
    """Whether its table or its use had it pushed."""
    used: bool = False
    pulled: bool = False
    pushed_chars: int = 0
    pulled_chars: int = 0


def decide(use: Use) -> Decision:
    """Push where P(use) x cost of a pull > cost of pushing; else leave it to be pulled."""
    if use.requests < LEAST_REQUESTS:
        return Decision(use.kind, use.push, f"{use.requests} of {LEAST_REQUESTS} requests seen")
    chance, push_cost, pull_cost = _costs(use)
    gain = chance * pull_cost
    push = gain > push_cost * (1 - MARGIN) if use.push else gain > push_cost * (1 + MARGIN)
    sign = ">" if gain > push_cost else "≤"
    why = (
        f"P(use) {chance:.2f} × pull {pull_cost:,.0f} {sign} push {push_cost:,.0f} characters, "
        f"over {use.requests} requests"
    )
    return Decision(use.kind, push, why)


def seen(use: Use, turn: Seen) -> Use:
    """Count a turn; a decision that changes begins to count anew."""
    counted = replace(
        use,
        requests=use.requests + 1,
        pushed=use.pushed + (turn.pushed_chars > 0),
        used=use.used + (turn.used and turn.pushed_chars > 0),
        pulled=use.pulled + turn.pulled,
        pushed_chars=use.pushed_chars + turn.pushed_chars,
        pulled_chars=use.pulled_chars + turn.pulled_chars,
    )
    decision = decide(counted)
    if decision.push != use.push:
        # What one regime costs is known from the other alone; means are kept as one request.
        return Use(use.kind, decision.push, **_means(counted))
    return _halved(counted) if counted.requests >= HALF else counted


def names(text: str, *, id: str, said: str) -> bool:
    """Whether what was said names an item: its path, symbol or id, or 8 words of its text.

    The path and the symbol stand in its id or in its first line.
    """
    heard = frozenset(_NAME.findall(said))
    words = _NAME.findall(f"{id} {text.split(NEW_LINE, 1)[0]}")
    told = {part for word in words for part in _parts(word)}
    return not told.isdisjoint(heard) or not _runs(text).isdisjoint(_runs(said))


def _parts(word: str) -> list[str]:
    """What of a word of an item's name nobody writes by chance: path, file, symbol, id."""
    if _MESSAGE.search(word):
        return [word, "m:" + word.rsplit(":", 1)[-1]]
    bare = _LINES.sub("", word)
    if len(bare) < LEAST_NAME or "@" in bare or not _LETTER.search(bare):
        return []
    telling = any(sign in bare for sign in "/._:#") or bare not in {bare.lower(), bare.capitalize()}
    return [bare, bare.rsplit("/", 1)[-1]] if telling else []


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = [word.lower() for word in _WORD.findall(text)]
    return frozenset(tuple(words[at : at + RUN_WORDS]) for at in range(len(words) - RUN_WORDS + 1))


def _costs(use: Use) -> tuple[float, float, float]:
    """P(use), cost of pushing and cost of a pull, in characters."""
    size = _mean(use.pushed_chars, use.pushed) or _mean(use.pulled_chars, use.pulled)
    answer = _mean(use.pulled_chars, use.pulled) or size
    chance = use.used / use.pushed if use.push and use.pushed else use.pulled / use.requests
    return chance, size, answer + ROUND_CHARS


def _mean(sum: int, count: int) -> float:
    return sum / count if count else 0.0


def _means(use: Use) -> dict[str, int]:
    """The mean sizes as of one turn, so that they are known after a change."""
    size = round(_mean(use.pushed_chars, use.pushed))
    answer = round(_mean(use.pulled_chars, use.pulled))
    return {
        "pushed": int(size > 0),
        "pulled": int(answer > 0),
        "pushed_chars": size,
        "pulled_chars": answer,
    }


def _halved(use: Use) -> Use:
    return replace(
        use,
        requests=use.requests // 2,
        pushed=use.pushed // 2,
        used=use.used // 2,
        pulled=use.pulled // 2,
        pushed_chars=use.pushed_chars // 2,
        pulled_chars=use.pulled_chars // 2,
    )


def learnt(uses: Sequence[Use], *, usual: Mapping[str, bool]) -> tuple[Decision, ...]:
    """Decisions of every section that has been asked about often enough, in order of kinds.

    `usual` says which sections their table pushes; one that was changed stays so while it is
    counted anew.
    """
    return tuple(
        decide(use)
        for use in sorted(uses, key=lambda use: use.kind)
        if use.requests >= LEAST_REQUESTS or use.push != usual.get(use.kind, use.push)
    )
