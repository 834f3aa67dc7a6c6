"""Notices: a key, a short text, a life."""

from __future__ import annotations

import pytest

from mufakat.core.base import InvalidInput
from mufakat.core.coordination import notice


def test_a_notice_within_the_limits_passes() -> None:
    notice.check("staging", "it is down", ttl=3_600)


@pytest.mark.parametrize(
    ("key", "text", "ttl"),
    [
        ("", "x", 60),
        ("Staging", "x", 60),
        ("a b", "x", 60),
        ("k" * 65, "x", 60),
        ("k", " ", 60),
        ("k", "x" * 2_001, 60),
        ("k", "x", 0),
        ("k", "x", float("nan")),
        ("k", "x", 8 * 86_400),
    ],
)
def test_what_is_no_notice_is_refused(key: str, text: str, ttl: float) -> None:
    with pytest.raises(InvalidInput) as caught:
        notice.check(key, text, ttl=ttl)
    assert caught.value.fix
