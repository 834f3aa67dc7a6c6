"""Section `project`: where the agent is."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import quote, text
from mufakat.core.pack.facts import Facts, ProjectFacts
from mufakat.core.pack.item import Item, Resolution, Trust


def render(facts: Facts) -> Sequence[Item]:
    """One item: name, path, stack, git, conventions, and every source that could not be had."""
    lines = _lines(facts.project)
    lines += [f"unavailable: {gap.source}: {gap.why}" for gap in facts.unavailable]
    body = "\n".join(text.one_line(quote.inert(line, facts.history.fence), 400) for line in lines)
    return [Item("project", facts.project.path, Trust.PROJECT, ((Resolution.FULL, body),))]


def _lines(project: ProjectFacts) -> list[str]:
    lines = [f"project: {project.name}", f"path: {project.path}"]
    if project.summary:
        lines.append(f"about (from its README): {text.one_line(project.summary, 240)}")
    if project.stack:
        lines.append(f"stack: {', '.join(project.stack)}")
    if project.branch:
        # The commit and the number of changed files move every turn and would end the prefix
        # that consecutive packs share; an agent asks git for them.
        lines.append(f"git branch: {project.branch}")
    if project.conventions:
        lines.append(f"conventions: read {', '.join(project.conventions)}")
    return lines
