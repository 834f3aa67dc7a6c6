"""Event lines: whatever is in them, an object or a reason comes out."""

from __future__ import annotations

import json
import random
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mufakat.engines.process import json_line

TORTURE = [
    '{"a":' + "[" * 100_000,
    '{"a":' * 100_000 + "1" + "}" * 100_000,
    "{" * 5000,
    "[" * 5000,
    '{"a":"' + "\\" * 99_999,
    '{"a":"\\u12"}',
    '{"a":1}{"b":2}',
    '{"a":1} trailing',
    "{'a':1}",
    '{"a"',
    "{",
    "}",
    "",
    " ",
    "\ufeff",
    "null",
    "[1]",
    '"text"',
    "7",
    "nan",
    '{"a":\x01}',
    '{"a":"\n"}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1e}',
    "{" + '"a":1,' * 50_000,
]


@pytest.mark.parametrize("line", TORTURE, ids=lambda line: line[:12].encode().hex())
def test_x6_what_is_no_object_gives_a_reason(line: str) -> None:
    answer = json_line.decode(line)
    assert isinstance(answer, json_line.NotJson)
    assert 0 < len(answer.why) <= 200


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('\ufeff{"a":1}', {"a": 1}),
        (' {"a":1} ', {"a": 1}),
        ('{"a":NaN,"b":Infinity,"c":-Infinity,"d":1e999}', dict.fromkeys("abcd")),
        ('{"a":9223372036854775807}', {"a": 2**63 - 1}),
        ('{"a":-9223372036854775808}', {"a": -(2**63)}),
        ('{"a":9223372036854775808}', {"a": "9223372036854775808"}),
        ('{"a":-9223372036854775809}', {"a": "-9223372036854775809"}),
        ('{"a":' + "9" * 5000 + "}", {"a": "9" * 5000}),
        ('{"a":"\\ud800 \\u0000","\\udfff":[{"b":"\\ud83d\\ude00"}]}',
         {"a": "\ufffd \u2400", "\ufffd": [{"b": "😀"}]}),
        ('{"a":1,"a":2}', {"a": 2}),
        ('{"a":"' + "[{" * 200 + '"}', {"a": "[{" * 200}),
        ('{"a":"\\"' + "[" * 100 + '"}', {"a": '"' + "[" * 100}),
        ('{"a":[' + ",".join(["[]"] * 500) + "]}", {"a": [[]] * 500}),
    ],
)  # fmt: skip
def test_x6_odd_values(line: str, value: object) -> None:
    assert json_line.decode(line) == value


@pytest.mark.parametrize(("depth", "accepted"), [(64, True), (65, False)])
def test_x6_depth(depth: int, accepted: bool) -> None:
    line = '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"
    assert isinstance(json_line.decode(line), dict) is accepted


def test_x6_a_twin_without_the_scan_dies_of_a_deep_line() -> None:
    with pytest.raises(RecursionError):
        json.loads('{"a":' * 100_000 + "1" + "}" * 100_000)


def test_x6_a_twin_without_hooks_dies_of_a_long_number() -> None:
    with pytest.raises(ValueError, match="digits"):
        json.loads('{"a":' + "9" * 5000 + "}")


def test_x6_five_thousand_random_lines_never_raise() -> None:
    seed = time.time_ns()
    print(f"seed {seed}")
    rng = random.Random(seed)
    alphabet = '{}[]",:\\u0dE-+.\ufeff\u2028\0\ud800' + string.ascii_letters + string.digits
    base = json.dumps({"type": "text", "n": [1, {"deep": [None, True, 1.5e3]}], "s": 'q"\\'})
    for _ in range(5000):
        line = list(base)
        for _ in range(rng.randrange(1, 8)):
            at = rng.randrange(len(line))
            line[at : at + rng.randrange(3)] = rng.choices(alphabet, k=rng.randrange(3))
        answer = json_line.decode("".join(line))
        assert isinstance(answer, dict | json_line.NotJson)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(string.printable), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(string.ascii_letters), VALUES), st.booleans())
@settings(max_examples=60)
def test_ordinary_objects_come_out_as_they_went_in(value: object, ascii_only: bool) -> None:
    assert json_line.decode(json.dumps(value, ensure_ascii=ascii_only)) == value
