"""The API document, the answers and the error table agree with each other."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from pydantic import TypeAdapter

from mufakat.app import App
from mufakat.core import base
from mufakat.server.http import document, problem, refusal
from mufakat.server.http.schemas import answers

COMMITTED = Path(__file__).parents[3] / "docs" / "openapi.json"


def test_the_committed_document_is_up_to_date() -> None:
    assert json.loads(COMMITTED.read_text()) == document.build(), "run scripts/openapi"


def test_the_document_is_openapi_3_1_and_shows_the_stream() -> None:
    made = document.build()
    assert made["openapi"].startswith("3.1")
    content = made["paths"]["/api/v1/events"]["get"]["responses"]["200"]["content"]
    assert set(content) == {"application/json", "text/event-stream"}
    assert made["paths"]["/api/v1/health"]["get"]["security"] == []
    problems = {
        "default" in operation["responses"]
        for path in made["paths"].values()
        for operation in path.values()
    }
    assert problems == {True}


def errors(module: ModuleType) -> list[type[base.MufakatError]]:
    return [
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, base.MufakatError)
    ]


@pytest.mark.parametrize("kind", [*errors(base), *errors(refusal)])
def test_every_error_has_a_status_and_a_fix(kind: type[base.MufakatError]) -> None:
    assert kind.code in problem.STATUS
    made = problem.document(kind("What happened.", thing=1, status=7))
    assert made["status"] == problem.STATUS[kind.code]
    assert made["fix"]
    assert made["thing"] == 1
    assert made["retryable"] is kind.retryable
    answers.Problem.model_validate(made)


def test_client_errors_that_may_be_retried_say_when() -> None:
    """A client may repeat 408 and 429 alone among the 4xx."""
    for kind in (*errors(base), *errors(refusal)):
        status = problem.status_of(kind())
        if 400 <= status < 500:
            assert kind.retryable is (status in {408, 429}), kind
        names = {name for name, _ in problem.answer(kind()).headers}
        assert (b"retry-after" in names) is (
            status in {408, 429} or (status == 503 and kind.retryable)
        )


def test_an_unknown_subclass_takes_its_parents_status() -> None:
    class Special(base.NotFound):
        """Nothing; look elsewhere."""

        code = "special"

    assert problem.status_of(Special()) == 404


@pytest.mark.anyio
async def test_every_answer_has_the_shape_of_the_document(
    client: httpx.AsyncClient, app: App, project: Path
) -> None:
    async def get(path: str, shape: object) -> dict[str, object]:
        answer = await client.get(f"/api/v1{path}")
        assert answer.status_code == 200, answer.text
        TypeAdapter(shape).validate_json(answer.content)
        return dict(answer.json())

    ask = {"prompt": "Hello", "project": str(project), "model": "tool"}
    accepted = await client.post("/api/v1/turns", json=ask)
    answers.Turn.model_validate_json(accepted.content)
    assert accepted.headers["location"] == f"/api/v1/turns/{accepted.json()['id']}"
    turn = await get(f"/turns/{accepted.json()['id']}?wait=20", answers.Turn)
    assert turn["status"] == "done"
    assert "I used a tool" in str(turn["text"])
    thread, pack = turn["conversation"], turn["pack"]
    await get("/health", answers.Health)
    await get("/status", answers.Status)
    await get("/projects", answers.Listing[answers.Project])
    await get("/conversations", answers.Listing[answers.Conversation])
    await get(f"/conversations/{str(thread)[:20]}", answers.Conversation)
    await get(f"/conversations/{thread}/messages", answers.Listing[answers.Message])
    await get("/turns", answers.Listing[answers.Turn])
    await get("/packs", answers.Listing[answers.Pack])
    await get(f"/packs/{pack}", answers.Pack)
    await get("/packs/last/texts", answers.PackTexts)
    await get(f"/packs/{pack}/diff/last", answers.PackDiff)
    await get("/engines", answers.Engines)
    await get("/doctor", answers.Doctor)
    await get("/events", answers.EventPage)
    preview = await client.post("/api/v1/packs/preview", json=ask)
    answers.Preview.model_validate_json(preview.content)
    check = await client.post("/api/v1/check", json={"deep": True})
    assert answers.StoreHealth.model_validate_json(check.content).problems == []


@pytest.mark.anyio
async def test_pages_of_messages_run_both_ways(
    client: httpx.AsyncClient, app: App, project: Path
) -> None:
    thread = await app.talk.start(str(project))
    url = f"/api/v1/conversations/{thread.id}/messages"
    for number in range(1, 6):
        said = await client.post(url, json={"text": f"message {number}"})
        assert said.status_code == 201
    first = (await client.get(url, params={"limit": 3})).json()
    assert [row["number"] for row in first["items"]] == [1, 2, 3]
    rest = (await client.get(url, params={"limit": 3, "after": first["next"]})).json()
    assert ([row["number"] for row in rest["items"]], rest["next"]) == ([4, 5], None)
    back = (await client.get(url, params={"limit": 2, "before": 6})).json()
    assert [row["number"] for row in back["items"]] == [5, 4]
    assert (await client.get(url, params={"after": 1, "before": 5})).status_code == 422


@pytest.mark.anyio
async def test_the_settings_in_doctor_hold_no_secret(app: App) -> None:
    from mufakat.server.http.routes import engines
    from mufakat.settings import EngineSettings

    secret = EngineSettings(env={"KEY": "hunter2"}, args=("hunter2",), config={"k": "hunter2"})
    settings = app.settings.model_copy(update={"engines": {"claude": secret}})
    assert "hunter2" not in json.dumps(engines.summary(settings))


@pytest.mark.anyio
@pytest.mark.parametrize(
    "text", ["1_0", " 5", "+5", "5\n", "٣", "0x5", "true", "", "0", "201", "1.5"]
)
async def test_numbers_in_queries_are_plain(client: httpx.AsyncClient, text: str) -> None:
    answer = await client.get("/api/v1/turns", params={"limit": text})
    assert answer.status_code == 422
    assert answer.json()["fields"][0]["field"] == "limit"


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["~'a", "~nobody-here/x", "relative", "/nowhere", "\u202e"])
async def test_a_path_that_is_no_folder_is_refused(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.post("/api/v1/projects", json={"path": path})
    assert answer.status_code == 422
