"""Pulling: an agent asks for what its pack only names; the words, whichever way it asks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from mufakat.core import quote, text

QUERY_CHARS = 400
PER_ANSWER, FOLLOW_UPS, PER_RUN = 3, 2, 8
"""Requests by marker: of one answer, times that a turn is asked again, and in a whole run."""
KIND = "pulled"
"""Of the section that tells answers, so that packs made later know them for what they are."""
NONCE = r"[0-9a-f]{16}"
BLANKS = 40
"""Blanks that may stand behind a marker."""
LINE_CHARS = 1_000
"""Of a line no more is looked at, and no marker is as long."""
_MARKER = re.compile(
    rf"<!--mufakat:({NONCE}):([a-z]{{1,16}})(?:\.([a-z]{{1,8}}))?:"
    rf"([^\n]{{1,{QUERY_CHARS}}}?)-->[ \t]{{0,{BLANKS}}}"
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Kind(StrEnum):
    """What can be asked for."""

    SKILL = "skill"
    MEMORY = "memory"
    RECALL = "recall"
    SESSION = "session"
    DOCS = "docs"
    CODE = "code"
    GRAPH = "graph"
    PLAN = "plan"
    ARTIFACT = "artifact"
    MESSAGE = "message"
    SLICE = "slice"


class Form(StrEnum):
    """How much of it, from whether there is anything to all of it."""

    PROBE = "probe"
    SLICE = "slice"
    FULL = "full"


CHARS: Mapping[Form, int] = MappingProxyType(
    {Form.PROBE: 800, Form.SLICE: 4_000, Form.FULL: 20_000}
)
"""Most characters of an answer."""
SECTIONS: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.SKILL: "skills",
        Kind.MEMORY: "memory",
        Kind.RECALL: "retrieval",
        Kind.MESSAGE: "retrieval",
        Kind.SESSION: "linked-sessions",
        Kind.DOCS: "docs",
        Kind.CODE: "code",
        Kind.SLICE: "code",
        Kind.GRAPH: "graph",
    }
)
"""Section of a pack that would have told it."""


@dataclass(frozen=True, slots=True)
class Want:
    """One request for more; `kind` as it was written, which may be none that there is."""

    kind: str
    query: str
    form: Form = Form.SLICE


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request came to."""

    want: Want
    text: str = ""
    """Quoted; empty where there is nothing."""
    ids: tuple[str, ...] = ()
    """Of what it tells, in order."""
    whole: int = 0
    """Characters of all that there is."""
    why: str = ""
    """Why there is nothing, or not all of it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a turn has come with the requests in its answers."""

    follow_ups: int = 0
    requests: int = 0
    waiting: tuple[Want, ...] = ()
    """Wanted beyond what one answer may ask for."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What the agent is asked again with."""

    wants: tuple[Want, ...]
    progress: Progress
    refused: tuple[Want, ...] = ()
    """Requests above the limits, which are not answered."""

    @property
    def last(self) -> bool:
        """Whether no further request of this turn is answered."""
        return self.progress.follow_ups >= FOLLOW_UPS or self.progress.requests >= PER_RUN


class Reading:
    """Reads an answer line by line: which of them are markers that count."""

    __slots__ = ("_fence", "_head", "_nonce")

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._head = f"<!--mufakat:{nonce}:"
        self._fence = ""

    def counts(self, line: str) -> bool:
        """Whether the next line, without its end, is a marker that counts."""
        seen = line[: LINE_CHARS + 1]
        mark = _FENCE.match(seen)
        if mark and not self._fence:
            self._fence = mark[1]
        elif mark and mark[1].startswith(self._fence) and not mark[2].strip():
            self._fence = ""
        if self._fence or not self._nonce or not seen.startswith(self._head):
            return False
        found = _MARKER.fullmatch(seen)
        return found is not None and bool(found[4].strip())

    def may_count(self, beginning: str) -> bool:
        """Whether a line that begins so may still become a marker that counts."""
        if self._fence or not self._nonce or len(beginning) > LINE_CHARS:
            return False
        return beginning.startswith(self._head[: len(beginning)])


def key(kind: Kind, query: str) -> str:
    """What stands beside something shortened: its kind and what to ask for, in one line."""
    return f"{kind} {query}"


def marker(nonce: str, kind: str, query: str) -> str:
    """The line by which an agent asks for something at the end of its answer."""
    return f"<!--mufakat:{nonce}:{kind}:{query}-->"


def wants(answer: str, nonce: str) -> tuple[Want, ...]:
    """What an agent asks for in its own final text, each once.

    A marker counts on a line of its own, outside of code, with the nonce of the run.
    """
    found = [_want(line) for counts, line in _lines(answer, nonce) if counts]
    return tuple(dict.fromkeys(found))


def without_markers(answer: str, nonce: str) -> str:
    """The answer as people read it: what was asked for in it is no part of it."""
    kept = [line for counts, line in _lines(answer, nonce) if not counts]
    return "\n".join(kept).strip("\n") if len(kept) <= answer.count("\n") else answer


def follow_up(progress: Progress, asked: Sequence[Want]) -> FollowUp | None:
    """What to answer now; None where nothing is wanted, or nothing more is answered.

    The last follow-up pushes all that still waits, as far as the run's limit permits.
    """
    wanted = tuple(dict.fromkeys((*progress.waiting, *asked)))
    left = PER_RUN - progress.requests
    if not wanted or left <= 0 or progress.follow_ups >= FOLLOW_UPS:
        return None
    last = progress.follow_ups + 1 >= FOLLOW_UPS
    now = wanted[: left if last else min(PER_ANSWER, left)]
    rest = wanted[len(now) :]
    after = Progress(progress.follow_ups + 1, progress.requests + len(now), () if last else rest)
    return FollowUp(now, after, rest if last else ())


def unanswered(progress: Progress, asked: Sequence[Want]) -> tuple[Want, ...]:
    """What was asked for in vain, once `follow_up` permits nothing more."""
    return tuple(dict.fromkeys((*progress.waiting, *asked)))


def refused(want: Want, why: str) -> Answer:
    """An answer without anything in it, and the reason."""
    return Answer(want, why=why)


def kind_of(want: Want) -> Kind | None:
    """The kind that is meant; None where there is no such kind."""
    return next((kind for kind in Kind if kind == want.kind), None)


def told(answers: Sequence[Answer], fence: str, *, note: str = "") -> str:
    """Answers as an agent is told them, in marks by which a later pack knows them."""
    parts = [quoted(answer, fence) for answer in answers]
    body = "\n\n".join([*parts, note] if note else parts)
    return quote.open_section(KIND) + body + quote.close_section(KIND)


def quoted(answer: Answer, fence: str) -> str:
    """One answer under a line that names what was asked for."""
    asked = text.one_line(quote.inert(answer.want.query, fence), QUERY_CHARS)
    kind = text.one_line(quote.inert(answer.want.kind, fence), 20)
    why = f" ({text.one_line(answer.why, 300)})" if answer.why else ""
    line = f"{kind} {asked}: {f'{answer.whole:,} characters' if answer.text else 'nothing'}{why}"
    return f"{line}\n{answer.text}" if answer.text else line


def _want(line: str) -> Want:
    found = _MARKER.fullmatch(line)
    assert found is not None
    form = next((one for one in Form if one == found[3]), Form.SLICE)
    return Want(found[2], found[4].strip(), form)


def _lines(answer: str, nonce: str) -> list[tuple[bool, str]]:
    """Every line, and whether it is a marker that counts."""
    reading = Reading(nonce)
    return [(reading.counts(line), line) for line in answer.split("\n")]
