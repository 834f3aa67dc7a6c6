"""The model server alone: its answers in every protocol, its script, what it keeps."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from equipment import wire
from equipment.model_server import script, server
from equipment.vendor_requests import PROTOCOLS, SHELLS, ask, events, post, request

CALL = {"name": "$shell", "args": {"command": "ls"}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_text_thinking_and_tool_call_in_every_protocol(protocol: str, stream: bool) -> None:
    turn = {"text": "Hello", "thinking": "hm", "tools": [CALL], "chunk": 2}
    with server.ModelServer({"turns": [turn]}) as model:
        raw = ask(model, protocol, stream=stream)
    documents = events(raw) if stream else [json.loads(raw)]
    texts = {text for _, text in wire.strings(documents)}
    pieces = {"He", "ll", "o"} if stream else {"Hello"}
    assert texts >= {SHELLS[protocol], "hm", *pieces}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_alias_gets_the_argument_names_of_the_declared_tool(protocol: str) -> None:
    with server.ModelServer({"turns": [{"tools": [CALL]}]}) as model:
        raw = ask(model, protocol)
    argument = "cmd" if protocol == "responses" else "command"
    inner = raw.replace("\\", "")
    assert f'"{argument}": "ls"' in inner
    assert '"description": "scripted"' in inner


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_scripted_usage_is_reported(protocol: str) -> None:
    usage = {"input": 1234, "output": 56, "cached": 7}
    with server.ModelServer({"turns": [{"text": "x", "usage": usage}], "usage": {}}) as model:
        raw = ask(model, protocol, stream=True)
    assert all(str(count) in raw for count in usage.values())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_templates_see_the_request(protocol: str) -> None:
    text = "{{LAST_USER}}|{{MODEL}}|{{TOOL_NAMES}}|{{N}}|{{OTHER}}"
    with server.ModelServer({"default": {"text": text, "chunk": 999}}) as model:
        raw = ask(model, protocol, "hi there")
    assert f"hi there|m|{SHELLS[protocol]}|1|{{{{OTHER}}}}" in raw


def test_the_last_tool_result_is_a_template() -> None:
    path, body = request("chat", "hi", stream=False)
    body["messages"].append({"role": "tool", "tool_call_id": "1", "content": "FILES"})
    with server.ModelServer({"default": {"text": "seen {{LAST_TOOL_RESULT}}"}}) as model:
        assert "seen FILES" in post(model.base, path, body)


@pytest.mark.parametrize("turn", [{"fault": "no_such"}, {"no_such": 1}])
@pytest.mark.parametrize("place", ["turns", "default", "lane"])
def test_a_script_with_an_unknown_word_is_refused(turn: dict[str, Any], place: str) -> None:
    scripts: dict[str, dict[str, Any]] = {
        "turns": {"turns": [turn]},
        "default": {"default": turn},
        "lane": {"lanes": [{"match": "x", "turns": [turn]}]},
    }
    with pytest.raises(ValueError, match="no_such"):
        script.Script(scripts[place])


def test_turns_repeat_and_then_the_default_answers() -> None:
    data = {"turns": [{"text": "one", "repeat": 2}, {"text": "two"}], "default": {"text": "end"}}
    with server.ModelServer(data) as model:
        answers = [json.loads(ask(model, "chat")) for _ in range(4)]
        places = [request.turn for request in model.requests]
    said = [answer["choices"][0]["message"]["content"] for answer in answers]
    assert said == ["one", "one", "two", "end"]
    assert places == ["lane0:0", "lane0:1", "lane0:2", "lane0:default"]


def test_each_lane_has_its_own_turns() -> None:
    lanes = [{"match": "role: reviewer", "turns": [{"text": "review"}]}]
    data = {"lanes": lanes, "turns": [{"text": "build"}], "default": {"text": "end"}}
    with server.ModelServer(data) as model:
        assert "build" in ask(model, "chat", "role: developer")
        assert "review" in ask(model, "anthropic", "role: reviewer")
        assert "end" in ask(model, "chat", "role: developer")


def test_a_side_request_takes_no_turn() -> None:
    path, body = request("chat", "name this", stream=False)
    del body["tools"]
    with server.ModelServer({"turns": [{"text": "main"}]}) as model:
        assert "a title" in post(model.base, path, body)
        assert "main" in ask(model, "chat")
        assert [request.turn for request in model.requests] == ["lane0:0"]
        assert [request.turn for request in model.all_requests] == ["aux", "lane0:0"]


def test_without_side_requests_a_request_without_tools_takes_a_turn() -> None:
    path, body = request("chat", "hi", stream=False)
    del body["tools"]
    with server.ModelServer({"turns": [{"text": "main"}], "aux": False}) as model:
        assert "main" in post(model.base, path, body)


def test_a_side_request_for_json_gets_what_its_schema_asks() -> None:
    path, body = request("gemini", "route", stream=False)
    del body["tools"]
    properties = {"model": {"type": "STRING", "enum": ["flash", "pro"]}, "sure": {"type": "number"}}
    wanted = {"type": "OBJECT", "properties": properties}
    body["generationConfig"] = {"responseMimeType": "application/json", "responseSchema": wanted}
    with server.ModelServer({}) as model:
        answer = json.loads(post(model.base, path, body))
    text = answer["candidates"][0]["content"]["parts"][0]["text"]
    assert json.loads(text) == {"model": "flash", "sure": 0.1}


def test_mcp_alias_finds_the_tool_of_any_naming() -> None:
    path, body = request("responses", "hi", stream=False)
    tool = {"type": "function", "name": "inbox_read", "parameters": {}}
    body["tools"] = [{"type": "namespace", "name": "mcp__mufakat", "tools": [tool]}]
    with server.ModelServer({"turns": [{"tools": [{"name": "$mcp:inbox_read"}]}]}) as model:
        item = json.loads(post(model.base, path, body))["output"][0]
    assert (item["name"], item["namespace"]) == ("inbox_read", "mcp__mufakat")


def test_mcp_alias_finds_a_deferred_tool_in_the_text() -> None:
    path, body = request("anthropic", "deferred: mcp__mufakat__inbox_read", stream=False)
    search = {"name": "ToolSearch", "args": {"query": "select:$mcp:inbox_read"}}
    with server.ModelServer({"turns": [{"tools": [search]}]}) as model:
        raw = post(model.base, path, body)
    assert "select:mcp__mufakat__inbox_read" in raw


@pytest.mark.parametrize(
    ("call", "program"),
    [
        (CALL, 'tools.exec_command({"cmd": "ls"})'),
        ({"name": "$read", "args": {"file_path": "a b"}}, 'cat \\"a b\\"'),
        ({"name": "$write", "args": {"file_path": "f", "content": "x"}}, "*** Add File: f"),
        ({"name": "$mcp:inbox_read"}, 't.name.endsWith("inbox_read")'),
        ({"name": "exec", "raw": "text(1)"}, "text(1)"),
    ],
)
def test_codex_code_mode_gets_a_program(call: dict[str, Any], program: str) -> None:
    path, body = request("responses", "hi", stream=False)
    del body["tools"]
    tool = {"type": "custom", "name": "exec", "description": "Runs JavaScript."}
    body["input"].insert(0, {"type": "additional_tools", "tools": [tool]})
    with server.ModelServer({"turns": [{"tools": [call]}]}) as model:
        item = json.loads(post(model.base, path, body))["output"][0]
    assert (item["type"], item["name"]) == ("custom_tool_call", "exec")
    assert program in item["input"]


def test_every_body_is_kept_and_no_credential(tmp_path: Path) -> None:
    with server.ModelServer({}, log_dir=tmp_path) as model:
        ask(model, "chat", "MARK-ONE")
        kept = model.requests[0]
        assert wire.find_text(model.bodies()[0], "MARK-ONE") == ["$.messages[0].content"]
    assert kept.protocol == "chat"
    assert kept.path == "/v1/chat/completions"
    assert kept.model == "m"
    assert kept.headers["authorization"] == "<16 chars>"
    logged = json.loads((tmp_path / "req-0001.json").read_text())
    assert logged["body"] == kept.body
    summary = json.loads((tmp_path / "requests.jsonl").read_text())
    assert summary["turn"] == "lane0:default"
    assert not [path for path in tmp_path.iterdir() if "dummy-key" in path.read_text()]


def test_a_new_script_starts_from_its_first_turn() -> None:
    with server.ModelServer({"turns": [{"text": "old"}]}) as model:
        model.set_script({"turns": [{"text": "new"}]})
        assert "new" in ask(model, "chat")
        post(model.base, "/__model_server/script", {"turns": [{"text": "newest"}]})
        assert "newest" in ask(model, "chat")


def test_waiting_for_requests() -> None:
    with server.ModelServer({}) as model:
        later = threading.Thread(target=ask, args=(model, "chat"))
        later.start()
        assert len(model.wait_for(1, 10.0)) == 1
        later.join()
        with pytest.raises(TimeoutError, match="1 of 2"):
            model.wait_for(2, 0.05)


def test_model_list_token_count_and_unknown_path() -> None:
    with server.ModelServer({"models": {"data": [{"id": "local-7b"}]}}) as model:
        with urllib.request.urlopen(model.base + "/v1/models", timeout=10) as answer:
            assert json.load(answer)["data"][0]["id"] == "local-7b"
        assert json.loads(post(model.base, "/v1/messages/count_tokens", {}))["input_tokens"] == 0
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(model.base, "/v1/other", {})
        assert caught.value.code == 404
        caught.value.close()
        assert model.requests == []
        assert len(model.all_requests) == 3


def test_it_answers_no_more_than_max_requests() -> None:
    with server.ModelServer({}, max_requests=1) as model:
        ask(model, "chat")
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(model, "chat")
        caught.value.close()


def test_it_closes_by_itself_after_max_seconds() -> None:
    with server.ModelServer({}, max_seconds=0.1) as model:
        assert model.closed.wait(10.0)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", model.port), 5.0)


def test_it_listens_on_loopback_only() -> None:
    with server.ModelServer({}) as model:
        assert model.base == f"http://127.0.0.1:{model.port}"
        assert model._listener.server_address[0] == "127.0.0.1"


def test_closing_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    with server.ModelServer({}) as model:
        idle = http.client.HTTPConnection("127.0.0.1", model.port)
        idle.request("GET", "/v1/models")
        idle.getresponse().read()
    idle.close()
    assert set(threading.enumerate()) <= before


def test_as_a_process(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text(json.dumps({"default": {"text": "by process"}}))
    argv = [sys.executable, "-m", "equipment.model_server", "--script", "script.json"]
    tests = str(Path(__file__).parents[1])
    with subprocess.Popen(
        [*argv, "--log", "log", "--max-seconds", "60"],
        cwd=tmp_path,
        env={"PYTHONPATH": tests},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        hello = json.loads(process.stdout.readline())
        path, body = request("chat", "hi", stream=False)
        assert "by process" in post(hello["base"], path, body)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert (tmp_path / "log" / "req-0001.json").exists()


def test_wire_helpers_undo_the_word_joiner() -> None:
    body = {"a": ["see @\u2060README.md", 1, {"b": "@ @\u2060x"}]}
    assert wire.plain(body) == {"a": ["see @README.md", 1, {"b": "@ @x"}]}
    assert wire.find_text(wire.plain(body), "@x") == ["$.a[2].b"]
    assert wire.all_text(body).count(wire.WORD_JOINER) == 2


def test_fill_gives_the_smallest_value() -> None:
    assert script.fill({"type": ["array", "null"]}) == []
    assert script.fill({}) == {}


def test_an_error_of_the_server_itself_is_raised_at_the_end() -> None:
    body = {"model": "m", "messages": [{"no": "role"}]}
    model = server.ModelServer({})
    with pytest.raises(KeyError, match="role"), model, pytest.raises(http.client.HTTPException):
        post(model.base, "/v1/messages", body)
