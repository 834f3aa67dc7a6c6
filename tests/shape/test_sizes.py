"""Files and functions stay small; what is larger is listed, and may only shrink."""

from __future__ import annotations

import statistics
import tomllib

from shape import lints, sources
from shape.sources import Source

RATCHET = tomllib.loads((sources.REPOSITORY / "tests/shape/ratchet.toml").read_text())
MEDIAN, LARGE, HUGE, LONG = 130, 400, 600, 40


def too_large(found: list[Source], listed: dict[str, int]) -> list[str]:
    """Files that break the ratchet, each with what to do."""
    problems = []
    sizes = {source.name: source.lines for source in found}
    for name, lines in sizes.items():
        if lines > HUGE:
            problems.append(f"{name} has {lines} lines: split it")
        elif lines > LARGE and name not in listed:
            problems.append(f"{name} has {lines} lines: split it, or list it in ratchet.toml")
    return problems + loose(listed, {name: sizes.get(name, 0) for name in listed}, LARGE)


def loose(listed: dict[str, int], sizes: dict[str, int], limit: int) -> list[str]:
    """Entries that no longer say the exact size, or are no longer needed."""
    problems = []
    for name, entry in listed.items():
        size = sizes.get(name, 0)
        if size <= limit:
            problems.append(f"{name} is small enough now: take its entry out")
        elif size != entry:
            problems.append(f"{name} has {size}, its entry says {entry}: entries only shrink")
    return problems


def long_functions(found: list[Source], listed: dict[str, int]) -> list[str]:
    """Functions that break the ratchet."""
    sizes: dict[str, int] = {}
    for source in found:
        sizes |= lints.long_functions(source, LONG)
    new = [f"{name} has {size} lines" for name, size in sizes.items() if name not in listed]
    return new + loose(listed, sizes, LONG)


def test_no_file_is_too_large() -> None:
    assert too_large(sources.everything(), RATCHET["files"]) == []


def test_the_median_file_is_small() -> None:
    sizes = [source.lines for source in sources.package() if source.lines > 3]
    assert statistics.median(sizes) <= MEDIAN


def test_no_function_is_too_long() -> None:
    assert long_functions(sources.package(), RATCHET["functions"]) == []


def test_a_large_file_is_caught() -> None:
    large, huge = Source("a.py", "x\n" * 401), Source("b.py", "x\n" * 601)
    assert too_large([large], {}) == ["a.py has 401 lines: split it, or list it in ratchet.toml"]
    assert too_large([large], {"a.py": 401}) == []
    assert too_large([huge], {"b.py": 601}) == ["b.py has 601 lines: split it"]


def test_an_entry_may_only_shrink() -> None:
    large, small = Source("a.py", "x\n" * 450), Source("a.py", "x\n" * 300)
    assert too_large([large], {"a.py": 440})
    assert too_large([large], {"a.py": 460})
    assert too_large([small], {"a.py": 450})


def test_a_long_function_is_caught() -> None:
    text = "def f() -> None:\n" + "    x = 1\n" * 40
    assert long_functions([Source("a.py", text)], {}) == ["a.py::f has 41 lines"]
    assert long_functions([Source("a.py", text)], {"a.py::f": 41}) == []
