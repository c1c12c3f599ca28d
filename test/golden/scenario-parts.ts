import {
  type Agent,
  type Gate,
  type MemoryJournal,
  type RunOptions,
  type Tool,
  userMessage,
} from "../../src/index.ts";
import type { Compaction, CompactionTask, Compactor } from "../../src/memory/index.ts";
import { type ModelInfo, resolveModel } from "../../src/providers/index.ts";
import {
  calls,
  finishes,
  type ScriptPiece,
  type ScriptStep,
  says,
  startScriptedServer,
  thinks,
} from "../../src/testing/index.ts";
import { tool, type World } from "./world.ts";

export type Scenario = (world: World) => Promise<void>;

export const PRICED: ModelInfo = {
  price: { input: 1_000, output: 1_000 },
  contextWindow: 100_000,
  maxOutputTokens: 1_000,
};
export const PATH = { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const;
export const SCHEMA = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
export const external: Tool = tool("deploy", { execute: undefined as never });
export const leaves: Tool = tool("leaves", {
  execute: () => ({ content: "gone", finish: { text: "Bye.", output: [1] } }),
});

/** Reading is allowed, removing is asked, the rest is forbidden. */
export const gate: Gate = {
  check: ({ name, input }) => {
    if (name === "read" || name === "batch" || name === "delegate") return { action: "allow" };
    if (name !== "remove" && name !== "deploy")
      return { action: "deny", reason: "not here", code: "deny_rule", rule: "deny *", part: name };
    const path = String(input["path"]);
    return {
      action: "ask",
      reason: "it is gone then",
      code: "ask_rule",
      rule: "ask remove",
      part: path,
      suggestion: `remove(${path})`,
      place: `/w/${path}`,
    };
  },
};
export const read: Tool = tool("read", { parameters: PATH, readOnly: true });
export const remove: Tool = tool("remove", { parameters: PATH });
export const reads = (path: string): ScriptPiece => calls("read", { path });
export const removes = (path: string): ScriptPiece => calls("remove", { path });
export const MIXED: readonly ScriptPiece[] = [reads("a"), removes("b"), removes("c")];

export const delegate: Tool = tool("delegate", {
  execute: async (input, context) => {
    const { prompts = ["Look."], ...task } = input as { readonly prompts?: readonly string[] };
    const ends = [];
    for (const prompt of prompts) ends.push(await context.runAgent({ agent: "helper", prompt, ...task }));
    return JSON.stringify(
      ends.map(({ text, stopReason, iterations, toolCalls, usage }) => [
        text,
        stopReason,
        iterations,
        toolCalls,
        usage,
      ]),
    );
  },
});

/** Makes calls side by side, as the built-in tool of this name does. */
export const batch: Tool = tool("batch", {
  execute: async (input, { callTool }) => {
    const { calls: made } = input as {
      readonly calls: readonly { readonly tool: string; readonly input: object }[];
    };
    const results = await Promise.all(made.map((call) => callTool(call.tool, { ...call.input })));
    return JSON.stringify(results);
  },
});

/** A model over whatever conversation it is asked in: it calls each of these once, then says so. */
export function works(
  ...made: readonly (readonly ReturnType<typeof calls>[])[]
): Extract<ScriptStep, (...args: never) => unknown> {
  return ({ messages }) => {
    const done = messages.filter(({ role }) => role === "assistant").length;
    return made[done] ?? says(`Done after ${done}.`);
  };
}

/** Asks for a summary of all but the newest two messages when there are more than `max`. */
export function summaries(max: number): Compactor {
  return {
    isNeeded: ({ messages }) => messages.length > max,
    compact: async ({ ask, request, messages }: CompactionTask): Promise<Compaction | undefined> => {
      const answer = await ask({ ...request, messages: [...messages, userMessage("Summarise.")] });
      if (answer.type !== "answer") return undefined;
      const summary = userMessage("Summary.");
      return { method: "summary", messages: [summary], kept: 2, tokensBefore: 900, tokensAfter: 100 };
    },
    preview: () => Promise.reject(new Error("unused")),
  };
}

/** Runs an agent over every beginning of a journal, as if the process had been killed there. */
export async function afterEachKill(
  world: World,
  whole: MemoryJournal,
  open: (journal: MemoryJournal) => Agent,
  options: RunOptions = {},
): Promise<void> {
  const entries = [...whole.entries()];
  for (let count = 1; count <= entries.length; count++) {
    const journal = world.journal(entries.slice(0, count));
    const agent = open(journal);
    const end = await agent.run(undefined, options).catch(String);
    const added = [...journal.entries()]
      .slice(count)
      .map((entry) => [entry.type, entry.scope, "status" in entry ? entry.status : ""]);
    world.note(`${count} ${entries[count - 1]?.type}`, [end, added]);
  }
}

export const WIRES = [
  ["anthropic/claude-sonnet-4-5", "/v1"],
  ["openai-chat/gpt-4.1", "/v1"],
  ["openai-responses/gpt-5", "/v1"],
  ["google/gemini-2.5-pro", "/v1beta"],
] as const;

/** A conversation with a broken and an unknown call on one of the wires. */
export const onWire =
  ([name, base]: (typeof WIRES)[number]): Scenario =>
  async (world) => {
    const server = await startScriptedServer(
      [
        [
          thinks("I should look.", "c2lnbmF0dXJl"),
          says("Let me look – né 😀"),
          calls("read", { path: "a" }, "c1"),
          calls("read", {}, "c2"),
        ],
        [calls("see", { at: "x" }, "c3"), finishes("tool_use", { inputTokens: 7, outputTokens: 3 })],
        says("All seen."),
      ],
      { chunkSize: 7 },
    );
    try {
      const model = resolveModel(name, {
        baseUrl: server.url + base,
        apiKey: "key",
        clock: world.clock,
      });
      await world.run(world.agent([], { model: world.watched(model), tools: [read] }), "What is there?");
      for (const { body, violations } of server.requests) world.note("body", [body, violations]);
    } finally {
      await server.close();
    }
  };

export const plan = (...steps: readonly string[]): ScriptPiece => calls("generate_plan", { steps });

/** A run that ends its answer by an abort of its own at some point. */
export function aborting(
  world: World,
  agent: Agent,
  at: string,
  way: "abort" | "release" = "abort",
): Promise<unknown> {
  const stop = new AbortController();
  const onEvent: RunOptions["onEvent"] = ({ type }) => {
    if (type !== at) return;
    if (way === "abort") stop.abort();
    else agent.release();
  };
  return world.run(agent, "go", { signal: stop.signal, onEvent });
}
