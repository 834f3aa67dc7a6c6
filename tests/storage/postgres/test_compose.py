"""The compose file for teams starts a PostgreSQL that Mufakat accepts without a warning."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from equipment import postgres as equipment
from mufakat.storage import postgres

pytestmark = pytest.mark.anyio
COMPOSE = Path(__file__).resolve().parents[3] / "docs" / "compose.yaml"


async def test_the_settings_of_the_compose_file_are_accepted(tmp_path: Path) -> None:
    service = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]["db"]
    program, *words = service["command"]
    assert program == "postgres" and words[::2] == ["-c"] * (len(words) // 2)
    given = dict(word.split("=") for word in words[1::2])
    assert "--data-checksums" in service["environment"]["POSTGRES_INITDB_ARGS"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    with equipment.running(**given) as cluster:
        store = await postgres.open_store(cluster.url("postgres"), home=tmp_path)
        facts = dict((await store.check()).facts)
        await store.close()
    assert facts["synchronous_commit"] == "on" and facts["warnings"] == "none"
