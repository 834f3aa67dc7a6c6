"""What a caller asks for: one request to one agent."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from mufakat.core.base import DoesNotFit, InvalidInput, TooLarge
from mufakat.core.pack import mode as modes
from mufakat.core.pack.budget import Impossible
from mufakat.core.pack.sections import table

PROMPT_CHARS = 1_000_000
MIN_BUDGET, MAX_BUDGET = 500, 2_000_000
SERVER = "server"
"""Where a kept request says who runs it; no field of Ask has that name."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request; empty fields take their defaults from the conversation or the settings."""

    prompt: str
    project: str
    """Absolute path of the folder."""
    conversation: str = ""
    """Id or unique prefix; empty starts a new one."""
    engine: str = ""
    model: str = ""
    role: str = "general"
    persona: str = ""
    mode: str = ""
    budget: int = 0
    """Characters; 0 takes the setting."""
    fresh: bool = False
    """Do not resume the engine's session."""
    mute: tuple[str, ...] = ()
    """Section kinds to leave out."""
    table: str = ""
    """Roundtable at which a seat is asked; its own job starts and follows such turns."""


def validate(ask: Ask) -> None:
    """Refuse what can never work, each with the fix; raises InvalidInput."""
    if not ask.prompt.strip():
        raise InvalidInput("The prompt is empty.", fix='Say what you want: mufakat ask "…"')
    if len(ask.prompt) > PROMPT_CHARS:
        raise TooLarge(
            f"The prompt has {len(ask.prompt):,} characters; at most {PROMPT_CHARS:,} are taken.",
            fix="Put the text into a file of the project and name the file in the prompt.",
        )
    if ask.mode and modes.parse(ask.mode) is None:
        raise InvalidInput(f"There is no mode {ask.mode!r}.", fix="Use lite, standard or full.")
    if ask.budget and not MIN_BUDGET <= ask.budget <= MAX_BUDGET:
        raise InvalidInput(
            f"A budget of {ask.budget:,} characters is out of range.",
            fix=f"Give {MIN_BUDGET:,} to {MAX_BUDGET:,} characters, or leave it out.",
        )
    unknown = sorted(set(ask.mute) - table.MUTABLE)
    if unknown:
        raise InvalidInput(
            f"These sections cannot be left out: {', '.join(unknown)}.",
            fix=f"Choose among: {', '.join(sorted(table.MUTABLE))}.",
        )


def folder(path: str) -> Path:
    """Resolve the project's folder; raises InvalidInput where it cannot be worked in."""
    try:
        place = Path(path).expanduser()
    except RuntimeError as problem:
        raise InvalidInput(f"{path!r} names no user.", fix="Give the whole path.") from problem
    if not place.is_absolute():
        raise InvalidInput(f"{path!r} is not an absolute path.", fix="Give the whole path.")
    try:
        place = place.resolve(strict=True)
        if not place.is_dir():
            raise InvalidInput(f"{path} is not a folder.", fix="Name the project's folder.")
        next(place.iterdir(), None)
    except (OSError, RuntimeError) as problem:
        # A loop of links is a RuntimeError before Python 3.13.
        why = getattr(problem, "strerror", None) or "its links go in a circle"
        raise InvalidInput(
            f"The project folder {path} cannot be read: {why}.",
            fix="Check the path and its permissions.",
        ) from problem
    return place


def itemise(refusal: Impossible) -> DoesNotFit:
    """Say which fixed parts exceed the budget, and by how much."""
    sizes = ", ".join(f"{name} {size:,}" for name, size in refusal.sizes)
    return DoesNotFit(
        f"The parts that may not be cut need {refusal.needed:,} characters, "
        f"the budget is {refusal.budget:,}: {sizes}.",
        fix=f"Give a budget of at least {refusal.needed:,}, or shorten the largest part.",
        sizes=dict(refusal.sizes),
        needed=refusal.needed,
        budget=refusal.budget,
    )


def to_json(ask: Ask, *, server: str) -> str:
    """Keep a request with its turn; `server` names whose turn it is."""
    return json.dumps(asdict(ask) | {"prompt": "", SERVER: server}, sort_keys=True)


def taken_over(text: str, *, server: str) -> str:
    """A kept request as `server` asks it again."""
    return json.dumps(json.loads(text) | {SERVER: server}, sort_keys=True)


def server_of(text: str) -> str:
    """Who runs a kept request; empty where it was kept before there could be several servers."""
    return str(json.loads(text).get(SERVER, ""))


def table_of(text: str) -> str:
    """The roundtable of a kept request; empty for any other."""
    return str(json.loads(text).get("table", ""))


def from_json(text: str, prompt: str) -> Ask:
    """Read a kept request back; the prompt comes from its message."""
    data = json.loads(text)
    data.pop(SERVER, None)
    return Ask(**data | {"prompt": prompt, "mute": tuple(data["mute"])})
