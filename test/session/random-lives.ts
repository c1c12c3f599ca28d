import fc from "fast-check";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { Approvals } from "../../src/core/agent/ports.ts";
import { SessionState } from "../../src/core/agent/state.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import type { Message } from "../../src/core/message/message.ts";
import type { Model, StreamPart } from "../../src/core/model/model.ts";
import { defineTool, type Tool } from "../../src/core/tool/tool.ts";

/** What a random model does next. */
type Turn =
  | { readonly type: "text"; readonly text: string; readonly reason: "stop" | "length" | "refusal" | "pause" }
  | {
      readonly type: "calls";
      readonly calls: readonly { readonly name: string; readonly input: object; readonly id: string }[];
    }
  | { readonly type: "fails" };

const toolName = fc.constantFrom(
  "echo",
  "throws",
  "denied",
  "asked",
  "stopper",
  "external",
  "many",
  "slow",
  "finisher",
  "aborter",
  "steers",
  "nowhere",
  "finish",
);
const turn: fc.Arbitrary<Turn> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("text" as const),
      text: fc.string({ maxLength: 8 }),
      reason: fc.constantFrom<"stop" | "length" | "refusal" | "pause">(
        "stop",
        "stop",
        "length",
        "refusal",
        "pause",
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("calls" as const),
      calls: fc.array(
        fc.record({
          name: toolName,
          input: fc.constantFrom({}, { n: 1 }, { n: "bad" }, { n: 2, x: "y" }),
          id: fc.constantFrom("", "a", "b", "c"),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: "fails" as const }) },
);

/** One run of a random agent. */
export interface Life {
  readonly turns: readonly Turn[];
  readonly maxIterations: number;
  readonly onMaxIterations: "summarize" | "last";
  readonly withSchema: boolean;
  /** Whether somebody answers what the gate asks. */
  readonly asks: boolean;
  /** Records after which the machine stops. */
  readonly cutAt: number | undefined;
  /** Budget. */
  readonly tokens: number | undefined;
  readonly image: boolean;
  readonly observed: boolean;
  /** Whether calls wait that nobody answers. */
  readonly pauses: boolean;
  /** What becomes of calls that the run before left waiting. */
  readonly answers: "yes" | "no" | "later" | "message";
}

/** Any run of a random agent. */
export const life: fc.Arbitrary<Life> = fc.record({
  turns: fc.array(turn, { maxLength: 7 }),
  maxIterations: fc.constantFrom(1, 3, 20),
  onMaxIterations: fc.constantFrom("summarize" as const, "last" as const),
  withSchema: fc.boolean(),
  asks: fc.boolean(),
  cutAt: fc.option(fc.nat(30), { nil: undefined, freq: 4 }),
  tokens: fc.option(fc.constantFrom(1, 40), { nil: undefined, freq: 5 }),
  image: fc.boolean(),
  observed: fc.boolean(),
  pauses: fc.boolean(),
  answers: fc.constantFrom("yes" as const, "no" as const, "later" as const, "message" as const),
});

/** Runs real agents over one journal and returns what it holds, as a file would give it back. */
export async function liveThrough(lives: readonly Life[]): Promise<readonly JournalEntry[]> {
  let entries: readonly JournalEntry[] = [];
  for (const each of lives) {
    const journal = new MemoryJournal({ sessionId: "s" });
    // Like a session that is opened again.
    Object.defineProperty(journal, "entries", { value: () => all });
    const all = [...entries];
    const cutAt = each.cutAt ?? Number.POSITIVE_INFINITY;
    let written = 0;
    const append = journal.append.bind(journal);
    Object.defineProperty(journal, "append", {
      value: (entry: Parameters<MemoryJournal["append"]>[0]) => {
        if (written++ >= cutAt) throw new Error("the machine stopped");
        const stored = append(entry);
        all.push(stored);
        return stored;
      },
    });
    const controller = new AbortController();
    const box: { agent?: Agent } = {};
    const agent = new Agent({ ...agentOptions(each, controller, box), journal });
    box.agent = agent;
    const pending = agent.getState().messages.length === 0 ? [] : openCalls(all);
    const approvals = each.answers === "message" ? {} : answersTo(all, each.answers);
    const brings = Object.keys(approvals).length > 0;
    try {
      if (each.observed) await agent.observe("somebody else speaks");
      await agent.run(brings ? undefined : input(each, pending), {
        approvals,
        onAsk: each.pauses ? "pause" : "deny",
        signal: controller.signal,
        ...(each.withSchema ? { schema: { type: "object", properties: { n: { type: "number" } } } } : {}),
        ...(each.asks
          ? {
              approve: ({ name }) =>
                name === "stopper" ? { approved: false, stop: true, reason: "no more" } : name === "asked",
            }
          : {}),
      });
    } catch {
      // The machine stopped, or the calls of the run before wait for another answer: what is recorded counts.
      controller.abort();
    }
    entries = JSON.parse(JSON.stringify(all)) as JournalEntry[];
  }
  return entries;
}

function answersTo(entries: readonly JournalEntry[], answer: "yes" | "no" | "later"): Approvals {
  const state = new SessionState();
  for (const entry of entries) state.apply(entry);
  const given = { yes: true, no: { approved: false, reason: "rather not" }, later: "later" } as const;
  return Object.fromEntries([...state.approvals.keys()].map((id) => [id, given[answer]]));
}

function openCalls(entries: readonly JournalEntry[]): readonly string[] {
  const end = entries.at(-1);
  if (end?.type !== "run_end" || !end.stopReason.startsWith("awaiting")) return [];
  const answer = entries.findLast((entry) => entry.type === "assistant_message");
  const done = new Set(entries.flatMap((entry) => (entry.type === "tool_result" ? [entry.callId] : [])));
  if (answer?.type !== "assistant_message") return [];
  return answer.message.content.flatMap((block) =>
    block.type === "tool_use" && !done.has(block.id) ? [block.id] : [],
  );
}

function input({ image }: Life, pending: readonly string[]): Message {
  const results = pending.slice(0, image ? 1 : pending.length);
  return {
    role: "user",
    content: [
      ...results.map((id) => ({ type: "tool_result", tool_use_id: id, content: "from outside" }) as const),
      ...(image && results.length === 0
        ? [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } } as const]
        : []),
      ...(results.length > 0 && image ? [] : [{ type: "text", text: "go" } as const]),
    ],
  };
}

function agentOptions(each: Life, controller: AbortController, box: { agent?: Agent }): AgentOptions {
  const parameters = { type: "object", properties: { n: { type: "number" } } } as const;
  const tool = (name: string, execute?: Tool["execute"]): Tool =>
    defineTool({
      name,
      description: name,
      parameters,
      ...(execute === undefined ? {} : { execute: execute as () => unknown }),
    });
  return {
    model: randomModel(each.turns, controller),
    maxIterations: each.maxIterations,
    onMaxIterations: each.onMaxIterations,
    ...(each.tokens === undefined ? {} : { budget: { tokens: each.tokens } }),
    permission: {
      check: ({ name }) =>
        name === "denied"
          ? { action: "deny", reason: "a rule says so", rule: "denied" }
          : name === "asked" || name === "stopper"
            ? { action: "ask", reason: "it needs a yes", suggestion: "asked(*)" }
            : { action: "allow" },
    },
    tools: [
      tool("echo", (value: unknown) => JSON.stringify(value)),
      tool("throws", () => {
        throw new Error("broken");
      }),
      tool("denied", () => "never"),
      tool("asked", () => "was asked"),
      tool("stopper", () => "never"),
      tool("external"),
      tool("slow", async () => {
        await Promise.resolve();
        return "";
      }),
      tool("many", async (value: never, context) => {
        const inner = await Promise.all(
          ["echo", "denied", "throws", "asked", "nowhere"].map((name) => context.callTool(name, value)),
        );
        return inner.map(({ content }) => content).join("\n");
      }),
      tool("finisher", () => ({ content: "finished", finish: { text: "finished" } })),
      tool("aborter", () => {
        controller.abort();
        return "aborted itself";
      }),
      tool("steers", () => {
        box.agent?.steer("another thing");
        return "steered";
      }),
    ],
  };
}

function randomModel(turns: readonly Turn[], controller: AbortController): Model {
  let at = 0;
  async function* stream(): AsyncGenerator<StreamPart, void, undefined> {
    const next = turns[at++];
    if (next === undefined || next.type === "fails") {
      if (at % 3 === 0) {
        yield { type: "text_delta", index: 0, text: "as far as it" };
        controller.abort();
      }
      throw new NanoAgentError("rate_limit", "too busy");
    }
    if (next.type === "text") {
      if (next.text !== "") yield { type: "text_delta", index: 0, text: next.text };
    } else {
      for (const [index, { id, name, input: given }] of next.calls.entries())
        yield { type: "block", index, block: { type: "tool_use", id, name, input: { ...given } } };
    }
    const unified = next.type === "calls" ? "tool_use" : next.reason;
    yield {
      type: "finish",
      finishReason: { unified, raw: unified },
      usage: { inputTokens: 10, outputTokens: 5 },
    };
  }
  return { provider: "random", id: "model", stream };
}
