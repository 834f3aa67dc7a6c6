"""History injection: what an agent should know now that it did not know before, as one text.

The same news and the same budget give the same characters, whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from mufakat.core import quote, text
from mufakat.core.base import ConversationId, Revision
from mufakat.core.coordination import quoting
from mufakat.core.coordination.inbox import Letter, Status
from mufakat.core.coordination.news import News
from mufakat.core.talk.message import Message

TOOL_BUDGET = 1_500
PROMPT_BUDGET = 8_000
"""Characters."""
TAIL_CHARS = 130
"""Kept free for the counts of what is left out."""
SAID_CHARS = 600
"""Of one message of a thread; letters are told whole where there is room."""
LAST_CHARS = 160


@dataclass(frozen=True, slots=True)
class Digest:
    """The text, empty where nothing is new, and what it showed."""

    text: str
    shown: tuple[int, ...] = ()
    """Inbox numbers of the letters that are in it whole."""
    cursors: tuple[tuple[ConversationId, int], ...] = ()
    """Up to which message each thread has been told."""
    left_out: int = 0
    begun: tuple[int, ...] = ()
    """Inbox numbers of letters of which it tells the beginning; they stay unread."""
    revision: Revision = Revision(0)
    """What a later digest is new since."""


@dataclass(slots=True)
class Page:
    """A text that grows within its budget."""

    left: int
    parts: list[str] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)
    threads: set[ConversationId] = field(default_factory=set)
    missed: dict[str, int] = field(default_factory=dict)

    def add(self, line: str) -> bool:
        """Append a line where there is room for all of it."""
        if len(line) > self.left:
            return False
        self.parts.append(line)
        self.left -= len(line)
        return True

    def miss(self, what: str, count: int = 1) -> None:
        """Count something that is left out."""
        if count:
            self.missed[what] = self.missed.get(what, 0) + count


def render(news: News, *, budget: int) -> Digest:
    """Tell the news in at most `budget` characters; nothing new gives no text at all."""
    if not _anything(news):
        return Digest("", cursors=tuple(news.heads), revision=news.revision)
    head = f"What is new for you, by Mufakat. {quoting.rule(news.fence)}"
    page = Page(budget - len(head) - TAIL_CHARS)
    for tell in PARTS:
        tell(page, news)
    page.miss("unread messages", news.more_unread)
    page.miss("older messages", news.older)
    if not page.parts:
        short = text.one_line(f"Mufakat: {_counts(page) or 'news'}", max(0, budget))
        return Digest(short if budget > 1 else "", left_out=_left_out(page))
    counts = _counts(page)
    tail = f"{news.fence} left out: {counts}\n" if counts else ""
    body = "".join([head, *page.parts, text.cut(tail, TAIL_CHARS)]).rstrip("\n")
    return Digest(
        body,
        shown=tuple(page.shown),
        begun=tuple(page.begun),
        cursors=_cursors(page, news),
        left_out=_left_out(page),
        revision=news.revision,
    )


def _anything(news: News) -> bool:
    """Whether there is news; what was told before is none, except when all is to be told."""
    unread = any(not _begun(one, news) for one in news.unread)
    told = (news.said, news.last_words, news.decisions, news.leases, news.notices)
    states = any(one.identity in news.waits_for for one in news.agents)
    again = bool(news.open_requests or news.unread) and not news.since
    return unread or states or any(told) or again


def _begun(one: Letter, news: News) -> bool:
    delivery = one.delivery
    waits = delivery.status is Status.QUEUED
    return waits and bool(news.epoch) and delivery.offered_to == news.epoch


def _unread(page: Page, news: News) -> None:
    for index, one in enumerate(news.unread):
        if not _letter(page, one, news):
            # Later ones wait too, so that nobody reads an answer before its question.
            page.miss("unread messages", len(news.unread) - index)
            return


def _letter(page: Page, one: Letter, news: News) -> bool:
    quoted = quoting.letter(one, news.fence, room=page.left, size=quoting.Chars)
    if quoted is None or (not quoted.whole and _begun(one, news)):
        return False
    page.add(quoted.text)
    (page.shown if quoted.whole else page.begun).append(one.delivery.number)
    return quoted.whole


def _said(page: Page, news: News) -> None:
    _messages(page, news, news.said, SAID_CHARS)


def _last_words(page: Page, news: News) -> None:
    told = {said.id for said in news.said}
    rest = [said for said in news.last_words if said.id not in told]
    _messages(page, news, rest, LAST_CHARS)


def _messages(page: Page, news: News, said: Sequence[Message], limit: int) -> None:
    """Newest first, so that what is left out is what is oldest."""
    for index, one in enumerate(said):
        head = f"{news.fence} {one.conversation} m:{one.number} {one.speaker}\n"
        body = quote.inert(one.text, news.fence).strip("\n")
        if one.chars > limit or len(body) > limit:
            body = text.one_line(body, limit - 40) + f" [{one.chars:,} characters]"
        if not page.add(f"{head}{body}\n"):
            page.miss("messages of your threads", len(said) - index)
            return
        page.threads.add(one.conversation)


def _decisions(page: Page, news: News) -> None:
    for one in news.decisions:
        told = f"decision of {one.envelope.sender}", quoting.gist(one, news.fence)
        _line(page, news, told, what="decisions")


def _states(page: Page, news: News) -> None:
    for one in news.agents:
        if one.identity in news.waits_for:
            _line(page, news, quoting.state(one, news.fence), what="states")


def _leases(page: Page, news: News) -> None:
    for one in news.leases:
        _line(page, news, quoting.lease(one, news.fence), what="leases")


def _notices(page: Page, news: News) -> None:
    for one in news.notices:
        _line(page, news, quoting.notice(one, news.fence), what="notices")


def _requests(page: Page, news: News) -> None:
    for one in news.open_requests:
        number, envelope = one.delivery.number, one.envelope
        ours = f"still open: inbox {number}, {envelope.intent} from {envelope.sender}"
        _line(page, news, (ours, quoting.gist(one, news.fence, 100)), what="open requests")


def _line(page: Page, news: News, told: tuple[str, str], *, what: str) -> None:
    """Our words on a line of ours, those of others below it."""
    ours, theirs = told
    if not page.add(f"{news.fence} {ours}\n" + (f"{theirs}\n" if theirs else "")):
        page.miss(what)


PARTS: tuple[Callable[[Page, News], None], ...] = (
    _unread,
    _said,
    _last_words,
    _decisions,
    _states,
    _leases,
    _notices,
    _requests,
)
"""In order of their worth: the budget is spent from the first to the last."""


def _cursors(page: Page, news: News) -> tuple[tuple[ConversationId, int], ...]:
    """Threads of which something was told, and those that had nothing to tell."""
    speaking = {one.conversation for one in (*news.said, *news.last_words)}
    told = page.threads | ({head for head, _ in news.heads} - speaking)
    return tuple((thread, number) for thread, number in news.heads if thread in told)


def _counted(page: Page) -> Iterator[str]:
    for what, count in page.missed.items():
        yield f"{what} {count:,}"


def _counts(page: Page) -> str:
    return text.one_line(", ".join(_counted(page)), TAIL_CHARS - 36)


def _left_out(page: Page) -> int:
    return sum(page.missed.values())
