"""The engines there are: the default, and a faulty one that does not hide the others."""

from __future__ import annotations

import pytest

from mufakat.core.base import EngineError, EngineMissing, EngineUnknown
from mufakat.ports.engine import Capabilities, Probe
from mufakat.services.roster import Roster
from services.conftest import INLINE, Puppet, answers

pytestmark = pytest.mark.anyio
DEMO = Capabilities(is_model=False)


class Absent(Puppet):
    """An engine whose program is not installed."""

    def present(self) -> bool:
        return False


class Faulty(Puppet):
    """An engine of somebody else's package with a fault in it."""

    async def probe(self) -> Probe:
        raise ZeroDivisionError("its own fault")


def roster(*engines: Puppet, **more: object) -> Roster:
    demo = Puppet("demo", answers, DEMO)
    by_name = {engine.name: engine for engine in (*engines, demo)}
    return Roster(by_name, broken={"lost": "no module"}, **more)  # type: ignore[arg-type]


async def test_a_faulty_probe_is_told_beside_the_others() -> None:
    probes = await roster(Puppet("one", answers, INLINE), Faulty("two", answers, INLINE)).probes()
    told = {probe.name: probe for probe in probes}
    assert told["one"].available
    assert not told["two"].available
    assert "its own fault" in told["two"].problem
    assert told["lost"].problem == "no module"


def test_the_default_is_the_first_that_is_there_and_the_demo_at_last() -> None:
    absent, there = Absent("one", answers, INLINE), Puppet("two", answers, INLINE)
    assert roster(absent, there).default() == "two"
    assert roster(absent).default() == "demo"
    assert roster(absent, there, default="one").default() == "one"


def test_what_cannot_be_used_names_its_fix() -> None:
    known = roster(Absent("one", answers, INLINE))
    for name, error in (("one", EngineMissing), ("lost", EngineError), ("none", EngineUnknown)):
        with pytest.raises(error) as caught:
            known.ready(name)
        assert caught.value.fix
