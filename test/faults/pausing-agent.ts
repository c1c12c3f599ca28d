import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "../../src/agent/agent.ts";
import type { Journal } from "../../src/core/agent/journal.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tool } from "../scenarios/conversation.ts";

/**
 * An agent whose two calls of `write` are asked about while nobody is there; each call leaves a line in
 * FOLDER/effects.
 */
export function pausingAgent(
  journal: Journal,
  folder: string,
  before: () => unknown = () => undefined,
): Agent {
  const asked = [
    calls("write", { n: 1 }, "first"),
    calls("write", { n: 2 }, "second"),
    calls("read", {}, "third"),
  ];
  const effect = (name: string): ReturnType<typeof tool> =>
    tool(name, {
      access: "exclusive",
      execute: (input: unknown) => {
        appendFileSync(join(folder, "effects"), `${name} ${JSON.stringify(input)}\n`);
        before();
        return "done";
      },
    });
  return new Agent({
    model: new ScriptedModel(({ messages }) => (messages.length === 1 ? asked : says("end"))),
    tools: [effect("write"), effect("read")],
    permission: {
      check: ({ name }) => ({ action: name === "write" ? "ask" : "allow", reason: "it writes" }),
    },
    onAsk: "pause",
    journal,
  });
}
