"""Installs, removes and lists our hooks in the files where engines look for them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mufakat.cli.hook_files import edit, json_hooks, json_text, record, toml_hooks
from mufakat.cli.hook_files.place import Place
from mufakat.core.base import Conflict
from mufakat.core.coordination import hooks, opencode_plugin


def install(place: Place, command: Sequence[str], *, home: Path, told: str = "") -> bool:
    """Put our hooks in; False where they are there already.

    `command` starts the hook client, `told` is the home that it is told. Raises
    edit.Unreadable where the file cannot be parsed, Conflict where it is somebody else's.
    """
    text = _text(place.path)
    if text is not None and _installed(place, text) == _wanted(place, command, told):
        return False
    base, earlier = (text, None) if text is None else _removed(place, text, home=home)
    created = text is None or bool(earlier and earlier.created and not base)
    made = _install(place, base or "", command, told)
    folders = record.write(place.path, made.text)
    before = earlier.folders if earlier else ()
    record.keep(home, place.path, record.Entry(made.pieces, created, (*before, *folders)))
    return True


def remove(place: Place, *, home: Path) -> bool:
    """Take our hooks out; False where there are none."""
    text = _text(place.path)
    if text is None or not _installed(place, text):
        return False
    rest, earlier = _removed(place, text, home=home)
    empty = "".join(rest.split()) in {"", "{}"}
    if empty and (place.engine == "opencode" or (earlier and earlier.created)):
        place.path.unlink()
        for folder in reversed(earlier.folders if earlier else ()):
            # Others may have put something there meanwhile.
            with suppress(OSError):
                Path(folder).rmdir()
    else:
        record.write(place.path, rest)
    record.keep(home, place.path, None)
    return True


def installed(place: Place) -> dict[str, list[str]]:
    """Our command lines in a file, by event; empty where there are none."""
    text = _text(place.path)
    return {} if text is None else _installed(place, text)


def _wanted(place: Place, command: Sequence[str], told: str) -> dict[str, list[str]]:
    if place.engine == "opencode":
        return {"plugin": [opencode_plugin.source(command, home=told)]}
    made = json_hooks.install("", hooks.settings(place.engine, command, home=told)).text
    return json_hooks.installed(made)


def _installed(place: Place, text: str) -> dict[str, list[str]]:
    if place.engine == "opencode":
        return {"plugin": [text]} if text.startswith(opencode_plugin.MARK) else {}
    try:
        return toml_hooks.installed(text) if _is_toml(place) else json_hooks.installed(text)
    except (json_text.NotJson, toml_hooks.NotToml) as problem:
        raise _unreadable(place, problem) from problem


def _install(place: Place, text: str, command: Sequence[str], told: str) -> edit.Edit:
    if place.engine == "opencode":
        if text:
            raise Conflict(f"{place.path} is not Mufakat's.", fix="Move it away first.")
        whole = opencode_plugin.source(command, home=told)
        return edit.Edit(whole, (whole,))
    wanted = hooks.settings(place.engine, command, home=told)
    try:
        if _is_toml(place):
            return toml_hooks.install(text, wanted)
        return json_hooks.install(text, wanted)
    except (json_text.NotJson, toml_hooks.NotToml) as problem:
        raise _unreadable(place, problem) from problem


def _removed(place: Place, text: str, *, home: Path) -> tuple[str, record.Entry | None]:
    """The text without our hooks, and what is known of how they came there."""
    earlier = record.read(home, place.path)
    if not _installed(place, text):
        return text, None
    exact = edit.without(text, earlier.pieces) if earlier else None
    if exact is not None:
        return exact, earlier
    if place.engine == "opencode":
        return "", earlier
    return toml_hooks.remove(text) if _is_toml(place) else json_hooks.remove(text), earlier


def _is_toml(place: Place) -> bool:
    return place.path.suffix == ".toml"


def _text(path: Path) -> str | None:
    """A file's text with its own line ends; None where there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as problem:
        raise edit.Unreadable(f"{path} is not UTF-8.") from problem


def _unreadable(place: Place, problem: Exception) -> edit.Unreadable:
    return edit.Unreadable(f"{place.path} cannot be read: {problem}. Nothing was changed.")
