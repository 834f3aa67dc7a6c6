"""One table: every error that can happen has its exit code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mufakat.cli import complaint, exit_codes
from mufakat.cli.session import Session
from mufakat.core import base
from mufakat.core.talk import turn
from mufakat.sdk import errors
from mufakat.server.http import problem, refusal


def tree(kind: type[base.MufakatError] = base.MufakatError) -> Iterator[type[base.MufakatError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from tree(child)


ERRORS = [kind for kind in tree() if kind.__module__ in (base.__name__, refusal.__name__)]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_has_its_row(kind: type[base.MufakatError]) -> None:
    assert kind.code in exit_codes.CODES


def test_every_code_of_the_server_has_its_row() -> None:
    assert set(problem.STATUS) <= set(exit_codes.CODES)


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_an_error_is_shown_with_its_fix(kind: type[base.MufakatError]) -> None:
    told = complaint.read(Session(), kind("It went wrong."))
    assert told.message == "It went wrong."
    assert told.fix, "the docstring names the fix where nobody gave one"
    assert told.exit_code in exit_codes.MEANING
    assert complaint.read(Session(), kind("a", fix="b")).fix == "b"


@pytest.mark.parametrize("status", problem.STATUS.values())
def test_an_unknown_code_goes_by_its_status(status: int) -> None:
    told = complaint.read(Session(), errors.ServerError("x", code="brand_new", status=status))
    assert told.exit_code in exit_codes.MEANING


def test_codes_that_scripts_rely_on() -> None:
    expected = {
        base.InvalidInput: 2,
        base.DoesNotFit: 2,
        base.InUse: 3,
        base.StorageFull: 3,
        base.Conflict: 4,
        base.NotFound: 5,
        base.EngineUnknown: 5,
        base.StoreCorrupt: 1,
        base.StoreNewer: 6,
        base.NotAllowed: 6,
    }
    for kind, code in expected.items():
        assert complaint.read(Session(), kind()).exit_code == code


@pytest.mark.parametrize("status", turn.Status)
def test_zero_is_for_done_alone(status: turn.Status) -> None:
    for failure in (None, *turn.Failure):
        code = exit_codes.of_turn(status.value, failure)
        assert (code == 0) == (status is turn.Status.DONE)
        assert code in exit_codes.MEANING
