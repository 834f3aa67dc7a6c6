"""The figures in the words of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from mufakat.core.coordination.series import SERIES, Series, Type
from mufakat.services.metrics import Figures, Key, Spread

MEDIA = CONTENT_TYPE_LATEST

T = TypeVar("T")


class Told(Collector):
    """Figures that were read before, for one answer."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        for name, series in SERIES.items():
            match series.type:
                case Type.COUNTER:
                    yield _counter(name, series, _of(name, self._figures.counters))
                case Type.GAUGE:
                    yield _gauge(name, series, _of(name, self._figures.gauges))
                case Type.HISTOGRAM:
                    yield _histogram(name, series, _of(name, self._figures.spreads))


def render(figures: Figures) -> bytes:
    """The text that Prometheus scrapes."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Told(figures))
    return generate_latest(registry)


def _of(name: str, figures: Mapping[Key, T]) -> Mapping[tuple[str, ...], T]:
    return {labels: value for (of, labels), value in figures.items() if of == name}


def _counter(name: str, series: Series, found: Mapping[tuple[str, ...], float]) -> Metric:
    family = CounterMetricFamily(name, series.help, labels=series.labels)
    # One without labels is there from the start, so that its first step is seen.
    for labels, value in (found if found or series.labels else {(): 0.0}).items():
        family.add_metric(labels, value)
    return family


def _gauge(name: str, series: Series, found: Mapping[tuple[str, ...], float]) -> Metric:
    family = GaugeMetricFamily(name, series.help, labels=series.labels)
    for labels, value in found.items():
        family.add_metric(labels, value)
    return family


def _histogram(name: str, series: Series, found: Mapping[tuple[str, ...], Spread]) -> Metric:
    family = HistogramMetricFamily(name, series.help, labels=series.labels)
    for labels, spread in found.items():
        family.add_metric(labels, _buckets(series, spread), spread.total)
    return family


def _buckets(series: Series, spread: Spread) -> list[tuple[str, float]]:
    bounds = [*map(str, map(float, series.buckets)), "+Inf"]
    return list(zip(bounds, map(float, accumulate(spread.counts)), strict=True))
