"""Tool aliases: a script names a capability, the request decides which tool that is.

`$shell`, `$read`, `$write` and `$mcp:NAME` are resolved against the tools the CLI declared;
any other name is used as it is.
"""

from __future__ import annotations

import json
import re
from typing import Any

from equipment.model_server.answer import Call
from equipment.model_server.view import View

ALIASES = {
    "$shell": ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command"),
    "$read": ("Read", "read", "read_file", "view"),
    "$write": ("Write", "write", "write_file"),
}
SAME_ARGUMENT = (
    ("command", "cmd"),
    ("file_path", "filePath", "path", "absolute_path"),
    ("content", "contents", "text"),
)
MCP = "$mcp:"


def resolve(call: dict[str, Any], view: View) -> Call:
    """The real call for a scripted one: real tool name, arguments that fit its schema."""
    scripted = call["name"]
    if "raw" in call:
        return Call(name=scripted, args={}, raw=call["raw"], namespace=_space(view, scripted))
    args = _with_real_names(call.get("args") or {}, view)
    if view.code_mode and scripted.startswith("$"):
        program = javascript(scripted, args)
        return Call(name="exec", args={}, raw=program, namespace=_space(view, "exec"))
    name = _tool_name(scripted, view)
    fitted = _fit(args, view.tools.get(name) or {})
    return Call(name=name, args=fitted, namespace=_space(view, name))


def _with_real_names(args: dict[str, Any], view: View) -> dict[str, Any]:
    text = re.sub(r"\$mcp:(\w+)", lambda found: _mcp_name(found[1], view), json.dumps(args))
    real: dict[str, Any] = json.loads(text)
    return real


def _space(view: View, name: str) -> str | None:
    return view.namespaces.get(name)


def _tool_name(scripted: str, view: View) -> str:
    if scripted.startswith(MCP):
        return _mcp_name(scripted.removeprefix(MCP), view)
    candidates = ALIASES.get(scripted, (scripted,))
    return next((name for name in candidates if name in view.tools), candidates[0])


def _mcp_name(suffix: str, view: View) -> str:
    declared = [name for name in view.tools if name.endswith(suffix)]
    if declared:
        return declared[0]
    # Claude defers MCP tools: not declared, only mentioned by name in a reminder.
    mentioned = re.findall(r"mcp__[A-Za-z0-9_-]+?__" + re.escape(suffix), view.text())
    return mentioned[0] if mentioned else suffix


def _fit(args: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    known = schema.get("properties") or {}
    for group in SAME_ARGUMENT:
        given = next((key for key in group if key in args), None)
        wanted = next((key for key in group if key in known), None)
        if given and wanted and given != wanted:
            args[wanted] = args.pop(given)
    for key in schema.get("required") or ():
        if (known.get(key) or {}).get("type") == "string":
            args.setdefault(key, "scripted")
    return args


def javascript(alias: str, args: dict[str, Any]) -> str:
    """The program with which a model in Codex's code mode calls the nested tool."""
    if alias.startswith(MCP):
        suffix = json.dumps(alias.removeprefix(MCP))
        found = f"const t = ALL_TOOLS.find(t => t.name.endsWith({suffix}));"
        return f"{found}text(await tools[t.name]({json.dumps(args)}));"
    if alias == "$write":
        return f"text(await tools.apply_patch({json.dumps(_add_file(args))}));"
    command = args.get("command", "")
    if alias == "$read":
        command = "cat " + json.dumps(args.get("file_path", ""))
    return f"text(await tools.exec_command({json.dumps({'cmd': command})}));"


def _add_file(args: dict[str, Any]) -> str:
    body = "".join(f"+{line}\n" for line in str(args.get("content", "")).splitlines())
    path = args.get("file_path")
    return f"*** Begin Patch\n*** Add File: {path}\n{body}*** End Patch"
