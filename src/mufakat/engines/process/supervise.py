"""Run one command from its start to the end of its last process, whatever it does in between."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from mufakat.engines.process import spawn, stop, stream, support, text
from mufakat.engines.process.command import Command, Ended, Limits, Line, OnLine, Outcome
from mufakat.engines.process.spool import Spool

TAIL = 4 * 1024
_LINES_PER_TURN = 128
_STDERR_LINE = 8 * 1024
_STDERR_PENDING = 64
_LEAST_SLEEP = 0.25
_SETTLE = 0.5


async def run(
    command: Command,
    *,
    limits: Limits,
    cancel: asyncio.Event,
    on_line: OnLine,
    means: support.Support | None = None,
) -> Outcome:
    """Run `command`, hand over its lines one at a time, and leave nothing of it behind.

    While `on_line` is busy the pipe is not read, so that the child has to wait; `cancel` and the
    limits count at any time. An error of `on_line`, or the cancellation of this task, ends the
    whole tree before it is raised. `means` is what the platform offers, unless told otherwise.
    """
    means = means or support.platform_support()
    if cancel.is_set():
        return _never_ran(command, Ended.CANCELLED, "")
    try:
        spool = Spool(command.spool, cap=limits.spool)
    except OSError as error:
        return _never_ran(command, Ended.NOT_STARTED, f"cannot write {command.spool}: {error}")
    try:
        child = spawn.start(command, means)
    except OSError as error:
        spool.close()
        return _never_ran(command, Ended.NOT_STARTED, spawn.reason(command, error.errno or 0))
    except ValueError as error:
        spool.close()
        return _never_ran(command, Ended.NOT_STARTED, f"{command.argv[:1]}: {error}")
    supervised = _Run(command, limits, on_line=on_line, spool=spool, child=child, means=means)
    return await supervised.until_over(cancel)


def _never_ran(command: Command, ended: Ended, why: str) -> Outcome:
    return Outcome(ended, None, (), "", 0, command.spool, why)


class _Stopwatch:
    """A clock that stands still while the consumer holds a line: its time is not the child's."""

    def __init__(self) -> None:
        self._now = asyncio.get_running_loop().time
        self._held = 0.0
        self._since: float | None = None

    def time(self) -> float:
        return (self._now() if self._since is None else self._since) - self._held

    @contextmanager
    def stopped(self) -> Iterator[None]:
        since = self._since = self._now()
        try:
            yield
        finally:
            self._since = None
            self._held += self._now() - since


class _Run:
    def __init__(
        self,
        command: Command,
        limits: Limits,
        *,
        on_line: OnLine,
        spool: Spool,
        child: spawn.Child,
        means: support.Support,
    ) -> None:
        self._command = command
        self._limits = limits
        self._on_line = on_line
        self._spool = spool
        self._child = child
        self._tree = stop.Tree(child, command, means=means)
        self._watch = _Stopwatch()
        self._last_byte = self._watch.time()
        self._turn = asyncio.Lock()
        self._tail = bytearray()
        self._pending: deque[Line] = deque(maxlen=_STDERR_PENDING)
        self._stderr_news = asyncio.Event()
        self._stderr_over = False
        self._stdout_bytes = 0

    async def until_over(self, cancel: asyncio.Event) -> Outcome:
        pumps = {
            asyncio.create_task(work)
            for work in (self._read_stdout(), self._read_stderr(), self._hand_over_stderr())
        }
        ends = {
            asyncio.create_task(_set(cancel)): Ended.CANCELLED,
            asyncio.create_task(self._completed(pumps)): Ended.EXITED,
            asyncio.create_task(self._idle()): Ended.IDLE,
            asyncio.create_task(asyncio.sleep(self._limits.total)): Ended.DEADLINE,
        }
        tasks = (*ends, *pumps, asyncio.create_task(self._feed()))
        try:
            try:
                ended = await _first(ends, pumps)
            finally:
                left = await stop.end(
                    self._tree, self._command.first_signal, grace=self._limits.grace
                )
            await self._settle(pumps)
            if self._spool.overflowed:
                await asyncio.to_thread(self._spool.close)
        finally:
            for task in tasks:
                task.cancel()
            failure = self._child.failure(self._command)
            code = self._child.reap()
            self._tree.reap()
            self._spool.close()
            done, _ = await asyncio.wait(tasks, timeout=_SETTLE)
            for task in done:
                _ = task.cancelled() or task.exception()
        return self._outcome(ended, code, left, failure)

    def _outcome(
        self, ended: Ended, code: int | None, left: tuple[int, ...], failure: str
    ) -> Outcome:
        why = self._spool.why
        if ended is Ended.EXITED and failure:
            ended, code, why = Ended.NOT_STARTED, None, failure
        tail = text.shown(self._tail.decode("utf-8", "replace"))[-TAIL:]
        return Outcome(ended, code, left, tail, self._stdout_bytes, self._command.spool, why)

    async def _read_stdout(self) -> None:
        lines = stream.Lines(self._limits.line)
        while chunk := await self._child.stdout.read():
            self._note(chunk)
            self._stdout_bytes += len(chunk)
            for number, line in enumerate(lines.feed(chunk)):
                await self._deliver(line)
                if number % _LINES_PER_TURN == _LINES_PER_TURN - 1:
                    await asyncio.sleep(0)
            await asyncio.sleep(0)
        if rest := lines.finish():
            await self._deliver(rest)

    async def _read_stderr(self) -> None:
        lines = stream.Lines(_STDERR_LINE, stderr=True)
        try:
            while chunk := await self._child.stderr.read():
                self._note(chunk)
                self._tail += chunk
                del self._tail[: -2 * TAIL]
                self._pending.extend(lines.feed(chunk))
                self._stderr_news.set()
                await asyncio.sleep(0)
            if rest := lines.finish():
                self._pending.append(rest)
        finally:
            self._stderr_over = True
            self._stderr_news.set()

    async def _hand_over_stderr(self) -> None:
        while self._pending or not self._stderr_over:
            await self._stderr_news.wait()
            self._stderr_news.clear()
            while self._pending:
                await self._deliver(self._pending.popleft())

    def _note(self, chunk: bytes) -> None:
        # Straight to the page cache: a thread for each chunk would cost more than the write.
        self._spool.write(chunk)
        self._last_byte = self._watch.time()

    async def _deliver(self, line: Line) -> None:
        async with self._turn:
            with self._watch.stopped():
                await self._on_line(line)

    async def _feed(self) -> None:
        if self._child.stdin is not None:
            await self._child.stdin.write(self._command.stdin or b"")
            self._child.stdin.close()

    async def _completed(self, pumps: set[asyncio.Task[None]]) -> None:
        await self._child.wait()
        until = self._watch.time() + self._limits.drain
        while (left := until - self._watch.time()) > 0:
            _, open_pumps = await asyncio.wait(pumps, timeout=max(left, _LEAST_SLEEP))
            if not open_pumps:
                return
        self._end_pipes()
        await asyncio.wait(pumps)

    async def _idle(self) -> None:
        least = min(_LEAST_SLEEP, self._limits.idle / 4)
        while True:
            left = self._limits.idle - (self._watch.time() - self._last_byte)
            if left <= 0:
                break
            await asyncio.sleep(max(left, least))
        if self._child.exited:
            await asyncio.Event().wait()

    async def _settle(self, pumps: set[asyncio.Task[None]]) -> None:
        await asyncio.wait(pumps, timeout=_SETTLE)
        self._end_pipes()
        done, _ = await asyncio.wait(pumps, timeout=_LEAST_SLEEP)
        for pump in done:
            pump.result()

    def _end_pipes(self) -> None:
        self._child.stdout.end()
        self._child.stderr.end()


async def _set(event: asyncio.Event) -> None:
    await event.wait()


async def _first(ends: dict[asyncio.Task[None], Ended], pumps: set[asyncio.Task[None]]) -> Ended:
    waiting = {*ends, *pumps}
    while True:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        for task, ended in ends.items():
            if task in done:
                return ended
