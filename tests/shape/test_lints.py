"""House rules over the whole package, and for each rule a bad source that must be caught."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable

import pytest

from shape import lints, sources
from shape.sources import Source

Lint = Callable[[Source], list[str]]
RATCHET = tomllib.loads((sources.REPOSITORY / "tests/shape/ratchet.toml").read_text())

BAD: dict[Lint, tuple[tuple[str, str], ...]] = {
    lints.shell: (
        ("engines/x.py", "subprocess.run(line, shell=True)"),
        ("engines/x.py", "subprocess.run(line, shell=not quiet)"),
        ("cli/x.py", "os.system(line)"),
    ),
    lints.path_prefix: (
        ("services/x.py", "ok = str(path).startswith(root)"),
        ("services/x.py", "ok = os.path.normpath(x).startswith(y)"),
        ("services/x.py", "ok = x.startswith(self.project_root + os.sep)"),
        ("services/x.py", "rest = x.removeprefix(str(folder))"),
    ),
    lints.splitlines_in_streams: (
        ("engines/codex/events.py", "for line in text.splitlines(): pass"),
        ("engines/process/stream.py", "lines = buffer.splitlines(keepends=True)"),
        ("sdk/sse.py", "lines = text.splitlines()"),
        ("cli/follow.py", "lines = text.splitlines()"),
    ),
    lints.wall_clock: (
        ("core/lease.py", "import time\nnow = time.time()"),
        ("storage/leases.py", "now = int(time.time_ns())"),
        ("services/turns.py", "now = datetime.now(UTC)"),
        ("services/turns.py", "now = datetime.datetime.utcnow()"),
    ),
    lints.printing: (("services/x.py", "print('hello')"),),
    lints.late_imports: (
        ("services/x.py", "def f():\n    import json"),
        ("server/x.py", "async def f():\n    if x:\n        from a import b"),
    ),
    lints.mutable_state: (
        ("core/x.py", "CACHE = {}"),
        ("core/x.py", "cache: dict[str, int] = {'a': 1}"),
        ("core/x.py", "SEEN = {'a': 1}\ndef f():\n    SEEN['b'] = 2"),
        ("core/x.py", "SEEN = ['a']\ndef f():\n    SEEN.append('b')"),
        ("core/x.py", "SEEN = set()"),
        ("core/x.py", "QUEUE = collections.deque[int]()"),
        ("core/x.py", "class A:\n    seen = []"),
        ("core/x.py", "def f():\n    global x\n    x = 1"),
    ),
    lints.vague_name: (
        ("services/utils.py", ""),
        ("engines/common/x.py", ""),
        ("storage/lease_manager.py", ""),
        ("cli/helpers.py", ""),
    ),
    lints.reexports: (("services/x.py", '"""Doc."""\nfrom a import b\n__all__ = ["b"]'),),
    lints.no_docstring: (("services/x.py", "x = 1"),),
    lints.broad_excepts: (
        ("services/x.py", "try:\n    f()\nexcept Exception:\n    pass"),
        ("services/x.py", "try:\n    f()\nexcept:\n    log()"),
        (
            "services/x.py",
            "try:\n    f()\nexcept (OSError, BaseException) as e:\n    raise X from e",
        ),
    ),
}

GOOD: dict[Lint, tuple[tuple[str, str], ...]] = {
    lints.shell: (("engines/x.py", "subprocess.run([a], shell=False)"),),
    lints.path_prefix: (
        ("services/x.py", "ok = line.startswith('data:')"),
        ("services/x.py", "ok = path.is_relative_to(root)"),
    ),
    lints.splitlines_in_streams: (
        ("core/x.py", "lines = text.splitlines()"),
        ("engines/codex/events.py", "lines = text.split('\\n')"),
    ),
    lints.wall_clock: (
        ("services/x.py", "now = tx.now()"),
        ("services/x.py", "began = time.monotonic()"),
    ),
    lints.printing: (("cli/x.py", "print('hello')"),),
    lints.late_imports: (
        ("cli/x.py", "def f():\n    import json"),
        ("engines/registry.py", "def f():\n    import json"),
    ),
    lints.mutable_state: (
        ("core/x.py", "A = MappingProxyType({})"),
        ("core/x.py", "a: Mapping[str, int] = {'a': 1}"),
        ("core/x.py", "NAMES: dict[str, int] = {'a': 1}\ndef f():\n    return NAMES['a']"),
        ("core/x.py", "A = frozenset({1})\nB = (1, 2)"),
        ("core/x.py", "def f():\n    seen = []"),
    ),
    lints.broad_excepts: (
        ("services/x.py", "try:\n    f()\nexcept BaseException:\n    undo()\n    raise"),
    ),
}

ABSOLUTE = tuple(lint for lint in BAD if lint is not lints.broad_excepts)


def named(lint: Lint) -> str:
    return lint.__name__


@pytest.mark.parametrize("lint", ABSOLUTE, ids=named)
def test_the_package_keeps_the_rule(lint: Lint) -> None:
    allowed = set(RATCHET.get(named(lint), {}).get("files", ()))
    found = [
        problem
        for source in sources.package()
        if source.name not in allowed and source.name != "__init__.py"
        for problem in lint(source)
    ]
    assert not found, f"{lint.__doc__} {found}"


@pytest.mark.parametrize(
    ("lint", "name", "text"),
    [(lint, name, text) for lint, cases in BAD.items() for name, text in cases],
)
def test_a_bad_source_is_caught(lint: Lint, name: str, text: str) -> None:
    assert lint(Source(name, text))


@pytest.mark.parametrize(
    ("lint", "name", "text"),
    [(lint, name, text) for lint, cases in GOOD.items() for name, text in cases],
)
def test_a_good_source_passes(lint: Lint, name: str, text: str) -> None:
    assert lint(Source(name, text)) == []


def test_broad_excepts_stand_only_where_they_are_counted() -> None:
    found = Counter(
        source.name for source in sources.package() for _ in lints.broad_excepts(source)
    )
    assert dict(found) == RATCHET["broad_excepts"], "name the place and the reason in ratchet.toml"
