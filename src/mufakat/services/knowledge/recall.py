"""Finding again what was said: brings the index up to date, ranks, and tells turns with context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mufakat.core import quote
from mufakat.core.base import ConversationId, InvalidInput, MessageId, NotFound, ProjectId
from mufakat.core.coordination.principal import Principal
from mufakat.core.knowledge import indexing, passage, query, turn_ranking
from mufakat.core.knowledge.found import Found
from mufakat.core.knowledge.indexing import Behind, IndexedTurn, Turn
from mufakat.core.knowledge.query import Question
from mufakat.core.knowledge.turn_ranking import Matches, Ranked
from mufakat.core.pack import pull
from mufakat.core.talk.message import Message
from mufakat.ports.recall import IndexScope
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import talk
from mufakat.services.knowledge import place
from mufakat.services.knowledge.gathering import Subject

LIMIT, CHARS = 10, 8_000
PUSHED_CHARS = 5_000
MOST, MOST_CHARS = 200, 200_000
CATCH_UP_SECONDS = 2.0
"""How long a search waits for the index; what is missing then is said."""
BATCH = 250
"""Messages that are indexed in one transaction."""
LOADED = 3
"""For each turn that may be told, so many of the ranking are read: long ones may not fit."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: a project, or some conversations of it, and those linked from elsewhere."""

    project: ProjectId
    conversations: Sequence[ConversationId] = ()
    """Only these of the project; all where none is named."""
    linked: Sequence[ConversationId] = ()
    """Of other projects; who asks must have seen that they are linked."""
    shown: Mapping[ConversationId, int] = field(default_factory=dict)
    """Of conversations that are told anyway: the first message that is."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found; `why` says why there is nothing, or not all."""

    found: tuple[Found, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """The ranking of one project."""

    question: Question
    matches: Matches
    ranked: Sequence[Ranked]
    known: Mapping[int, IndexedTurn]


class Recall:
    """Searches conversations; the index follows the messages by itself."""

    def __init__(self, store: Store, scrub: Scrub, *, clock: Callable[[], float]) -> None:
        """`clock` answers seconds; only how many pass is looked at."""
        self._store = store
        self._scrub = scrub
        self._clock = clock
        self._seen: dict[ProjectId, int] = {}

    async def search(
        self, text: str, scope: Scope, *, limit: int = LIMIT, chars: int = CHARS
    ) -> Recalled:
        """The turns that answer a question, best first, with those beside them.

        At most `limit` turns beside their neighbours and `chars` characters, heads included.
        Raises InvalidInput for an empty question or bounds that cannot be, NotFound for a project
        that there is not.
        """
        _check(text, limit, chars)
        left = await self.catch_up(scope.project)
        for project in await self._store.read(lambda tx: _projects(tx, scope)):
            left += await self.catch_up(project)
        found, why = await self._store.read(
            lambda tx: self._search(tx, text, scope, limit=limit, chars=chars)
        )
        late = f"{left:,} newer messages are not indexed yet" if left else ""
        return Recalled(tuple(found), "; ".join(part for part in (why, late) if part))

    async def ask(
        self,
        by: Principal,
        text: str,
        *,
        project: str = "",
        conversation: str = "",
        limit: int = LIMIT,
        chars: int = CHARS,
    ) -> Recalled:
        """Search for a person or an agent; raises NotAllowed for another's project.

        With a conversation, only it is searched; it may be named by its beginning.
        """

        def query(tx: Transaction) -> Scope:
            here = place.of(tx, by, project)
            if not conversation:
                return Scope(here.id)
            found = talk.resolve(tx, conversation, project=here.id)
            if found.project != here.id:
                raise NotFound(f"There is no conversation {conversation[:64]} in this project.")
            return Scope(here.id, (found.id,))

        return await self.search(text, await self._store.read(query), limit=limit, chars=chars)

    async def pushed(self, subject: Subject) -> Sequence[Found]:
        """What a pack tells of earlier talk: nothing that its history window holds anyway."""
        scope = await self._store.read(lambda tx: _of_subject(tx, subject, pushed=True))
        if scope is None or not subject.text.strip():
            return []
        return (await self.search(subject.text, scope, limit=LIMIT, chars=PUSHED_CHARS)).found

    async def pulled(self, subject: Subject) -> Sequence[Found]:
        """The answers to a pull; raises NotFound with the reason where there are none."""
        scope = await self._store.read(lambda tx: _of_subject(tx, subject, pushed=False))
        if scope is None:
            raise NotFound("Nothing was said in this project yet.", fix="Ask again later.")
        answer = await self.search(subject.text, scope)
        if not answer.found:
            raise NotFound(f"Nothing was found: {answer.why}.", fix="Use other words.")
        return answer.found

    async def ranking(self, text: str, scope: Scope, *, limit: int = LIMIT) -> list[MessageId]:
        """The messages that answer a question, best first, without their texts."""
        _check(text, limit, CHARS)
        await self.catch_up(scope.project)
        part = await self._store.read(
            lambda tx: _rank(tx, text, scope.project, only=scope.conversations)
        )
        return [part.known[one.turn].message for one in part.ranked[:limit]]

    async def catch_up(self, project: ProjectId, *, seconds: float = CATCH_UP_SECONDS) -> int:
        """Index what was said since; answers how many messages are still left over."""
        end = self._clock() + seconds
        head = await self._store.read(lambda tx: tx.events.head())
        if self._seen.get(project) == head:
            return 0
        while True:
            behind, batch = await self._store.read(lambda tx: _next_batch(tx, project))
            if not batch:
                self._seen[project] = head
                return 0
            await self._store.write(lambda tx, batch=batch: _keep(tx, batch))  # type: ignore[misc]
            done = sum(len(turns) for _, turns in batch)
            if self._clock() >= end:
                return behind - done

    def _search(
        self, tx: Transaction, text: str, scope: Scope, *, limit: int, chars: int
    ) -> tuple[list[Found], str]:
        if tx.projects.get(scope.project) is None:
            raise NotFound(f"There is no project {scope.project}.", fix="List the projects.")
        own = _rank(tx, text, scope.project, only=scope.conversations)
        parts = [own, *_linked(tx, text, scope)]
        ranked = sorted(
            (one for part in parts for one in part.ranked),
            key=lambda one: (-one.score, -one.turn),
        )
        known = {turn: one for part in parts for turn, one in part.known.items()}
        lines = self._lines(tx, ranked[: LOADED * limit], known, scope=scope, chars=chars)
        order = [one.turn for one in ranked if one.turn in lines]
        chosen = passage.fill(order, lines, limit=limit, chars=chars)
        top = ranked[0].score if ranked else 1.0
        found = passage.found(
            chosen,
            lines,
            worth={one.turn: max(0.0, min(1.0, one.score / top)) for one in ranked},
            why={turn: _why(parts, turn) for turn in chosen},
        )
        found = [replace(one, key=pull.key(pull.Kind.MESSAGE, one.key)) for one in found]
        return found, _reason(own.question, found, tx.recall.scope(scope.project))

    def _lines(
        self,
        tx: Transaction,
        ranked: Sequence[Ranked],
        known: Mapping[int, IndexedTurn],
        *,
        scope: Scope,
        chars: int,
    ) -> dict[int, passage.Line]:
        """The best turns and those beside them, without what is told anyway."""
        best = [one.turn for one in ranked]
        beside = {turn + step for turn in best for step in (-1, 1)} - set(known)
        rows = {**known, **tx.recall.turns(sorted(beside))}
        wanted = {turn: rows[turn].message for turn in {*best, *_around(best)} if turn in rows}
        said = tx.messages.some(sorted(set(wanted.values())))
        told = {
            turn: said[id]
            for turn, id in wanted.items()
            if id in said and not _shown(said[id], scope)
        }
        homes = {one.conversation for one in told.values()}
        threads = {id: thread for id in homes if (thread := tx.conversations.get(id))}
        titles = {id: self._scrub(thread.title).text for id, thread in threads.items()}
        return {
            turn: passage.line(
                turn,
                one,
                self._scrub(quote.inert(one.text, threads[one.conversation].fence)).text,
                title=titles[one.conversation],
                limit=chars // 2,
            )
            for turn, one in told.items()
        }


def _shown(message: Message, scope: Scope) -> bool:
    first = scope.shown.get(message.conversation)
    return first is not None and message.number >= first


def _of_subject(tx: Transaction, subject: Subject, *, pushed: bool) -> Scope | None:
    """Where a turn may look: its project, and what its conversation is linked to."""
    if subject.project is None:
        return None
    here = tx.conversations.get(subject.conversation) if subject.conversation else None
    linked = [one.other for one in tx.links.of(here.id)] if here else []
    shown = {here.id: here.window_start} if here and pushed else {}
    return Scope(subject.project, linked=tuple(linked), shown=shown)


def _around(turns: Sequence[int]) -> set[int]:
    return {turn + step for turn in turns for step in (-1, 1)}


def _rank(
    tx: Transaction, text: str, project: ProjectId, *, only: Sequence[ConversationId] = ()
) -> _Part:
    """Rank the turns of one project, or of some of its conversations."""
    within = tx.recall.scope(project)
    question = query.parse(text, within.speakers)
    among = frozenset(tx.recall.ordinals(only).values()) if only else None
    entries = tx.recall.entries(project, (*question.terms, *question.grams))
    matches = turn_ranking.match(
        question,
        entries,
        turns=within.turns,
        mean=max(1.0, within.terms / max(1, within.turns)),
        among=among,
    )
    sizes = _sizes(tx, project, question, matches)
    if among is not None:
        sizes = {ordinal: size for ordinal, size in sizes.items() if ordinal in among}
    known = tx.recall.turns(turn_ranking.candidates(matches, sizes))
    return _Part(question, matches, turn_ranking.rank(question, matches, known), known)


def _sizes(
    tx: Transaction, project: ProjectId, question: Question, matches: Matches
) -> dict[int, int]:
    """Turns of the conversations that may be looked at as a whole: by their words, by the date."""
    threads = dict(tx.recall.threads(turn_ranking.sessions(matches)))
    for date in question.dates if matches.window else ():
        begin, end = date.span(tx.now())
        threads |= tx.recall.between(project, begin, end=end, limit=turn_ranking.DATED_SESSIONS)
    return {ordinal: thread.talk for ordinal, thread in threads.items()}


def _linked(tx: Transaction, text: str, scope: Scope) -> list[_Part]:
    """Rank conversations of other projects, each by the figures of its own project."""
    by_project: dict[ProjectId, list[ConversationId]] = {}
    for id in scope.linked:
        thread = tx.conversations.get(id)
        if thread is not None and (thread.project != scope.project or scope.conversations):
            by_project.setdefault(thread.project, []).append(id)
    return [_rank(tx, text, project, only=ids) for project, ids in by_project.items()]


def _projects(tx: Transaction, scope: Scope) -> list[ProjectId]:
    threads = [tx.conversations.get(id) for id in scope.linked]
    return sorted({one.project for one in threads if one} - {scope.project})


def _next_batch(tx: Transaction, project: ProjectId) -> tuple[int, list[tuple[Behind, list[Turn]]]]:
    """How many messages are not indexed, of the conversations at hand, and the next of them."""
    left = BATCH
    batch = []
    behind = tx.recall.behind(project, limit=BATCH)
    for one in behind:
        if left <= 0:
            break
        page = tx.messages.page(one.conversation, after=one.indexed, limit=left)
        batch.append((one, [indexing.turn(message, one.fence) for message in page]))
        left -= len(page)
    return sum(one.messages - one.indexed for one in behind), batch


def _keep(tx: Transaction, batch: Sequence[tuple[Behind, Sequence[Turn]]]) -> None:
    for behind, turns in batch:
        tx.recall.add(behind, turns)


def _check(text: str, limit: int, chars: int) -> None:
    if not text.strip():
        raise InvalidInput("The question is empty.", fix="Say what to look for.")
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"`limit` is not between 1 and {MOST}.", fix="Ask for fewer turns.")
    if not 1 <= chars <= MOST_CHARS:
        raise InvalidInput(
            f"`chars` is not between 1 and {MOST_CHARS:,}.", fix="Ask for fewer characters."
        )


def _why(parts: Sequence[_Part], turn: int) -> str:
    for part in parts:
        if turn in part.known:
            terms = turn_ranking.said(part.matches, turn)[:6]
            by = "speaker" if part.known[turn].speaker in part.question.speakers else ""
            at = part.known[turn].at
            when = "date" if any(date.fits(at) for date in part.question.dates) else ""
            return ", ".join(one for one in (*terms, by, when) if one)
    return "beside"


def _reason(question: Question, found: Sequence[Found], scope: IndexScope) -> str:
    cut = f"only the first {query.MOST_CHARS:,} characters were read" if question.cut else ""
    nothing = ""
    if not found:
        nothing = "nothing that was said has these words, or it does not fit"
        if not scope.turns:
            nothing = "nothing was said in this project yet"
        elif question.empty:
            nothing = "the question has only words that are everywhere"
    return "; ".join(part for part in (nothing, cut) if part)
