"""The plugin by which OpenCode tells its moments; it has no hooks that start a command."""

from __future__ import annotations

import json
from collections.abc import Sequence

MARK = "// Mufakat's hooks for OpenCode. Written by `mufakat hooks install`; do not edit."

_SOURCE = """
import { execFile, execFileSync } from "node:child_process";

const HOOK = __HOOK__;
const HOME = __HOME__;
const WORDS = __WORDS__;
const LIMIT = { timeout: 10000, maxBuffer: 1 << 20 };
const words = (moment) => [...HOOK.slice(1), "opencode", moment, ...HOME];

// Every fault counts as no answer: an agent must not stop for it.
const tell = (moment, data) =>
  new Promise((resolve) => {
    try {
      const child = execFile(HOOK[0], words(moment), LIMIT, (error, out) => {
        try {
          resolve(error || !out ? {} : JSON.parse(out));
        } catch {
          resolve({});
        }
      });
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(data));
    } catch {
      resolve({});
    }
  });

// Waits for the end of the call: `opencode run` is gone as soon as its session is idle.
const tellNow = (moment, data) => {
  try {
    const input = JSON.stringify(data);
    execFileSync(HOOK[0], words(moment), { input, timeout: 3000, stdio: "pipe" });
  } catch {}
};

export const Mufakat = async ({ client, directory }) => {
  // A person's own copy and that of a run may both be loaded: one of them speaks.
  const speaking = (globalThis.mufakatSpeaking ??= new Map());
  if ((speaking.get(directory) ?? import.meta.url) !== import.meta.url) return {};
  speaking.set(directory, import.meta.url);
  const sessions = new Map();

  // Sessions of sub-agents belong to the agent that started them.
  const session = async (id) => {
    if (!sessions.has(id)) {
      const made = { id, root: id, cwd: directory, own: true, turn: "", held: false };
      Object.assign(made, { news: "", said: "" });
      sessions.set(id, made);
      try {
        const found = await client.session.get({ path: { id } });
        made.cwd = found?.data?.directory || directory;
        const parent = found?.data?.parentID;
        made.own = !parent;
        if (parent) made.root = (await session(parent)).root;
      } catch {}
      if (made.own) {
        const answer = await tell("session-start", { ...about(made), source: "startup" });
        made.news = answer.context || "";
      }
    }
    return sessions.get(id);
  };
  const about = (one) => ({
    session_id: one.root,
    agent_id: one.own ? "" : one.id,
    cwd: one.cwd,
    turn_id: one.turn,
  });

  // What it said last, told once; what it said before that was on the way.
  const lastWords = (one) => {
    const said = WORDS ? one.said : "";
    one.said = "";
    return said ? { last_assistant_message: said } : {};
  };

  process.on("exit", () => {
    for (const one of sessions.values()) {
      if (one.own) tellNow("session-end", { ...about(one), reason: "exit", ...lastWords(one) });
    }
  });

  return {
    "chat.message": async (input, output) => {
      const one = await session(input.sessionID);
      if (!one.own) return;
      if (one.held) {
        one.held = false;
        return;
      }
      one.said = "";
      one.turn = output.message?.id || input.messageID || String(Date.now());
      const part = output.parts.find((part) => part.type === "text" && !part.synthetic);
      const answer = await tell("prompt", { ...about(one), prompt: part?.text || "" });
      const news = [one.news, answer.context].filter(Boolean).join("\\n\\n");
      one.news = "";
      // A part of its own, so that the person is not shown words that are not theirs.
      const own = { id: `${part?.id}0`, text: news, synthetic: true };
      if (news && part) output.parts.push({ ...part, ...own });
    },
    "tool.execute.before": async (input, output) => {
      const one = await session(input.sessionID);
      const call = { tool_name: input.tool, tool_input: output.args };
      if (!EDITS.has(input.tool)) return;
      const answer = await tell("pre-tool", { ...about(one), ...call });
      if (answer.deny) throw new Error(answer.deny);
    },
    "tool.execute.after": async (input, output) => {
      const one = await session(input.sessionID);
      if (!one.own) return;
      const answer = await tell("post-tool", { ...about(one), tool_name: input.tool });
      if (answer.context) output.output = `${output.output ?? ""}\\n\\n${answer.context}`;
    },
    "experimental.text.complete": async (input, output) => {
      const one = await session(input.sessionID);
      if (!one.own) return;
      one.said = output?.text || "";
      const answer = await tell("stop", about(one));
      if (!answer.block) return;
      one.held = true;
      const parts = [{ type: "text", text: answer.block }];
      await client.session.promptAsync({ path: { id: one.id }, body: { parts } }).catch(() => {
        one.held = false;
      });
    },
    event: async ({ event }) => {
      const one = sessions.get(event.properties?.sessionID);
      if (!one?.own) return;
      if (event.type === "permission.asked" || event.type === "permission.updated") {
        await tell("permission", about(one));
      }
      if (event.type === "session.idle") {
        const said = lastWords(one);
        if (said.last_assistant_message) tellNow("idle", { ...about(one), ...said });
      }
    },
  };
};

const EDITS = new Set(["edit", "write", "patch", "apply_patch", "multiedit"]);
"""


def source(command: Sequence[str], *, home: str = "", words: bool = True) -> str:
    """The plugin's file; `command` starts the hook client.

    `words` is whether it tells what the agent said last: of a run of Mufakat's that is known.
    """
    return (
        (MARK + _SOURCE)
        .replace("__HOOK__", json.dumps(list(command)))
        .replace("__HOME__", json.dumps([home] if home else []))
        .replace("__WORDS__", json.dumps(words))
    )
