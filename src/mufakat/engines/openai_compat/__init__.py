"""Any server that speaks OpenAI's chat completions: Ollama, LM Studio, vLLM and others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from mufakat.core.talk.agent import Permission
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.engines import failure, fields
from mufakat.engines.openai_compat import events, proxy, sse
from mufakat.engines.process import json_line
from mufakat.ports.engine import Capabilities, OnEvent, Options, Probe, Run

CONNECT_SECONDS = 10.0
PROBE_SECONDS = 3.0
BODY = 16 * 1024 * 1024
"""Bytes of an answer that is not streamed."""
ERROR_BODY = 64 * 1024
NO_SERVER = "No model server is set."
SET_SERVER = (
    "Set `engines.openai_compat.base_url`, for example http://127.0.0.1:11434/v1 for Ollama."
)
API_KEY = "engines.openai_compat.api_key_env"


class OpenAICompatible:
    """Asks one model server; it has no tools and no sessions, so every turn gets its whole pack."""

    name = "openai_compat"

    def __init__(self, options: Options, *, home: Path, environ: Mapping[str, str]) -> None:
        self._options = options
        self._environ = {**environ, **options.env}
        self._base = options.base_url.rstrip("/")
        self.capabilities = Capabilities(
            splits_system=True,
            permissions=frozenset({Permission.READ}),
            window_tokens=options.window_tokens,
        )

    async def run(self, run: Run, on_event: OnEvent, *, cancel: asyncio.Event) -> Reply:
        """Ask once; see the port."""
        unset = _no_address(self._base)
        if unset:
            message = f"{unset} {SET_SERVER}"
            return Reply(Status.FAILED, failure=Failure.MISSING, message=message)
        answer = events.Completion()
        asking = asyncio.create_task(self._ask(run, answer, on_event))
        stopping = asyncio.create_task(cancel.wait())
        try:
            done, _ = await asyncio.wait(
                {asking, stopping},
                timeout=run.total_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            await _end(stopping)
            await _end(asking)
        if stopping in done:
            return Reply(Status.CANCELLED, text=answer.text)
        if not done:
            answer.problem = events.Problem(Failure.DEADLINE, "The turn took too long.")
        elif error := asking.exception():
            raise error
        return answer.reply()

    def instructions(self, folder: Path) -> tuple[str, ...]:
        """A model server reads no files."""
        del folder
        return ()

    def present(self) -> bool:
        """Whether an address is set; nothing is asked."""
        return bool(self._base)

    async def probe(self) -> Probe:
        """Ask the server for its models, three seconds long."""
        unset = _no_address(self._base)
        if unset:
            return Probe(self.name, False, problem=unset, fix=SET_SERVER)
        key_name, key = self._options.api_key_env, self._key()
        login = "ok" if key else ("missing" if key_name else "not needed")
        models: tuple[str, ...] = ()
        problem = fix = ""
        if login == "missing":
            problem, fix = f"The variable {key_name} is not set.", f"Set {key_name}."
        try:
            models = await self._models()
        except httpx.HTTPStatusError as error:
            problem = problem or f"{self._base} refuses: status {error.response.status_code}."
            fix = fix or f"Check the address, and the key that `{API_KEY}` names."
        except httpx.HTTPError as error:
            problem = f"{self._base} does not answer: {failure.shown(str(error))}"
            fix = f"Start the server and check its address. {SET_SERVER}"
        return Probe(
            self.name,
            not problem or bool(models),
            path=self._base,
            login=login,
            models=models,
            problem=problem,
            fix=fix,
            notes=("Has no tools: it answers from its pack alone.",),
        )

    async def _ask(self, run: Run, answer: events.Completion, on_event: OnEvent) -> None:
        """One request; its problem, if any, stands in `answer` afterwards."""
        try:
            async with self._client(run.idle_seconds) as client:
                model = run.model or self._options.model or await self._only_model()
                await self._stream(client, self._payload(run, model), answer, on_event)
        except httpx.HTTPStatusError as error:
            waiting = error.response.headers.get("retry-after", "")
            answer.problem = events.of_response(error.response.status_code, "", waiting)
        except httpx.ReadTimeout:
            answer.problem = events.Problem(Failure.IDLE, "The server sent nothing for too long.")
        except httpx.HTTPError as error:
            words = f"{self._base}: {str(error) or type(error).__name__}"
            answer.problem = events.Problem(Failure.NETWORK, words)
        except sse.TooLong:
            answer.problem = events.Problem(Failure.MALFORMED, "The server sent an endless line.")

    async def _stream(
        self,
        client: httpx.AsyncClient,
        payload: dict[str, object],
        answer: events.Completion,
        on_event: OnEvent,
    ) -> None:
        async with client.stream("POST", "/chat/completions", json=payload) as response:
            if response.status_code >= 300:
                body = await _bounded(response, ERROR_BODY)
                again = response.status_code == 400 and "stream_options" in body
                if not again or "stream_options" not in payload:
                    waiting = response.headers.get("retry-after", "")
                    answer.problem = events.of_response(response.status_code, body, waiting)
                    return
            else:
                await _read(response, answer, on_event)
                return
        # Some servers refuse the wish for usage; the answer matters more.
        del payload["stream_options"]
        await self._stream(client, payload, answer, on_event)

    def _payload(self, run: Run, model: str) -> dict[str, object]:
        messages = [{"role": "user", "content": run.delivery.user}]
        if run.delivery.system:
            messages.insert(0, {"role": "system", "content": run.delivery.system})
        return {
            **self._options.config,
            "model": model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    @asynccontextmanager
    async def _client(self, read_seconds: float) -> AsyncIterator[httpx.AsyncClient]:
        key = self._key()
        async with httpx.AsyncClient(
            base_url=self._base,
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(CONNECT_SECONDS, read=read_seconds),
            # The environment may name a netrc file, whose passwords must not go to any server.
            trust_env=False,
            proxy=proxy.choose(self._base, self._environ),
        ) as client:
            yield client

    async def _models(self) -> tuple[str, ...]:
        async with (
            self._client(PROBE_SECONDS) as client,
            client.stream("GET", "/models") as response,
        ):
            response.raise_for_status()
            body = await _bounded(response, BODY)
        document = json_line.decode(body)
        if isinstance(document, json_line.NotJson):
            return ()
        return tuple(fields.text(row, "id") for row in fields.rows(document, "data"))

    async def _only_model(self) -> str:
        models = await self._models()
        return models[0] if models else ""

    def _key(self) -> str:
        return self._environ.get(self._options.api_key_env, "")


def _no_address(base: str) -> str:
    """Why nobody can be asked at this address; empty where somebody may answer."""
    if not base:
        return NO_SERVER
    try:
        # Reading the port is what refuses one beyond 65,535.
        good = httpx.URL(base).scheme in {"http", "https"} and urlsplit(base).port != 0
    except (httpx.InvalidURL, ValueError):
        good = False
    return "" if good and urlsplit(base).hostname else f"{base!r} is no address of a server."


async def _read(response: httpx.Response, answer: events.Completion, on_event: OnEvent) -> None:
    async for data in _documents(response):
        for event in answer.data(data):
            await on_event(event)
        if answer.done or answer.problem:
            return


async def _documents(response: httpx.Response) -> AsyncIterator[str]:
    """The JSON documents of an answer, streamed or not."""
    if "event-stream" not in response.headers.get("content-type", ""):
        yield await _bounded(response, BODY)
        return
    reader = sse.Reader()
    async for chunk in response.aiter_bytes():
        for data in reader.feed(chunk):
            yield data
    for data in reader.feed(b"", last=True):
        yield data


async def _bounded(response: httpx.Response, limit: int) -> str:
    """The body as text, at most `limit` bytes of it."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk[: limit - len(body)]
        if len(body) >= limit:
            break
    return body.decode("utf-8", "replace")


async def _end(task: asyncio.Task[object]) -> None:
    """Cancel a task and wait for it; its result or error stays readable."""
    task.cancel()
    await asyncio.wait({task})
