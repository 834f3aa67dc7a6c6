"""Model servers that fail, refuse, lie or never end: every case has its class and its bound."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engines import running
from equipment import wire
from equipment.model_server import server
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Status
from mufakat.engines.openai_compat import events, proxy
from mufakat.ports.engine import Options

pytestmark = pytest.mark.anyio

HALF = {"text": "half of an answer that is cut", "chunk": 4}


@pytest.fixture
def model() -> Iterator[server.ModelServer]:
    with server.ModelServer({"aux": False, "default": {"text": "Yes."}}) as made:
        yield made


def ask(served: server.ModelServer, place: Path, **more: Any) -> running.Bench:
    options = Options(base_url=f"{served.base}/v1/", **{"model": "m", **more})
    return running.bench("openai_compat", place, options)


@pytest.mark.parametrize(
    ("fault", "failure", "text"),
    [
        ({"status": 401}, Failure.LOGIN, ""),
        ({"status": 403}, Failure.FORBIDDEN, ""),
        ({"status": 404}, Failure.BAD_REQUEST, ""),
        ({"status": 400, "message": "maximum context length is 8"}, Failure.TOO_LONG, ""),
        ({"status": 429, "retry_after": 7}, Failure.RATE_LIMIT, ""),
        ({"status": 503}, Failure.OVERLOADED, ""),
        ({**HALF, "fault": "malformed"}, Failure.MALFORMED, "half"),
        ({**HALF, "fault": "truncate"}, Failure.NETWORK, "half"),
        ({"fault": "reset"}, Failure.NETWORK, ""),
        ({"fault": "empty"}, Failure.EMPTY, ""),
        ({**HALF, "sse_error": {"type": "overloaded_error"}}, Failure.OVERLOADED, "half"),
        ({**HALF, "fault": "hang_mid", "seconds": 60}, Failure.IDLE, "half"),
    ],
)
async def test_a_fault_gets_its_class_and_keeps_what_was_said(
    fault: dict[str, Any], failure: Failure, text: str, model: server.ModelServer, tmp_path: Path
) -> None:
    model.set_script({"aux": False, "default": fault})
    reply = (await ask(model, tmp_path).turn(idle=1)).reply
    assert (reply.status, reply.failure) == (Status.FAILED, failure), reply
    assert reply.message and reply.text.startswith(text)
    assert reply.retry_after == (7.0 if failure is Failure.RATE_LIMIT else None)


async def test_a_server_that_is_not_there_is_a_network_failure(tmp_path: Path) -> None:
    options = Options(base_url="http://127.0.0.1:9/v1", model="m")
    bench = running.bench("openai_compat", tmp_path, options)
    assert (await bench.turn()).reply.failure is Failure.NETWORK
    probe = await bench.engine.probe()
    assert not probe.available and "does not answer" in probe.problem and probe.fix


@pytest.mark.parametrize(
    "address",
    ["http://[bad", "127.0.0.1:9/v1", "http://127.0.0.1:9\n/v1", "http://127.0.0.1:99999"],
)
async def test_an_address_that_is_none_is_told_and_breaks_no_list(
    address: str, tmp_path: Path
) -> None:
    bench = running.bench("openai_compat", tmp_path, Options(base_url=address, model="m"))
    probe = await bench.engine.probe()
    assert not probe.available and "no address" in probe.problem and "base_url" in probe.fix
    assert (await bench.turn()).reply.failure is Failure.MISSING


def test_usage_with_every_piece_does_not_cut_the_text() -> None:
    answer, told = events.Completion(), []
    for word, finish in (("ghp_", None), ("half", None), (" end", "stop")):
        choice = {"delta": {"content": word}, "finish_reason": finish}
        told += answer.document({"choices": [choice], "usage": {"completion_tokens": 1}})
    assert [type(event) for event in told] == [stream.Text] * 3 + [stream.UsageSeen]


async def test_without_a_server_it_says_what_to_set(tmp_path: Path) -> None:
    bench = running.bench("openai_compat", tmp_path, Options())
    reply = (await bench.turn()).reply
    assert reply.failure is Failure.MISSING and "base_url" in reply.message
    assert "base_url" in (await bench.engine.probe()).fix


async def test_the_only_model_is_taken_when_none_is_named(
    model: server.ModelServer, tmp_path: Path
) -> None:
    await ask(model, tmp_path, model="").turn()
    assert model.bodies()[-1]["model"] == "stub-1"


async def test_the_key_comes_from_the_named_variable_only(
    model: server.ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hunter2\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert (await ask(model, tmp_path).turn()).reply.status is Status.DONE
    assert "authorization" not in model.requests[-1].headers
    bench = ask(model, tmp_path, api_key_env="MY_KEY", env={"MY_KEY": "k" * 9})
    assert (await bench.engine.probe()).login == "ok"
    await bench.turn()
    assert model.requests[-1].headers["authorization"] == f"<{len('Bearer ') + 9} chars>"
    missing = await ask(model, tmp_path, api_key_env="OTHER").engine.probe()
    assert missing.login == "missing" and "OTHER" in missing.problem


async def test_the_pack_is_the_system_message(model: server.ModelServer, tmp_path: Path) -> None:
    await ask(model, tmp_path).turn("USER", system="PACK")
    body = model.bodies()[-1]
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("system", "PACK"),
        ("user", "USER"),
    ]
    assert not wire.find_text(body, "tools")


Answer = Callable[[http.server.BaseHTTPRequestHandler, dict[str, Any]], None]


class Peculiar:
    """A server whose every answer is written by hand."""

    def __init__(self, answer: Answer) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["content-length"])
                answer(self, json.loads(self.rfile.read(size)))

            def do_GET(self) -> None:
                answer(self, {})

            def log_message(self, format: str, *args: Any) -> None:
                return

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._serving = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Peculiar:
        self._serving.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._serving.join()


def send(
    handler: http.server.BaseHTTPRequestHandler, body: bytes, *, kind: str, status: int = 200
) -> None:
    handler.send_response(status)
    handler.send_header("content-type", kind)
    handler.end_headers()
    handler.wfile.write(body)


def place(answer: Answer, tmp_path: Path, made: Peculiar) -> running.Bench:
    options = Options(base_url=made.base, model="m")
    return running.bench("openai_compat", tmp_path, options)


async def test_a_server_that_refuses_to_list_its_models_is_no_broken_network(
    tmp_path: Path,
) -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        send(handler, b"{}", kind="application/json", status=401)

    with Peculiar(answer) as made:
        bench = running.bench("openai_compat", tmp_path, Options(base_url=made.base))
        assert (await bench.turn()).reply.failure is Failure.LOGIN
        probe = await bench.engine.probe()
    assert not probe.available and "401" in probe.problem and "api_key_env" in probe.fix


async def test_a_server_that_refuses_the_wish_for_usage_is_asked_without_it(
    tmp_path: Path,
) -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if "stream_options" in body:
            error = b'{"error": {"message": "unknown field stream_options"}}'
            return send(handler, error, kind="application/json", status=400)
        data = b'data: {"choices": [{"delta": {"content": "Hi."}, "finish_reason": "stop"}]}\n\n'
        return send(handler, data, kind="text/event-stream")

    with Peculiar(answer) as made:
        reply = (await place(answer, tmp_path, made).turn()).reply
    assert (reply.status, reply.text) == (Status.DONE, "Hi.")


async def test_an_answer_that_is_not_streamed_is_read_too(tmp_path: Path) -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        message = {"role": "assistant", "content": "Whole."}
        usage = {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 60},
        }
        choices = [{"message": message, "finish_reason": "stop"}]
        document = {"choices": choices, "usage": usage}
        send(handler, json.dumps(document).encode(), kind="application/json")

    with Peculiar(answer) as made:
        turn = await place(answer, tmp_path, made).turn()
    assert (turn.reply.status, turn.reply.text, turn.streamed) == (
        Status.DONE,
        "Whole.",
        "Whole.",
    )
    usage = turn.reply.usage
    assert (usage.fresh, usage.cache_read, usage.output) == (40, 60, 7)


async def test_an_endless_line_is_bounded(tmp_path: Path) -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        try:
            for _ in range(2000):
                handler.wfile.write(b"x" * 100_000)
        except OSError:
            return

    with Peculiar(answer) as made:
        reply = (await place(answer, tmp_path, made).turn()).reply
    assert reply.failure is Failure.MALFORMED


async def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(307)
        handler.send_header("location", "http://127.0.0.1:9/elsewhere")
        handler.send_header("content-length", "0")
        handler.end_headers()

    with Peculiar(answer) as made:
        reply = (await place(answer, tmp_path, made).turn()).reply
    assert (reply.status, reply.failure) == (Status.FAILED, Failure.BAD_REQUEST)


async def test_a_stream_that_ends_early_but_politely_has_no_result(tmp_path: Path) -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        data = b'data: {"choices": [{"delta": {"content": "Hi."}}]}\n\n'
        send(handler, data, kind="text/event-stream")

    with Peculiar(answer) as made:
        reply = (await place(answer, tmp_path, made).turn()).reply
    assert (reply.failure, reply.text) == (Failure.NO_RESULT, "Hi.")


async def test_a_drip_is_ended_by_the_total_deadline(tmp_path: Path) -> None:
    stop = threading.Event()

    def answer(handler: http.server.BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        try:
            while not stop.is_set():
                handler.wfile.write(b": ping\n\n")
                time.sleep(0.1)
        except OSError:
            return

    with Peculiar(answer) as made:
        reply = (await place(answer, tmp_path, made).turn(idle=5, total=0.7)).reply
        stop.set()
    assert reply.failure is Failure.DEADLINE


def test_visible_reasoning_is_no_part_of_the_answer() -> None:
    answer = events.Completion()
    told = answer.document({"choices": [{"delta": {"reasoning_content": "hm", "content": "Hi"}}]})
    assert told == [stream.Thought("hm"), stream.Text("Hi")]
    assert answer.text == "Hi"


@pytest.mark.parametrize(
    ("address", "environ", "chosen"),
    [
        ("http://10.0.0.5:11434/v1", {"HTTPS_PROXY": "http://p"}, None),
        ("http://10.0.0.5:11434/v1", {"http_proxy": "http://p"}, "http://p"),
        ("https://api.example.com/v1", {"HTTPS_PROXY": "http://p"}, "http://p"),
        (
            "https://api.example.com/v1",
            {"HTTPS_PROXY": "http://p", "https_proxy": "http://q"},
            "http://q",
        ),
        ("https://api.example.com/v1", {"ALL_PROXY": "http://p"}, "http://p"),
        ("https://api.example.com/v1", {"ALL_PROXY": "http://p", "NO_PROXY": ".example.com"}, None),
        ("https://llm.lan/v1", {"HTTPS_PROXY": "http://p", "no_proxy": "llm.lan"}, None),
        ("http://localhost:1/v1", {"http_proxy": "http://p"}, None),
        ("http://[::1]:1/v1", {"http_proxy": "http://p"}, None),
    ],
)
def test_the_proxy_is_chosen_by_scheme_and_exception(
    address: str, environ: dict[str, str], chosen: str | None
) -> None:
    assert proxy.choose(address, environ) == chosen
