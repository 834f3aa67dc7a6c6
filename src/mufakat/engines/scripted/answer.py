"""What the demo says: plainly that it is no model, and what its pack contained."""

from __future__ import annotations

from mufakat.engines.scripted import deliberating
from mufakat.engines.scripted.told import Told

WHO = (
    "I am Mufakat's scripted demo engine, not a model: I cannot think, "
    "I only show what an agent is told."
)
ABOUT_PROJECT = (
    ("what", "project"),
    ("what", "repository"),
    ("what", "repo"),
    ("about", "project"),
)
QUOTE = 200
LINES = 14


def compose(told: Told, *, resumed: bool) -> str:
    """The whole answer; the same delivery gives the same answer."""
    parts = [WHO]
    if asks_about_project(told.prompt):
        parts.append(_project(told))
    parts.append(_summary(told, resumed=resumed))
    speakers = told.speakers()
    if speakers:
        parts.append("Agents named in what I was told: " + ", ".join(speakers) + ".")
    if told.prompt:
        parts.append(f"You said: “{shortened(told.prompt)}”")
    parts.append("Install an agent CLI and choose it with `--engine` to get a real answer.")
    if position := deliberating.block(told):
        parts.append(position)
    return "\n\n".join(parts)


def asks_about_project(prompt: str) -> bool:
    """Whether the question is answered by the project section."""
    words = prompt.lower()
    return any(all(word in words for word in group) for group in ABOUT_PROJECT)


def shortened(text: str, limit: int = QUOTE) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _project(told: Told) -> str:
    lines = [line for line in told.section("project").split("\n") if line.strip()]
    if not lines:
        return "I was told nothing about this project: its section is missing from my pack."
    more = [f"… {len(lines) - LINES} more lines"] if len(lines) > LINES else []
    return "\n".join(["What I was told about this project:", *lines[:LINES], *more])


def _summary(told: Told, *, resumed: bool) -> str:
    if not told.sections:
        return f"My pack had no sections; I was handed {told.chars:,} characters."
    again = " over this session" if resumed else ""
    sizes = [f"- {section.kind}: {section.chars:,} characters" for section in told.sections]
    head = f"I was told {len(sizes)} sections{again}, {told.chars:,} characters in all:"
    return "\n".join([head, *sizes])
