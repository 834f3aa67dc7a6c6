"""Finding again what was said: brings the index up to date, ranks, and tells turns with context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from mufakat.core.base import ConversationId, InvalidInput, MessageId, NotFound, ProjectId
from mufakat.core.coordination.principal import Principal
from mufakat.core.knowledge import passage, query, turn_ranking
from mufakat.core.knowledge.branch_among import Among
from mufakat.core.knowledge.found import Found
from mufakat.core.knowledge.indexing import IndexedTurn
from mufakat.core.knowledge.query import Question
from mufakat.core.knowledge.turn_ranking import Matches, Ranked
from mufakat.core.pack import pull
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import branch_state, talk
from mufakat.services.knowledge import asking, place
from mufakat.services.knowledge.gathering import Partly, Subject
from mufakat.services.knowledge.indexer import Indexer
from mufakat.services.knowledge.turn_lines import TurnLines
from mufakat.services.knowledge.vectors import ASK_SECONDS, NOT_NEAR, Near, Vectors

LIMIT, CHARS = 10, 8_000
PUSHED_CHARS = 5_000
MOST, MOST_CHARS = 200, 200_000
CATCH_UP_SECONDS = 2.0
"""How long a search waits for the index; what is missing then is said."""
LOADED = 3
"""For each turn that may be told, so many of the ranking are looked at: long ones may not fit."""


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
    bounds: Mapping[ConversationId, int] = field(default_factory=dict)
    """Of conversations that are not told whole: the last message that is; 0 for none."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found; `why` says why there is nothing, or not all."""

    found: tuple[Found, ...]
    why: str = ""
    vectors: str = ""
    """Of `why`, what is about vectors."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, and how near everything is to it where there are vectors."""

    text: str
    near: Near = NOT_NEAR


@dataclass(frozen=True, slots=True)
class _Part:
    """The ranking of one project."""

    question: Question
    matches: Matches
    ranked: Sequence[Ranked]
    known: Mapping[int, IndexedTurn]
    turns: int
    """That the index of the project holds in all."""


class Recall:
    """Searches conversations; the index follows the messages by itself."""

    def __init__(
        self,
        store: Store,
        scrub: Scrub,
        *,
        clock: Callable[[], float],
        vectors: Vectors | None = None,
        push_seconds: float = ASK_SECONDS,
    ) -> None:
        """`clock` answers seconds; only how many pass is looked at.

        Without `vectors` words alone decide; a pack waits for them `push_seconds` at most.
        """
        self._store = store
        self._vectors = vectors
        self._push_seconds = push_seconds
        self._scrub = scrub
        self._indexer = Indexer(store, clock)

    async def search(
        self,
        text: str,
        scope: Scope,
        *,
        limit: int = LIMIT,
        chars: int = CHARS,
        seconds: float = ASK_SECONDS,
    ) -> Recalled:
        """The turns that answer a question, best first, with those beside them.

        At most `limit` turns beside their neighbours and `chars` characters, heads included;
        vectors are waited for `seconds` at most.
        Raises InvalidInput for an empty question or bounds that cannot be, NotFound for a project
        that there is not.
        """
        _check(text, limit, chars)
        left = await self.catch_up(scope.project)
        projects = [scope.project]
        if scope.linked:
            projects += await self._store.read(lambda tx: _projects(tx, scope))
            for project in projects[1:]:
                left += await self.catch_up(project)
        near = await self._near(text, projects, seconds)
        found, why = await self._store.read(
            lambda tx: self._search(tx, _Asked(text, near), scope, limit=limit, chars=chars)
        )
        late = f"{left:,} newer messages are not indexed yet" if left else ""
        whole = "; ".join(part for part in (why, late, near.why) if part)
        return Recalled(tuple(found), whole, near.why)

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
            own = asking.seated(tx, by)
            bounds = branch_state.sight(tx, here.id, own.id if own else None, person=by.operator)
            if not conversation:
                return Scope(here.id, bounds=bounds)
            found = talk.resolve(tx, conversation, project=here.id)
            if found.project != here.id:
                raise NotFound(f"There is no conversation {conversation[:64]} in this project.")
            return Scope(here.id, (found.id,), bounds=bounds)

        return await self.search(text, await self._store.read(query), limit=limit, chars=chars)

    async def pushed(self, subject: Subject) -> Sequence[Found] | Partly:
        """What a pack tells of earlier talk: nothing that its history window holds anyway."""
        scope = await self._store.read(lambda tx: _of_subject(tx, subject, pushed=True))
        if scope is None or not subject.text.strip():
            return []
        answer = await self.search(
            subject.text, scope, limit=LIMIT, chars=PUSHED_CHARS, seconds=self._push_seconds
        )
        return Partly(answer.found, answer.vectors) if answer.vectors else answer.found

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
        asked = _Asked(text, await self._near(text, [scope.project], ASK_SECONDS))
        part = await self._store.read(
            lambda tx: _rank(tx, asked, scope.project, only=scope.conversations)
        )
        return [part.known[one.turn].message for one in part.ranked[:limit]]

    async def catch_up(self, project: ProjectId, *, seconds: float = CATCH_UP_SECONDS) -> int:
        """Index what was said since; answers how many messages are still left over."""
        return await self._indexer.catch_up(project, seconds=seconds)

    async def keep_up(self, project: ProjectId) -> None:
        """Index all that is left over, in small steps beside the work of others."""
        await self._indexer.keep_up(project)

    async def _near(self, text: str, projects: Sequence[ProjectId], seconds: float) -> Near:
        if self._vectors is None:
            return NOT_NEAR
        return await self._vectors.near(text, projects, seconds=seconds)

    def _search(
        self, tx: Transaction, asked: _Asked, scope: Scope, *, limit: int, chars: int
    ) -> tuple[list[Found], str]:
        if tx.projects.get(scope.project) is None:
            raise NotFound(f"There is no project {scope.project}.", fix="List the projects.")
        own = _rank(tx, asked, scope.project, only=scope.conversations, bounds=scope.bounds)
        parts = [own, *_linked(tx, asked, scope)]
        ranked = sorted(
            (one for part in parts for one in part.ranked),
            key=lambda one: (-one.score, -one.turn),
        )
        known = {turn: one for part in parts for turn, one in part.known.items()}
        order = [one.turn for one in ranked[: LOADED * limit]]
        lines = TurnLines(
            tx,
            order,
            known,
            shown=scope.shown,
            bounds=scope.bounds,
            scrub=self._scrub,
            step=limit,
            chars=chars // 2,
        )
        chosen = passage.fill(order, lines, limit=limit, chars=chars)
        top = ranked[0].score if ranked else 1.0
        found = passage.found(
            chosen,
            lines,
            worth={one.turn: max(0.0, min(1.0, one.score / top)) for one in ranked},
            why={turn: _why(parts, turn) for turn in chosen},
        )
        found = [replace(one, key=pull.key(pull.Kind.MESSAGE, one.key)) for one in found]
        return found, _reason(own, found)


def _of_subject(tx: Transaction, subject: Subject, *, pushed: bool) -> Scope | None:
    """Where a turn may look: its project, and what its conversation is linked to."""
    if subject.project is None:
        return None
    here = tx.conversations.get(subject.conversation) if subject.conversation else None
    linked = [one.other for one in tx.links.of(here.id)] if here else []
    shown = {here.id: here.window_start} if here and pushed else {}
    viewer = here.id if here else None
    bounds = branch_state.sight(tx, subject.project, viewer, person=subject.person)
    return Scope(subject.project, linked=tuple(linked), shown=shown, bounds=bounds)


def _among(
    tx: Transaction, only: Sequence[ConversationId], bounds: Mapping[ConversationId, int]
) -> Among | None:
    if not only and not bounds:
        return None
    numbers = tx.recall.ordinals([*only, *bounds])
    limits = {numbers[id]: limit for id, limit in bounds.items() if id in numbers}
    chosen = frozenset(numbers[id] for id in only if id in numbers) if only else None
    return Among(chosen, limits)


def _rank(
    tx: Transaction,
    asked: _Asked,
    project: ProjectId,
    *,
    only: Sequence[ConversationId] = (),
    bounds: Mapping[ConversationId, int] = MappingProxyType({}),
) -> _Part:
    """Rank the turns of one project, or of some of its conversations."""
    within = tx.recall.scope(project)
    question = query.parse(asked.text, within.speakers)
    among = _among(tx, only, bounds)
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
    chosen = dict.fromkeys(turn_ranking.candidates(matches, sizes))
    chosen |= dict.fromkeys(asked.near.candidates(project, among))
    known = tx.recall.turns(list(chosen))
    if among is not None:
        known = {turn: one for turn, one in known.items() if among.finds(turn, one)}
    also = asked.near.added(project, known)
    ranked = turn_ranking.rank(question, matches, known, also=also)
    return _Part(question, matches, ranked, known, within.turns)


def _sizes(
    tx: Transaction, project: ProjectId, question: Question, matches: Matches
) -> dict[int, int]:
    """Turns of the conversations that may be looked at as a whole: by their words, by the date."""
    threads = dict(tx.recall.threads(turn_ranking.sessions(matches)))
    for date in question.dates if matches.window else ():
        begin, end = date.span(tx.now())
        threads |= tx.recall.between(project, begin, end=end, limit=turn_ranking.DATED_SESSIONS)
    return {ordinal: thread.talk for ordinal, thread in threads.items()}


def _linked(tx: Transaction, asked: _Asked, scope: Scope) -> list[_Part]:
    """Rank conversations of other projects, each by the figures of its own project."""
    by_project: dict[ProjectId, list[ConversationId]] = {}
    for id in scope.linked:
        thread = tx.conversations.get(id)
        if thread is not None and (thread.project != scope.project or scope.conversations):
            by_project.setdefault(thread.project, []).append(id)
    return [_rank(tx, asked, project, only=ids) for project, ids in by_project.items()]


def _projects(tx: Transaction, scope: Scope) -> list[ProjectId]:
    threads = [tx.conversations.get(id) for id in scope.linked]
    return sorted({one.project for one in threads if one} - {scope.project})


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
            # Without a word of the question only its meaning can have found it.
            return ", ".join(one for one in (*terms, by, when) if one) or "meaning"
    return "beside"


def _reason(part: _Part, found: Sequence[Found]) -> str:
    question = part.question
    cut = f"only the first {query.MOST_CHARS:,} characters were read" if question.cut else ""
    nothing = ""
    if not found:
        nothing = "nothing that was said has these words, or it does not fit"
        if not part.turns:
            nothing = "nothing was said in this project yet"
        elif question.empty:
            nothing = "the question has only words that are everywhere"
    return "; ".join(part for part in (nothing, cut) if part)
