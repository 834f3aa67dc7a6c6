"""The dashboard and the page of metrics name every series that there is, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from docs import tables
from mufakat.core.coordination.series import SERIES, Type

NAME = re.compile(r"\biacp_[a-z_]+")
PARTS = {
    Type.COUNTER: ("",),
    Type.GAUGE: ("",),
    Type.HISTOGRAM: ("_bucket", "_sum", "_count"),
}
EXPOSED = {name + part for name, one in SERIES.items() for part in PARTS[one.type]}


def board() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tables.DOCS / "grafana/mufakat.json").read_text("utf-8"))
    return found


def queries(dashboard: dict[str, Any]) -> Iterator[str]:
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def unknown(dashboard: dict[str, Any]) -> set[str]:
    """Names in a dashboard that no server exposes."""
    return {name for query in queries(dashboard) for name in NAME.findall(query)} - EXPOSED


def test_the_dashboard_asks_for_what_there_is() -> None:
    assert unknown(board()) == set()


def test_every_series_is_on_the_dashboard() -> None:
    asked = " ".join(queries(board()))
    assert [name for name in SERIES if name not in asked] == []


def test_labels_in_queries_are_those_of_the_series() -> None:
    for query in queries(board()):
        grouped = {
            word.strip()
            for part in re.findall(r"by \(([^)]*)\)", query)
            for word in part.split(",")
        }
        for name in NAME.findall(query):
            series = SERIES.get(name) or SERIES[name.removesuffix("_bucket")]
            assert grouped - {"le"} <= set(series.labels), query


def test_a_wrong_name_is_noticed() -> None:
    changed = board()
    changed["panels"][0]["targets"][0]["expr"] = "sum(iacp_agnets)"
    assert unknown(changed) == {"iacp_agnets"}


def test_panels_have_ids_of_their_own_and_a_source() -> None:
    panels = board()["panels"]
    assert len({one["id"] for one in panels}) == len(panels)
    assert all(one["datasource"]["uid"] == "${source}" for one in panels)


def test_the_page_lists_every_series_and_no_other() -> None:
    page = (tables.DOCS / "metrics.md").read_text("utf-8")
    rows = re.findall(r"^\| `(iacp_[a-z_]+)` \| (\w+) \| ([^|]*) \|", page, re.MULTILINE)
    told = {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert told == {name: (one.type.value, one.labels) for name, one in SERIES.items()}
