"""The block that each seat ends with: one schema is its prompt text, its parser, its validator."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mufakat.core import text

MARK = "position"
"""Info string of the fenced block."""
CLAIM_CHARS, WHY_CHARS, STANCE_CHARS = 400, 300, 160
MOST_CLAIMS, MOST_IDS = 8, 64
BLOCK_CHARS = 40_000
DEEPEST = 8
CLAIM = r"[A-H][1-9]\d{0,2}"
DECISION = r"d:[1-9]\d{0,8}"
_ID = re.compile(f"{CLAIM}|{DECISION}")
_FENCED = re.compile(
    r"^(?P<fence>`{3,8})[ \t]*(?P<mark>position|json)[ \t]*\n(?P<body>.*?)^(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the block."""

    name: str
    kind: str
    """`line`, `claims`, `ids` or `votes`."""
    about: str


FIELDS = (
    Field("stance", "line", f"where you stand, one line of at most {STANCE_CHARS} characters"),
    Field(
        "claims",
        "claims",
        f"what you say anew, at most {MOST_CLAIMS}: an id of your own letter and a number that "
        f"is not in use, and one sentence of at most {CLAIM_CHARS} characters",
    ),
    Field("agree", "ids", "ids of claims that you hold to be right"),
    Field("open", "votes", "ids of claims that cannot be settled yet, each with what is missing"),
    Field("dissent", "votes", "ids of claims that you hold to be wrong, each with the reason"),
)
REQUIRED = "stance"


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence that a seat stands for."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Vote:
    """A seat's word on a claim; reopening what is settled needs the reason."""

    id: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Position:
    """What a seat came to in a round."""

    stance: str
    claims: tuple[Claim, ...] = ()
    agree: tuple[str, ...] = ()
    open: tuple[Vote, ...] = ()
    dissent: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a block could not be taken, and the line of the answer where."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Known:
    """What a block is checked against: the seat's letter, and what there is to vote on."""

    letter: str
    claims: Mapping[str, str]
    """Text of every claim and decision that the seat was told, or made, by id."""
    settled: frozenset[str] = frozenset()
    """Of these, what is agreed: it is reopened with a reason only."""


def prompt(letter: str) -> str:
    """What an agent is told about the block."""
    lines = [f"- `{field.name}`: {field.about}" for field in FIELDS]
    example = {
        "stance": "for, if the schema is kept",
        "claims": [{"id": f"{letter}1", "text": "One database is enough for ten users."}],
        "agree": [],
        "open": [{"id": "B1", "why": "nobody has measured it"}],
        "dissent": [{"id": "C2", "why": "src/app.py:40 does the opposite"}],
    }
    return "\n".join(
        [
            "End your answer with one block of this form; only the last one counts:",
            f"```{MARK}",
            json.dumps(example, ensure_ascii=False),
            "```",
            *lines,
        ]
    )


def schema() -> dict[str, Any]:
    """The block as JSON Schema, for engines that take a function's definition."""
    id = {"type": "string", "pattern": f"^({CLAIM}|{DECISION})$"}
    claim = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": f"^{CLAIM}$"},
            "text": {"type": "string", "maxLength": CLAIM_CHARS},
        },
        "required": ["text"],
    }
    vote = {
        "type": "object",
        "properties": {"id": id, "why": {"type": "string", "maxLength": WHY_CHARS}},
        "required": ["id"],
    }
    of = {
        "line": {"type": "string", "maxLength": STANCE_CHARS},
        "claims": {"type": "array", "items": claim, "maxItems": MOST_CLAIMS},
        "ids": {"type": "array", "items": id, "maxItems": MOST_IDS},
        "votes": {"type": "array", "items": vote, "maxItems": MOST_IDS},
    }
    return {
        "type": "object",
        "properties": {one.name: {**of[one.kind], "description": one.about} for one in FIELDS},
        "required": [REQUIRED],
        "additionalProperties": False,
    }


def parse(answer: str, known: Known) -> Position | Problem:
    """Read the last block of an answer, and check it against what the seat may say."""
    found = _block(answer)
    if found is None:
        last = answer.rstrip().count("\n") + 1
        return Problem(last, f"the answer does not end with a ```{MARK} block")
    body, first = found
    if len(body) > BLOCK_CHARS or _depth(body) > DEEPEST:
        return Problem(first, "the block is too large")
    try:
        data = json.loads(body, parse_constant=str)
    except json.JSONDecodeError as error:
        return Problem(first + error.lineno - 1, f"this is no JSON: {error.msg}")
    except (ValueError, RecursionError):
        return Problem(first, "this is no JSON")
    try:
        return _position(data, known)
    except _Faulty as fault:
        return Problem(first + _line_of(body, fault.near), fault.why)


def without_block(answer: str) -> str:
    """An answer's words alone."""
    found = _last(answer)
    if found is None:
        return answer.strip()
    return (answer[: found.start()] + answer[found.end() :]).strip()


def mapped(position: Position, change: Callable[[str], str]) -> Position:
    """A position with every text of it changed."""
    return Position(
        change(position.stance),
        tuple(Claim(one.id, change(one.text)) for one in position.claims),
        position.agree,
        tuple(Vote(one.id, change(one.why)) for one in position.open),
        tuple(Vote(one.id, change(one.why)) for one in position.dissent),
    )


def to_json(position: Position) -> dict[str, Any]:
    """Plain data, as `parse` reads it."""
    return {
        "stance": position.stance,
        "claims": [{"id": one.id, "text": one.text} for one in position.claims],
        "agree": list(position.agree),
        "open": [{"id": one.id, "why": one.why} for one in position.open],
        "dissent": [{"id": one.id, "why": one.why} for one in position.dissent],
    }


def from_json(data: Mapping[str, Any]) -> Position:
    """Read back what `to_json` wrote."""
    return Position(
        data["stance"],
        tuple(Claim(one["id"], one["text"]) for one in data["claims"]),
        tuple(data["agree"]),
        tuple(Vote(one["id"], one["why"]) for one in data["open"]),
        tuple(Vote(one["id"], one["why"]) for one in data["dissent"]),
    )


class _Faulty(Exception):
    def __init__(self, why: str, near: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.near = near


def _last(answer: str) -> re.Match[str] | None:
    blocks = list(_FENCED.finditer(answer.replace("\r\n", "\n")))
    named = [one for one in blocks if one["mark"] == MARK]
    plain = [one for one in blocks if f'"{REQUIRED}"' in one["body"]]
    return next(iter([*named[-1:], *plain[-1:]]), None)


def _block(answer: str) -> tuple[str, int] | None:
    found = _last(answer)
    if found is None:
        return None
    return found["body"], answer.replace("\r\n", "\n").count("\n", 0, found.start("body")) + 1


def _depth(body: str) -> int:
    depth = deepest = 0
    for char in body:
        depth += (char in "[{") - (char in "]}")
        deepest = max(deepest, depth)
    return deepest


def _line_of(body: str, near: str) -> int:
    at = body.find(near) if near else -1
    return body.count("\n", 0, at) if at >= 0 else 0


def _position(data: object, known: Known) -> Position:
    if not isinstance(data, dict):
        raise _Faulty("the block is no JSON object")
    names = [one.name for one in FIELDS]
    for name in data:
        if name not in names:
            raise _Faulty(f"there is no field {name[:40]!r}; there are {', '.join(names)}", name)
    stance = data.get(REQUIRED)
    if not isinstance(stance, str) or not stance.strip():
        raise _Faulty(f"`{REQUIRED}` is missing, or no line of text", REQUIRED)
    claims, again = _claims(data.get("claims", []), known)
    votable = {*known.claims, *(one.id for one in claims)}
    agree = [vote.id for vote in _votes(data.get("agree", []), "agree", votable)]
    position = Position(
        _line(stance, STANCE_CHARS),
        claims,
        tuple(dict.fromkeys([*agree, *again])),
        tuple(_votes(data.get("open", []), "open", votable)),
        tuple(_votes(data.get("dissent", []), "dissent", votable)),
    )
    _check(position, known)
    return position


def _claims(data: object, known: Known) -> tuple[tuple[Claim, ...], list[str]]:
    """New claims, and the ids of those that are said already: saying one again is agreeing."""
    rows = _rows(data, "claims", MOST_CLAIMS)
    said = {_same(words): id for id, words in known.claims.items()}
    taken = {*known.claims, *(row["id"] for row in rows if isinstance(row.get("id"), str))}
    new: dict[str, Claim] = {}
    again: list[str] = []
    for row in rows:
        words = row.get("text")
        if not isinstance(words, str) or not words.strip():
            raise _Faulty("a claim has no `text`", "claims")
        words = _line(words, CLAIM_CHARS)
        id = row.get("id") or _free(known.letter, taken)
        if not isinstance(id, str) or not re.fullmatch(known.letter + r"[1-9]\d{0,2}", id):
            why = f"{str(id)[:20]!r} is no id of yours: write {known.letter} and a number"
            raise _Faulty(why, str(id))
        taken.add(id)
        if _same(words) in said:
            again.append(said[_same(words)])
        elif id in known.claims or id in new:
            raise _Faulty(f"{id} is another claim already; take a new number", id)
        else:
            new[id] = Claim(id, words)
            said[_same(words)] = id
    return tuple(new.values()), again


def _votes(data: object, name: str, votable: Collection[str]) -> list[Vote]:
    votes: dict[str, Vote] = {}
    for row in _rows(data, name, MOST_IDS):
        id, why = row.get("id"), row.get("why", "")
        if not isinstance(id, str) or not _ID.fullmatch(id) or id not in votable:
            raise _Faulty(f"`{name}` names {str(id)[:20]!r}, which is no claim", str(id))
        if not isinstance(why, str):
            raise _Faulty(f"the `why` of {id} is no text", id)
        votes.setdefault(id, Vote(id, _line(why, WHY_CHARS)))
    return list(votes.values())


def _rows(data: object, name: str, most: int) -> Sequence[Mapping[str, Any]]:
    if not isinstance(data, list):
        raise _Faulty(f"`{name}` is no list", name)
    if len(data) > most:
        raise _Faulty(f"`{name}` has {len(data)} entries; at most {most} are taken", name)
    plain = "text" if name == "claims" else "id"
    rows = [{plain: one} if isinstance(one, str) else one for one in data]
    if not all(isinstance(one, dict) for one in rows):
        raise _Faulty(f"`{name}` has an entry that is neither text nor object", name)
    return rows


def _check(position: Position, known: Known) -> None:
    votes = [*position.agree, *(one.id for one in (*position.open, *position.dissent))]
    twice = next((id for id in votes if votes.count(id) > 1), "")
    if twice:
        raise _Faulty(f"{twice} is in two lists; decide for one", twice)
    for vote in (*position.open, *position.dissent):
        if vote.id in known.settled and not vote.why:
            raise _Faulty(f"{vote.id} is agreed; it is reopened with a `why` only", vote.id)


def _line(words: str, limit: int) -> str:
    return text.one_line(text.clean(words), limit)


def _same(words: str) -> str:
    return " ".join(words.casefold().split()).rstrip(".!")


def _free(letter: str, taken: Collection[str]) -> str:
    return next(id for number in range(1, 1_000) if (id := f"{letter}{number}") not in taken)
