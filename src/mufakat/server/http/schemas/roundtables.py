"""The shapes of roundtables."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mufakat.core.deliberation import caps, roundtable, seat
from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body, MaybeId, Name, Whole
from mufakat.services.deliberation import opening

Cap = Annotated[float, Field(gt=0, le=2**53, allow_inf_nan=False)]


class NewSeat(Body):
    """Who sits there."""

    engine: Annotated[str, Field(min_length=1, max_length=32)]
    model: Name = ""
    stance: Annotated[str, Field(max_length=seat.STANCE_CHARS)] = ""
    """A side that it is asked to argue for; empty leaves it free."""


class NewCaps(Body):
    """The most that a table may use; null for no cap."""

    chars: Annotated[int, Field(gt=0, le=2**53)] | None = caps.CHARS
    tokens: Annotated[int, Field(gt=0, le=2**53)] | None = None
    cost: Cap | None = None
    """US dollars."""
    seconds: Cap | None = caps.SECONDS


class NewRoundtable(Body):
    """A question, and who is to deliberate on it."""

    question: str
    project: Annotated[str, Field(min_length=1, max_length=4096)]
    """Absolute path of the project's folder."""
    seats: Annotated[list[NewSeat], Field(min_length=seat.LEAST, max_length=seat.MOST)]
    conversation: MaybeId = ""
    """Id or unique prefix; empty starts a new one."""
    rounds: Annotated[int, Field(ge=1, le=roundtable.MOST_ROUNDS)] = 2
    order: Literal["deliberative", "sequential"] = "deliberative"
    blind: bool = True
    """Nobody hears anybody in the first round."""
    anonymous: bool = True
    """Peers are told as letters."""
    role: Name = opening.ROLE
    budget: Annotated[int, Field(ge=0, le=2_000_000)] = opening.BUDGET
    """Characters of a seat's pack; 0 takes the setting."""
    caps: NewCaps = Field(default_factory=NewCaps)


class Pause(Body):
    """Why it is paused."""

    why: Annotated[str, Field(max_length=300)] = "a person asked for it"


class Say(Body):
    """What a person says to the table."""

    text: Annotated[str, Field(min_length=1, max_length=1_000_000)]


class Drop(Body):
    """The seat that is taken off the table."""

    seat: Annotated[str, Field(pattern="^[A-Ha-h]$")]
    why: Annotated[str, Field(max_length=300)] = "a person asked for it"


class More(Body):
    """Rounds to add, and other caps where the old ones are used up."""

    rounds: Annotated[int, Field(ge=1, le=roundtable.MOST_ROUNDS)] = 1
    caps: NewCaps | None = None


class Estimated(Answer):
    """One seat in one round."""

    round: int
    seat: str
    chars: int
    tokens: int
    """In and out."""
    variant: str
    """`standard`, or `lite` for a model with a small window."""


class Preflight(Answer):
    """What a table would take; nothing is stored or asked."""

    rows: list[Estimated]
    chars: int
    tokens: int
    naive: int
    """Characters of whole packs for everybody in every round."""
    warning: str


class Caps(Answer):
    """The most that a table may use."""

    chars: int | None
    tokens: int | None
    cost: float | None
    seconds: float | None


class Spent(Answer):
    """What it used."""

    chars: int
    tokens: int
    cost: float | None
    seconds: float


class Seat(Answer):
    """A seat, and who sits there."""

    label: str
    engine: str
    model: str
    vendor: str
    stance: str
    identity: str
    standing: Literal["active", "dropped"]
    why: str


class Assertion(Answer):
    """One sentence that a seat stands for."""

    id: str
    text: str


class Vote(Answer):
    """A seat's word on a claim."""

    id: str
    why: str


class Position(Answer):
    """What a seat came to in a round."""

    stance: str
    claims: list[Assertion]
    agree: list[str]
    open: list[Vote]
    dissent: list[Vote]


class Word(Answer):
    """What a seat said in a round, and what that took."""

    round: int
    seat: str
    standing: Literal["asked", "stated", "unstated", "missing"]
    position: Position | None
    problem: str
    answer: str | None
    """Id of its message."""
    turns: list[str]
    chars: int
    tokens: int
    cost: float | None


class Against(Answer):
    """A seat that does not agree."""

    seat: str
    outcome: str
    why: str


class Point(Answer):
    """A claim, and who stands where."""

    id: str
    text: str
    author: str
    outcome: Literal["agreed", "open", "dissent"]
    agree: list[str]
    against: list[Against]
    silent: list[str]


class Reopening(Answer):
    """Something settled that was questioned."""

    id: str
    seat: str
    round: int
    why: str


class Objection(Answer):
    """An agent that did not agree."""

    identity: str
    outcome: str
    why: str


class Ruling(Answer):
    """What a table came to on a claim, as later packs tell it."""

    id: str
    claim: str
    text: str
    outcome: Literal["agreed", "open", "dissent"]
    agree: list[str]
    against: list[Objection]
    standing: Literal["stands", "reopened"]
    reason: str


class Summary(Answer):
    """A roundtable in a list."""

    id: str
    conversation: str
    status: Literal["planned", "running", "paused", "done", "stopped", "capped", "failed"]
    why: str
    round: Whole
    rounds: Whole
    order: Literal["deliberative", "sequential"]
    blind: bool
    anonymous: bool
    question: str
    """Id of the question's message."""
    seats: list[Seat]
    caps: Caps
    created: str
    updated: str


class Roundtable(Summary):
    """A roundtable with all that was said at it."""

    words: list[Word]
    points: list[Point]
    unstated: list[str]
    withdrawn: list[str]
    reopened: list[Reopening]
    refused: list[Reopening]
    """Votes on something settled that gave no reason."""
    decisions: list[Ruling]
    spent: Spent
    warning: str
