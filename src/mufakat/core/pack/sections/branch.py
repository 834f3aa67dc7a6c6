"""Section `branch`: what this conversation inherits from the one it branched off."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import quote, text
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import pull
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item, Resolution, Trust
from mufakat.core.pack.sections import found
from mufakat.core.talk.branch_origin import Inherited, Origin

KIND = "branch"
SOURCE = "branch"
TITLE_CHARS = 60


def render(facts: Facts) -> Sequence[Item]:
    """Where it came from, then what was said there up to the checkpoint, the newest first."""
    origin = facts.origin
    if origin is None:
        return ()
    fence = facts.history.fence
    return [_intro(origin, fence), *(_item(one, fence) for one in origin.said)]


def _intro(origin: Origin, fence: str) -> Item:
    title = text.one_line(quote.inert(origin.title, fence), TITLE_CHARS)
    place = f"{origin.parent}/m:{origin.number}"
    short = f"A branch from {place}; what came later there is not told."
    full = (
        f"{short} It is “{title}”; below, newest first, what was said up to then. "
        f"More: pull message {origin.parent}/m:NUMBER."
    )
    forms = ((Resolution.FULL, full), (Resolution.REFERENCE, short))
    return Item(f"branch:{origin.parent}", "platform", Trust.PLATFORM, forms)


def _item(one: Inherited, fence: str) -> Item:
    said = one.message
    id = id_of(said.conversation, said.number)
    body = said.text
    if not said.whole:
        note = f"… {said.chars:,} characters in all; the middle is left out …"
        body = text.head_and_tail(body, len(body) - 1, note=note)
    label = f" {text.one_line(said.label, 160)}" if said.label else ""
    return found.item(
        Found(
            id=id,
            source=SOURCE,
            head=f"{id} {said.speaker}{label}",
            text=body,
            author=said.speaker,
            key=pull.key(pull.Kind.MESSAGE, id),
            worth=one.worth,
            why="said before the branch",
        ),
        fence,
    )


def id_of(conversation: str, number: int) -> str:
    """The id of an inherited message: never that of a message of the branch itself."""
    return f"{conversation}/m:{number}"
