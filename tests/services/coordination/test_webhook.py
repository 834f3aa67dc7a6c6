"""A rule's webhook: told once under a key, tried again only where that can help."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from equipment import chat as slack
from equipment.chat import Workspace
from mufakat.chat import webhook
from mufakat.core.base import InvalidInput, Unavailable

pytestmark = pytest.mark.anyio
TOLD = {"reaction": "x_1", "identity": "codex@box:abcdef"}


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with slack.running() as found:
        yield found


async def test_it_is_told_with_its_key(workspace: Workspace) -> None:
    await webhook.call(workspace.url, TOLD, "x_1/key")
    (arrived,) = workspace.tried
    assert (arrived["reaction"], arrived["key"]) == ("x_1", "x_1/key")


@pytest.mark.parametrize("fault", ["500", "429", "lost"])
async def test_what_may_pass_is_tried_again_later(workspace: Workspace, fault: str) -> None:
    workspace.faults = [fault]
    with pytest.raises(Unavailable):
        await webhook.call(workspace.url, TOLD, "k")


async def test_a_refusal_is_for_good(workspace: Workspace) -> None:
    workspace.faults = ["404 gone"]
    with pytest.raises(InvalidInput):
        await webhook.call(workspace.url, TOLD, "k")


async def test_nobody_there(workspace: Workspace) -> None:
    with pytest.raises(Unavailable):
        await webhook.call("http://127.0.0.1:9", TOLD, "k")
