"""Streaming in pieces never shows what scrubbing the whole would have hidden."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mufakat.core import secret_tail, secrets

SECRETS = [
    "ghp_" + "aB3" * 12,
    "sk-ant-" + "x1Y2" * 10,
    "AKIA" + "ABCD1234" * 2,
    "password = hunter2hunter2",
    '"api_key": "k3y0123456789abc"',
    "https://user:s3cretpass@host.example/x",
    "-----BEGIN PRIVATE KEY-----\nMIIB\nabc\n-----END PRIVATE KEY-----",
    "Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==",
    "say Basic dXNlcjpwYXNzd29yZDEyMw==",
    '{"auth": "dXNlcjpwYXNzd29yZDEyMw=="}',
    "authorization: bearer x7Qa9Bz3Lk8Wm2",
    "curl -s -u bob:hunter2hunter2 h",
    "SG.x7Qabcdefghijklmnop_12.x7Qabcdefghijklmnopqrstuvwxyz0123456789abcdefg",
    "https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/x7Qabcdefghijklmnopqrstu",
    "123456789:AAx7Qabcdefghijklmnopqrstuvwxyz0123",
    "AccountKey=" + "aB3/" * 21 + "ab==",
    '"private_key": "-----BEGIN PRIVATE KEY-----\\n' + "aB3/" * 12 + '"',
    "eyJhbGciOiJI.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
]


def streamed(whole: str, cuts: list[int]) -> str:
    """What a reader sees when the text comes in pieces."""
    shown, held, at = "", "", 0
    for cut in [*sorted(min(c, len(whole)) for c in cuts), len(whole)]:
        held += whole[at:cut]
        at = cut
        length = secret_tail.settled(held)
        shown += secrets.scrub(held[:length]).text
        held = held[length:]
    return shown + secrets.scrub(held).text


@settings(max_examples=600)
@given(
    st.sampled_from(SECRETS),
    st.text("ab \n.,", max_size=20),
    st.text("ab \n.,", max_size=20),
    st.lists(st.integers(0, 120), max_size=12),
)
def test_no_way_of_cutting_shows_a_secret(
    secret: str, before: str, after: str, cuts: list[int]
) -> None:
    whole = f"{before} {secret} {after}"
    assert streamed(whole, cuts) == secrets.scrub(whole).text


def test_twin_releasing_every_piece_at_once_shows_it() -> None:
    secret = SECRETS[0]
    pieces = [f"see {secret[:10]}", f"{secret[10:]} ok"]
    assert secret in "".join(secrets.scrub(piece).text for piece in pieces)


def test_prose_is_released_word_by_word() -> None:
    assert secret_tail.settled("Hello wor") == len("Hello ")
    assert secret_tail.settled("Hello world\n") == len("Hello world\n")
