"""Reading a policy file: every value checked, and the first wrong one named with what would do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeVar

from mufakat.core.coordination import gate, pattern, policy
from mufakat.core.coordination.flood import Rate

DAY = 86_400
E = TypeVar("E", bound=StrEnum)
Read = Callable[[str, Any], Any]


@dataclass(frozen=True, slots=True)
class Wrong:
    """The first thing that is wrong in a file."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


class _Problem(Exception):
    def __init__(self, where: str, why: str) -> None:
        super().__init__(why)
        self.wrong = Wrong(where, why)


def parse(data: Mapping[str, Any]) -> policy.Policy | Wrong:
    """The policy that a TOML document says; what it leaves out is as in the default."""
    try:
        return _policy(data)
    except _Problem as problem:
        return problem.wrong


def _policy(data: Mapping[str, Any]) -> policy.Policy:
    default = policy.DEFAULT
    rate = default.acquires
    plain = dict(_fields("", data, _TOP, skip=_TABLES))
    burst = plain.pop("burst", rate.burst)
    per_second = plain.pop("acquires_per_second", rate.per_second)
    identities = _table(data, "identities")
    for text in identities:
        _readable(text)
    return replace(
        default,
        **plain,
        acquires=Rate(burst, per_second),
        classes=_classes(_table(data, "classes")),
        roles=MappingProxyType(dict(_each("roles", _table(data, "roles"), _rank))),
        identities=tuple(_each("identities", identities, _rank)),
        gates=MappingProxyType(dict(_each("gate", _table(data, "gate"), _one_of(gate.Rule)))),
        high_traffic=_high_traffic(_table(data, "high_traffic")),
    )


def _classes(
    table: Mapping[str, Any],
) -> tuple[policy.Class, policy.Class, policy.Class, policy.Class]:
    for name in table:
        _rank("classes", name)
    batch, normal, high, incident = (
        replace(one, **dict(_fields(f"classes.{name}.", _table(table, name, "classes."), _CLASS)))
        for name, one in zip(policy.NAMES, policy.DEFAULT.classes, strict=True)
    )
    return batch, normal, high, incident


def _high_traffic(table: Mapping[str, Any]) -> policy.HighTraffic:
    terms = replace(
        policy.DEFAULT.high_traffic, **dict(_fields("high_traffic.", table, _HIGH_TRAFFIC))
    )
    for on, off in (("wait_on", "wait_off"), ("depth_on", "depth_off")):
        if getattr(terms, off) > getattr(terms, on):
            raise _Problem(f"high_traffic.{off}", f"it must not be above {on}")
    return terms


def _fields(
    place: str,
    table: Mapping[str, Any],
    known: Mapping[str, tuple[str, Read]],
    *,
    skip: frozenset[str] = frozenset(),
) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if name in skip:
            continue
        if name not in known:
            raise _Problem(place + name, f"there is no such setting; there are {', '.join(known)}")
        target, read = known[name]
        yield target, read(place + name, value)


def _each(place: str, table: Mapping[str, Any], read: Read) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        yield name, read(f"{place}.{name}", value)


def _table(data: Mapping[str, Any], name: str, place: str = "") -> Mapping[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, Mapping):
        raise _Problem(place + name, f"it must be a table: [{place}{name}]")
    return found


def _rank(where: str, value: Any) -> int:
    if value not in policy.NAMES:
        raise _Problem(where, f"{value!r} is no class; there are {', '.join(policy.NAMES)}")
    return policy.NAMES.index(value)


def _readable(text: str) -> None:
    try:
        pattern.parse(text)
    except pattern.Malformed as problem:
        raise _Problem(f"identities.{text}", str(pattern.Malformed.__doc__)) from problem


def _seconds(least: float, most: float) -> Read:
    def read(where: str, value: Any) -> int:
        return round(_number(where, value, least, most) * 1000)

    return read


def _whole(least: int, most: int) -> Read:
    def read(where: str, value: Any) -> int:
        found = _number(where, value, least, most)
        if not isinstance(value, int):
            raise _Problem(where, "it must be a whole number")
        return int(found)

    return read


def _between(least: float, most: float) -> Read:
    def read(where: str, value: Any) -> float:
        return _number(where, value, least, most)

    return read


def _number(where: str, value: Any, least: float, most: float) -> float:
    # A comparison that NaN fails; True is an int to Python.
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise _Problem(where, f"it must be a number from {least:g} to {most:g}")
    return float(value)


def _yes_or_no(where: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Problem(where, "it must be true or false")
    return value


def _one_of(words: type[E]) -> Read:
    def read(where: str, value: Any) -> E:
        if value not in list(words):
            raise _Problem(where, f"{value!r} is none of {', '.join(words)}")
        return words(value)

    return read


_TABLES = frozenset({"classes", "roles", "identities", "gate", "high_traffic"})
_TOP: Mapping[str, tuple[str, Read]] = {
    "default": ("default", _rank),
    "operator": ("operator", _rank),
    "trust_claimed_roles": ("trust_claimed_roles", _yes_or_no),
    "aging_seconds": ("aging", _seconds(0, DAY)),
    "grace_seconds": ("grace", _seconds(1, 3600)),
    "queue": ("queue", _whole(1, 10_000)),
    "acquires_per_second": ("acquires_per_second", _between(0.1, 10_000)),
    "burst": ("burst", _whole(1, 10_000)),
}
_CLASS: Mapping[str, tuple[str, Read]] = {
    "preemption": ("preemption", _one_of(policy.Preemption)),
    "max_hold_seconds": ("max_hold", _seconds(5, DAY)),
    "min_hold_seconds": ("min_hold", _seconds(0, DAY)),
    "leases": ("leases", _whole(1, 10_000)),
    "broad": ("broad", _whole(0, 64)),
}
_HIGH_TRAFFIC: Mapping[str, tuple[str, Read]] = {
    "wait_on_seconds": ("wait_on", _seconds(1, DAY)),
    "wait_off_seconds": ("wait_off", _seconds(0, DAY)),
    "depth_on": ("depth_on", _whole(1, 10_000)),
    "depth_off": ("depth_off", _whole(0, 10_000)),
    "max_ttl_seconds": ("max_ttl", _seconds(5, DAY)),
}
