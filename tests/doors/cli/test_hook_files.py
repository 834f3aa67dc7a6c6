"""Hooks go into settings files and out again, and every byte of the person's stays."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from mufakat.cli.hook_files import edit, installing, json_hooks, json_text, record, toml_hooks
from mufakat.cli.hook_files.place import Place, Scope, places
from mufakat.core.base import Conflict
from mufakat.core.coordination import hooks, opencode_plugin

COMMAND = ("/opt/a venv/bin/python", "-I", "-S", "/opt/a venv/lib/mufakat/sdk/hook.py")
OTHER = ("/usr/bin/python3", "-I", "-S", "/usr/lib/mufakat/sdk/hook.py")
EVENTS = [*hooks.DIALECTS["claude"].events, *hooks.DIALECTS["gemini"].events]
CLAUDE = hooks.settings("claude", COMMAND)

names = st.sampled_from([*EVENTS, "hooks", "matcher", "command", 'ä\n"\\', ""]) | st.text(
    max_size=6
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
groups = st.lists(
    st.fixed_dictionaries(
        {"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=9)}), max_size=2)}
    )
    | values,
    max_size=3,
)
tables = st.dictionaries(st.sampled_from(EVENTS), groups, max_size=4)
documents = st.dictionaries(names, values, max_size=4).map(
    lambda data: {key: value for key, value in data.items() if key != "hooks"}
)
spaces = st.sampled_from(["", " ", "\n", "\n\n\t", "  \r\n", ' // note: {"hooks": [\n', "/* , */"])


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value as JSON with any layout, and comments in it."""

    def gap() -> str:
        return draw(spaces)

    def say(part: Any) -> str:
        match part:
            case dict():
                inside = f"{gap()},{gap()}".join(
                    f"{json.dumps(name)}{gap()}:{gap()}{say(one)}" for name, one in part.items()
                )
                return "{" + gap() + inside + gap() + "}"
            case list():
                return "[" + gap() + f"{gap()},{gap()}".join(map(say, part)) + gap() + "]"
        return json.dumps(part, ensure_ascii=draw(st.booleans()))

    return gap() + say(value) + gap()


@st.composite
def settings_texts(draw: st.DrawFn) -> str:
    """Settings files of every layout; with hooks of the person's, or without."""
    data = draw(documents)
    if draw(st.booleans()):
        items = [*data.items(), ("hooks", draw(tables))]
        data = dict(draw(st.permutations(items)))
    layout = draw(st.sampled_from(["dense", "indented", "tabs", "odd"]))
    match layout:
        case "dense":
            return json.dumps(data)
        case "indented":
            return json.dumps(data, indent=draw(st.integers(1, 4))) + draw(
                st.sampled_from(["", "\n"])
            )
        case "tabs":
            return json.dumps(data, indent="\t").replace("\n", "\r\n")
    return draw(written(data))


@given(settings_texts())
def test_install_then_remove_gives_the_same_bytes(text: str) -> None:
    made = json_hooks.install(text, CLAUDE)
    note(made.text)
    assert edit.without(made.text, made.pieces) == text
    before, after = _data(text), _data(made.text)
    for event, added in CLAUDE.items():
        theirs = before.get("hooks", {}).get(event, [])
        assert after["hooks"][event] == [*theirs, *added]
    assert {k: v for k, v in after.items() if k != "hooks"} == {
        k: v for k, v in before.items() if k != "hooks"
    }
    assert set(json_hooks.installed(made.text)) == set(CLAUDE)


@given(settings_texts())
def test_without_a_record_all_but_empty_lists_stays(text: str) -> None:
    """The home may be gone: then our hooks are found by what they are."""
    made = json_hooks.install(text, CLAUDE)
    rest = json_hooks.remove(made.text)
    note(rest)
    assert json_hooks.installed(rest) == {}
    assert _pruned(_data(rest)) == _pruned(_data(text))


def _data(text: str) -> Any:
    return json_text.plain(text, json_text.parse(text))


def _pruned(data: Any) -> Any:
    table = {event: found for event, found in data.get("hooks", {}).items() if found}
    rest = {name: value for name, value in data.items() if name != "hooks"}
    return {**rest, "hooks": table} if table else rest


@given(st.text(max_size=40) | settings_texts().map(lambda text: text[:-1]))
def test_the_reader_takes_what_json_takes_and_no_more(text: str) -> None:
    try:
        expected = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        if "//" not in text and "/*" not in text:
            with pytest.raises(json_text.NotJson):
                json_text.parse(text)
        return
    assert _data(text) == expected


def _refuse(name: str) -> None:
    raise ValueError(name)


TOMLS = [
    "",
    "model = 'x'",
    "model = 'x'\n",
    "# only a comment",
    "[a]\nb = 1\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'mine'\n",
    "[hooks]\nsome = 'thing'\n",
    "a = '''\nlong\n'''\r\n# end",
    '[mcp_servers.x]\ncommand = "y"\n\n\n',
]


@pytest.mark.parametrize("text", TOMLS)
def test_toml_install_then_remove_gives_the_same_bytes(text: str) -> None:
    wanted = hooks.settings("codex", COMMAND)
    made = toml_hooks.install(text, wanted)
    assert edit.without(made.text, made.pieces) == text
    assert toml_hooks.remove(made.text) == text
    before, after = tomllib.loads(text), tomllib.loads(made.text)
    for event, added in wanted.items():
        assert after["hooks"][event] == [*before.get("hooks", {}).get(event, []), *added]
    assert toml_hooks.installed(made.text).keys() == wanted.keys()


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True).filter(lambda name: name != "hooks"),
        st.integers() | st.booleans() | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    ),
    st.sampled_from(["", "\n", "\n\n# note", "\r\n"]),
)
def test_toml_of_every_kind_keeps_its_bytes(data: dict[str, Any], end: str) -> None:
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()]
    text = "\n".join(lines) + end
    made = toml_hooks.install(text, hooks.settings("codex", COMMAND))
    assert edit.without(made.text, made.pieces) == text
    assert toml_hooks.remove(made.text) == text


@pytest.mark.parametrize(
    "text", ["a = ", "hooks = 1\n", "[hooks]\nStop = [{a = 1}]\n", "\ufeffa=1"]
)
def test_toml_that_cannot_take_hooks_is_refused(text: str) -> None:
    with pytest.raises(toml_hooks.NotToml):
        toml_hooks.install(text, hooks.settings("codex", COMMAND))


def placed(folder: Path, engine: str) -> Place:
    user, _ = places(engine, environ={"HOME": str(folder)}, project=folder / "project")
    return user


@pytest.mark.parametrize("engine", ["claude", "codex", "gemini", "opencode"])
def test_a_file_that_was_not_there_is_not_there_again(tmp_path: Path, engine: str) -> None:
    place, home = placed(tmp_path / "user", engine), tmp_path / "home"
    assert installing.install(place, COMMAND, home=home)
    assert installing.installed(place)
    first = place.path.read_bytes()
    assert not installing.install(place, COMMAND, home=home)
    assert place.path.read_bytes() == first
    assert installing.remove(place, home=home)
    assert not (tmp_path / "user").exists()
    assert not installing.remove(place, home=home)


@pytest.mark.parametrize(
    ("engine", "text"),
    [("claude", '{"hooks":{"Stop":[]},"x":1}'), ("gemini", "{\n  // mine\n}\n"), ("codex", "a=1")],
)
def test_a_newer_installation_takes_the_place_of_the_older(
    tmp_path: Path, engine: str, text: str
) -> None:
    place, home = placed(tmp_path, engine), tmp_path / "home"
    place.path.parent.mkdir(parents=True)
    place.path.write_text(text)
    place.path.chmod(0o640)
    for command in (OTHER, COMMAND):
        assert installing.install(place, command, home=home)
        assert place.path.stat().st_mode & 0o777 == 0o640
    commands = [one for found in installing.installed(place).values() for one in found]
    assert len(commands) == 7
    assert all("a venv" in one for one in commands)
    assert installing.remove(place, home=home)
    assert place.path.read_text() == text


def test_what_the_person_adds_meanwhile_stays(tmp_path: Path) -> None:
    place, home = placed(tmp_path, "claude"), tmp_path / "home"
    installing.install(place, COMMAND, home=home)
    data = json.loads(place.path.read_text())
    mine = {"hooks": [{"type": "command", "command": "mine"}]}
    data["hooks"]["Stop"].append(mine)
    place.path.write_text(json.dumps(data | {"model": "opus"}))
    assert installing.remove(place, home=home)
    assert json.loads(place.path.read_text()) == {"hooks": {"Stop": [mine]}, "model": "opus"}


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("claude", "{"),
        ("claude", "[1]"),
        ("claude", '{"hooks":{"Stop":{}}}'),
        ("gemini", '{"a":1,}'),
        ("gemini", '{"hooks":1}'),
        ("claude", '{"hooks":{},"hooks":{}}'),
        ("claude", "[" * 5000),
        ("codex", "a ="),
        ("codex", "\udcff"),
    ],
)
def test_a_file_that_cannot_be_parsed_is_refused_and_kept(
    tmp_path: Path, engine: str, text: str
) -> None:
    place = placed(tmp_path, engine)
    place.path.parent.mkdir(parents=True)
    place.path.write_bytes(data := text.encode("utf-8", "surrogateescape"))
    with pytest.raises(edit.Unreadable) as refused:
        installing.install(place, COMMAND, home=tmp_path / "home")
    assert str(place.path) in str(refused.value)
    assert place.path.read_bytes() == data


def test_a_foreign_plugin_is_not_overwritten(tmp_path: Path) -> None:
    place = placed(tmp_path, "opencode")
    place.path.parent.mkdir(parents=True)
    place.path.write_text("export const Mine = 1;\n")
    with pytest.raises(Conflict):
        installing.install(place, COMMAND, home=tmp_path / "home")
    assert not installing.remove(place, home=tmp_path / "home")
    assert place.path.read_text() == "export const Mine = 1;\n"


def test_links_stay_links(tmp_path: Path) -> None:
    place = placed(tmp_path, "claude")
    real = tmp_path / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text('{"a": 1}\n')
    place.path.parent.mkdir()
    place.path.symlink_to(real)
    installing.install(place, COMMAND, home=tmp_path / "home")
    assert place.path.is_symlink()
    assert "hook.py" in real.read_text()
    installing.remove(place, home=tmp_path / "home")
    assert real.read_text() == '{"a": 1}\n'
    assert sorted(path.name for path in real.parent.iterdir()) == ["claude.json"]


def test_a_broken_record_is_no_harm(tmp_path: Path) -> None:
    home = tmp_path / "home"
    place = placed(tmp_path, "claude")
    installing.install(place, COMMAND, home=home)
    (home / record.FILE).write_text("{")
    assert installing.remove(place, home=home)
    assert installing.installed(place) == {}


def test_the_command_line_is_the_same_in_every_version_of_ours() -> None:
    """Codex trusts a hook by its text: it must not change without need."""
    made = hooks.settings("codex", ("/v/bin/python", "-I", "-S", "/v/mufakat/sdk/hook.py"))
    assert made["Stop"] == [
        {
            "hooks": [
                {
                    "type": "command",
                    "command": "/v/bin/python -I -S /v/mufakat/sdk/hook.py codex stop",
                    "timeout": 10,
                }
            ]
        }
    ]


def test_the_plugin_is_found_again_in_every_version() -> None:
    assert opencode_plugin.source(COMMAND).startswith(opencode_plugin.MARK + "\n")
    assert Scope("project")
