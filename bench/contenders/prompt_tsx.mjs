// @vscode/prompt-tsx: elements with priorities, pruned until they fit. The same commands and
// answers as serve.py; run by Node with the folder of the packages as its first argument.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";

const [packages, path] = process.argv.slice(2);
const require = createRequire(join(packages, "package.json"));
const name = "@vscode/prompt-tsx";
const tsx = require(name);
const { version } = require(`${name}/package.json`);
const given = JSON.parse(readFileSync(path, "utf8"));
const person = "human@web:000000";

const tokenizer = {
  mode: tsx.OutputMode.Raw,
  tokenLength: (part) => part.text?.length ?? 0,
  countMessageTokens: (message) => textOf(message).length + 2,
};

function textOf(message) {
  return message.content.map((part) => part.text ?? "").join("");
}

// Sections and the prompt outrank every message; of the messages the newest outranks the others.
class Prompt extends tsx.PromptElement {
  render() {
    const top = given.messages.length + 10;
    const sections = given.sections.map(([, texts]) =>
      vscpp(tsx.SystemMessage, { priority: top }, texts.join("\n")),
    );
    const messages = given.messages.map((said) =>
      vscpp(
        said.speaker === person ? tsx.UserMessage : tsx.AssistantMessage,
        { priority: said.number },
        `${said.speaker}: ${said.text}`,
      ),
    );
    const asked = vscpp(tsx.UserMessage, { priority: top + 1 }, given.prompt);
    return vscpp(vscppf, null, ...sections, ...messages, asked);
  }
}

async function pack() {
  const endpoint = { modelMaxPromptTokens: given.budget };
  const { messages } = await tsx.renderPrompt(Prompt, {}, endpoint, tokenizer);
  return messages.map(textOf).join("\n\n");
}

async function timed() {
  const cpu = process.cpuUsage();
  const began = performance.now();
  const text = await pack();
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpu_ms: (user + system) / 1000, chars: [...text].length };
}

console.log(JSON.stringify({ seconds: 0, version: `prompt-tsx ${version}` }));
for await (const line of createInterface({ input: process.stdin })) {
  const answer = line.trim() === "show" ? { text: await pack() } : await timed();
  console.log(JSON.stringify(answer));
}
