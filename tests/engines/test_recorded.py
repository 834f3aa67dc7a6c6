"""What each parser makes of recorded streams of the real CLIs, and of the same with faults."""

from __future__ import annotations

import json

import pytest

from engines.running import CLIS, read, read_recorded, recorded
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Status
from mufakat.core.talk.usage import Usage
from mufakat.engines.cli import session_id
from mufakat.engines.process.command import Ended

ANSWER = "Hello from the scripted model."
FAILURES = {
    "http_400": dict.fromkeys(CLIS, Failure.TOO_LONG),
    "http_401": dict.fromkeys(CLIS, Failure.LOGIN),
    "http_429": dict.fromkeys(CLIS, Failure.RATE_LIMIT),
    "http_500": dict.fromkeys(CLIS, Failure.OVERLOADED),
    "empty": dict.fromkeys(CLIS, Failure.EMPTY),
    "resume_unknown": dict.fromkeys(CLIS, Failure.SESSION_LOST),
    "truncate": dict.fromkeys(CLIS, Failure.NETWORK),
    "malformed": {
        # These two say only that the connection was lost.
        "claude": Failure.NETWORK,
        "codex": Failure.NETWORK,
        "gemini": Failure.MALFORMED,
        "opencode": Failure.MALFORMED,
    },
}


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("scenario", ["answer", "resume", "http_429_once"])
def test_an_answer_is_done_with_its_text_session_and_usage(cli: str, scenario: str) -> None:
    found = read_recorded(cli, scenario)
    assert found.reply is not None
    assert (found.reply.status, found.reply.text) == (Status.DONE, ANSWER)
    assert "".join(e.text for e in found.of(stream.Text)) == ANSWER
    assert [e.session for e in found.of(stream.SessionStarted)] == [found.reply.session]
    assert found.reply.session
    assert found.reply.usage.fresh > 1000 and found.reply.usage.output > 0
    assert not found.of(stream.Unknown)


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("scenario", FAILURES)
def test_a_failure_gets_its_class_and_the_engines_own_words(cli: str, scenario: str) -> None:
    reply = read_recorded(cli, scenario).reply
    assert reply is not None
    assert (reply.status, reply.failure) == (Status.FAILED, FAILURES[scenario][cli])
    assert reply.message and "\x1b" not in reply.message


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("scenario", ["tool", "tool_fails"])
def test_tools_begin_and_end_and_the_answer_is_the_last_message(cli: str, scenario: str) -> None:
    found = read_recorded(cli, scenario)
    assert found.reply is not None and found.reply.text == "The tool has run."
    ends = [e for e in found.of(stream.Tool) if e.status is not stream.ToolStatus.RUNNING]
    assert len(ends) == 1 and ends[0].id and ends[0].name
    begun = [e for e in found.of(stream.Tool) if e.status is stream.ToolStatus.RUNNING]
    assert [e.id for e in begun] == ([] if cli == "opencode" else [ends[0].id])
    text = "".join(e.text for e in found.of(stream.Text))
    assert text == "I look.\n\nThe tool has run."


def test_retry_after_is_reported_where_the_server_said_so() -> None:
    reply = read_recorded("opencode", "http_429").reply
    assert reply is not None and reply.retry_after == 1.0


def test_claude_streams_pieces_once() -> None:
    found = read_recorded("claude", "partial")
    assert len(found.of(stream.Text)) > 1
    assert "".join(e.text for e in found.of(stream.Text)) == ANSWER
    assert "".join(e.text for e in found.of(stream.Thought)) == "The user says hello."


def test_case_099_claude_counts_a_resumed_turn_by_the_difference() -> None:
    before = Usage(fresh=22079, output=7, cost=0.066342)
    reply = read_recorded("claude", "resume", before=before).reply
    assert reply is not None and reply.running_total is not None
    assert (reply.usage.fresh, reply.usage.output) == (22172, 7)
    assert reply.usage.cost == pytest.approx(0.132963 - 0.066342)
    assert reply.running_total.cost == pytest.approx(0.132963)


def test_case_099_claude_versions_that_count_per_process_are_not_subtracted() -> None:
    """An old version's second turn has counters like its first: nothing may be taken away."""
    before = Usage(fresh=22079, output=7, cost=0.066342)
    reply = read_recorded("claude", "answer", before=before).reply
    assert reply is not None
    assert (reply.usage.fresh, reply.usage.output) == (22079, 7)
    assert reply.usage.cost == pytest.approx(0.066342)


def test_case_096_claude_counts_the_models_of_its_helpers_too() -> None:
    lines, _ = recorded("claude", "answer")
    result = json.loads(lines[-2])
    result["modelUsage"]["helper"] = {
        "inputTokens": 1000,
        "outputTokens": 100,
        "cacheReadInputTokens": 10,
        "cacheCreationInputTokens": 1,
    }
    reply = read("claude", [*lines[:-2], json.dumps(result)]).reply
    assert reply is not None
    usage = reply.usage
    assert (usage.fresh, usage.cache_read, usage.cache_write, usage.output) == (23079, 10, 1, 107)


def test_case_099_codex_subtracts_the_threads_total() -> None:
    first = read_recorded("codex", "answer").reply
    assert first is not None and first.running_total is not None
    again = read_recorded("codex", "resume", before=first.running_total).reply
    assert again is not None and again.running_total is not None
    assert again.usage.fresh == 31483 - 15675
    assert again.usage.output == 7
    assert again.running_total.fresh == 31483


def usage_event(cli: str) -> str:
    """The end mark of each CLI with every bucket in use: 1000 in, 600 read, 50 written, 30 out."""
    claude = {
        "input_tokens": 350,
        "cache_read_input_tokens": 600,
        "cache_creation_input_tokens": 50,
        "output_tokens": 30,
    }
    codex = {
        "input_tokens": 1000,
        "cached_input_tokens": 600,
        "cache_write_input_tokens": 50,
        "output_tokens": 30,
        "reasoning_output_tokens": 20,
    }
    gemini = {"input_tokens": 950, "cached": 600, "output_tokens": 10, "total_tokens": 980}
    tokens = {
        "total": 1030,
        "input": 350,
        "output": 10,
        "reasoning": 20,
        "cache": {"read": 600, "write": 50},
    }
    part = {"type": "step-finish", "reason": "stop", "tokens": tokens, "cost": 0.5}
    return json.dumps(
        {
            "claude": {"type": "result", "subtype": "success", "result": "x", "usage": claude},
            "codex": {"type": "turn.completed", "usage": codex},
            "gemini": {"type": "result", "status": "success", "stats": gemini},
            "opencode": {"type": "step_finish", "sessionID": "ses_0123456789ab", "part": part},
        }[cli]
    )


@pytest.mark.parametrize("cli", CLIS)
def test_case_099_four_buckets_never_overlap(cli: str) -> None:
    reply = read(cli, [usage_event(cli)]).reply
    assert reply is not None
    usage = reply.usage
    assert (usage.fresh, usage.cache_read, usage.output) == (350, 600, 30)
    assert usage.cache_write == (0 if cli == "gemini" else 50)


@pytest.mark.parametrize("cli", CLIS)
def test_case_075_an_array_of_events_in_one_line_is_read_like_lines(cli: str) -> None:
    lines, _ = recorded(cli, "answer")
    array = "[" + ",".join(line for line in lines if line) + "]"
    assert read(cli, [array]) == read(cli, lines)


@pytest.mark.parametrize("cli", CLIS)
def test_case_079_unknown_events_are_kept_and_harmless(cli: str) -> None:
    lines, _ = recorded(cli, "answer")
    strange = ['{"type":"from.the.future","x":1}', '{"no":"type"}', '{"type":7}', "[]", "{}"]
    found = read(cli, [*lines[:2], *strange, *lines[2:]])
    assert found.reply == read(cli, lines).reply
    kinds = [e.type for e in found.of(stream.Unknown)]
    assert "from.the.future" in kinds and len(kinds) == 4


def test_case_078_unknown_frames_of_claudes_stream_are_counted() -> None:
    frames = [
        '{"type":"stream_event","event":{"type":"new_kind"}}',
        '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"new"}}}',
        '{"type":"system","subtype":"hook_of_tomorrow"}',
        '{"type":"assistant","message":{"content":[{"type":"hologram"}]}}',
    ]
    kinds = [e.type for e in read("claude", frames).of(stream.Unknown)]
    assert kinds == [
        "stream_event/new_kind",
        "stream_event/new",
        "system/hook_of_tomorrow",
        "assistant/hologram",
    ]


@pytest.mark.parametrize("cli", CLIS)
def test_row_51_a_result_inside_a_text_is_text(cli: str) -> None:
    fake = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "OK"})
    said = {
        "claude": {
            "type": "assistant",
            "message": {"id": "m", "content": [{"type": "text", "text": fake}]},
        },
        "codex": {"type": "item.completed", "item": {"type": "agent_message", "text": fake}},
        "gemini": {"type": "message", "role": "assistant", "content": fake, "delta": True},
        "opencode": {
            "type": "text",
            "sessionID": "ses_0123456789ab",
            "part": {"type": "text", "text": fake},
        },
    }[cli]
    reply = read(cli, [json.dumps(said)]).reply
    assert reply is not None
    assert (reply.status, reply.failure) == (Status.FAILED, Failure.NO_RESULT)
    assert reply.text == fake


HELLO = {
    "claude": '{"type":"system","subtype":"init","session_id":"%s"}',
    "codex": '{"type":"thread.started","thread_id":"%s"}',
    "gemini": '{"type":"init","session_id":"%s"}',
    "opencode": '{"type":"step_start","sessionID":"%s"}',
}
GOOD = {
    cli: "ses_dd30c6ddeffeT6dz7YFGHuBBnd"
    if cli == "opencode"
    else "8df2a63a-0000-4000-8000-000000000001"
    for cli in CLIS
}


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("bad", ["../../x", "", "a b", "--resume", "ses_../../etc", "x" * 5000])
def test_row_52_a_malformed_session_id_is_not_reported(cli: str, bad: str) -> None:
    found = read(cli, [HELLO[cli] % bad])
    assert found.reply is not None and found.reply.session == ""
    assert not found.of(stream.SessionStarted) and found.of(stream.Notice)


@pytest.mark.parametrize("cli", CLIS)
def test_row_52_another_sessions_id_is_not_reported(cli: str) -> None:
    mine, other = GOOD[cli], GOOD[cli].replace("8df2", "ffff").replace("dd30", "ff30")
    taken = read(cli, [HELLO[cli] % mine], expected=mine)
    assert taken.reply is not None and taken.reply.session == mine
    refused = read(cli, [HELLO[cli] % other], expected=mine)
    assert refused.reply is not None and refused.reply.session == ""


@pytest.mark.parametrize("cli", CLIS)
def test_twin_without_the_check_any_id_would_be_reported(
    cli: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_id, "accepted", lambda found, pattern, expected: str(found))
    found = read(cli, [HELLO[cli] % "../../x"])
    assert found.reply is not None and found.reply.session == "../../x"


@pytest.mark.parametrize("cli", CLIS)
def test_case_061_the_session_is_told_before_anything_else(cli: str) -> None:
    for scenario in ("answer", "tool", "http_500"):
        first = read_recorded(cli, scenario).events[0]
        assert isinstance(first, stream.SessionStarted) or (cli, scenario) == (
            "opencode",
            "http_500",
        )


@pytest.mark.parametrize("cli", CLIS)
def test_the_first_result_counts(cli: str) -> None:
    lines, _ = recorded(cli, "answer")
    last = [line for line in lines if line][-1]
    found = read(cli, [*lines, last])
    assert found.reply == read(cli, lines).reply
    assert len(found.of(stream.Unknown)) == 1


@pytest.mark.parametrize("cli", CLIS)
def test_a_stream_that_stops_before_its_end_has_no_result(cli: str) -> None:
    lines, _ = recorded(cli, "answer")
    reply = read(cli, [line for line in lines if line][:-1]).reply
    assert reply is not None
    assert (reply.status, reply.failure) == (Status.FAILED, Failure.NO_RESULT)
    assert reply.text == ANSWER


@pytest.mark.parametrize("cli", CLIS)
def test_our_own_flags_decide_whatever_the_exit_code(cli: str) -> None:
    lines, _ = recorded(cli, "answer")
    part = [line for line in lines if line][:-1]
    for ended, status, failure in (
        (Ended.CANCELLED, Status.CANCELLED, None),
        (Ended.IDLE, Status.FAILED, Failure.IDLE),
        (Ended.DEADLINE, Status.FAILED, Failure.DEADLINE),
    ):
        reply = read(cli, part, ended=ended, exit_code=0).reply
        assert reply is not None
        assert (reply.status, reply.failure, reply.text) == (status, failure, ANSWER)
    crashed = read(cli, part, exit_code=-9).reply
    assert crashed is not None and crashed.failure is Failure.CRASHED


@pytest.mark.parametrize("cli", CLIS)
def test_a_finished_answer_is_kept_when_only_the_process_lingers(cli: str) -> None:
    lines, _ = recorded(cli, "answer")
    reply = read(cli, lines, ended=Ended.IDLE, exit_code=-9).reply
    assert reply is not None and reply.status is Status.DONE


def test_gemini_starts_its_answer_again_without_a_double() -> None:
    lines, _ = recorded("gemini", "malformed")
    said = read("gemini", lines)
    assert said.reply is not None and said.reply.text == "half of an a"
    assert len(said.of(stream.TextReset)) == 1


def test_claude_voids_what_a_broken_attempt_streamed() -> None:
    def piece(text: str) -> str:
        delta = {"type": "text_delta", "text": text}
        return json.dumps(
            {"type": "stream_event", "event": {"type": "content_block_delta", "delta": delta}}
        )

    done = {"type": "assistant", "message": {"id": "m1", "content": [_text("Kept.")]}}
    retry = {"type": "system", "subtype": "api_retry", "attempt": 1, "error": "overloaded"}
    again = {"type": "assistant", "message": {"id": "m2", "content": [_text("Whole.")]}}
    result = {"type": "result", "subtype": "success", "result": "Whole."}
    found = read(
        "claude",
        [
            piece("Kept."),
            json.dumps(done),
            piece("Bro"),
            json.dumps(retry),
            piece("Who"),
            json.dumps(again),
            json.dumps(result),
        ],
    )
    assert found.reply is not None and found.reply.text == "Whole."
    screen = ""
    for event in found.events:
        screen = "" if isinstance(event, stream.TextReset) else screen
        screen += event.text if isinstance(event, stream.Text) else ""
    assert screen == "Kept.\n\nWhole."


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_claude_falls_back_to_the_last_text_when_its_result_is_empty() -> None:
    done = {"type": "assistant", "message": {"id": "m1", "content": [_text("What I said.")]}}
    result = {"type": "result", "subtype": "success", "is_error": False, "result": ""}
    reply = read("claude", [json.dumps(done), json.dumps(result)]).reply
    assert reply is not None
    assert (reply.status, reply.text) == (Status.DONE, "What I said.")


def test_the_text_of_claudes_sub_agents_is_not_the_answer() -> None:
    sub = {
        "type": "assistant",
        "parent_tool_use_id": "toolu_1",
        "message": {"id": "m1", "content": [_text("sub")]},
    }
    reply = read("claude", [json.dumps(sub)]).reply
    assert reply is not None and reply.text == ""


@pytest.mark.parametrize(
    ("subtype", "failure"),
    [("error_max_turns", Failure.LIMIT), ("error_max_budget_usd", Failure.LIMIT)],
)
def test_claudes_limits_are_limits(subtype: str, failure: Failure) -> None:
    reply = read("claude", [json.dumps({"type": "result", "subtype": subtype})]).reply
    assert reply is not None and reply.failure is failure


def test_row_50_escape_sequences_are_taken_out_of_a_failures_message() -> None:
    words = "\x1b]52;c;ZXZpbA==\x07\x1b[31mbad\x1b[0m\rgone \x9b2J\u202eend"
    reply = read("codex", [], exit_code=1, stderr=words).reply
    assert reply is not None
    assert not set(reply.message) & set("\x1b\x07\x9b\r\u202e")
    assert "bad" in reply.message and "end" in reply.message


def test_geminis_exit_code_is_the_lower_byte_of_the_http_status() -> None:
    for code, failure in ((145, Failure.LOGIN), (173, Failure.RATE_LIMIT), (41, Failure.LOGIN)):
        reply = read("gemini", [], exit_code=code).reply
        assert reply is not None and reply.failure is failure
