import { onTestFinished } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { type Message, messageText } from "../../src/core/message/message.ts";
import { defineTool, type Tool } from "../../src/core/tool/tool.ts";
import {
  createFleet,
  type DurableAgent,
  type DurableRun,
  type Fleet,
  type FleetOptions,
  type HostOptions,
  type RunStatus,
} from "../../src/durable/index.ts";
import type { ScriptStep } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";

/** Where the fleets of a test keep their runs. */
export interface FleetPlace {
  readonly options: Pick<FleetOptions, "databaseUrl" | "dataDir" | "schema">;
  /** True where several fleets can be at work at the same moment. */
  readonly isShared: boolean;
}

/** A fleet in a place, closed with the test. */
export async function openFleet(place: FleetPlace, options: FleetOptions = {}): Promise<Fleet> {
  const fleet = await createFleet({ concurrency: 8, ...place.options, ...options });
  onTestFinished(() => fleet.close());
  return fleet;
}

/** How an agent is made whose model plays these steps, one after the other, whoever asks. */
export function agentOf(
  steps: readonly ScriptStep[] | Extract<ScriptStep, (...args: never) => unknown>,
  options: Partial<AgentOptions> = {},
): DurableAgent & { readonly model: ScriptedModel } {
  const model = new ScriptedModel(steps);
  return Object.assign((host: HostOptions) => new Agent({ model, ...options, ...host }), { model });
}

/** A tool that notes each call and says so. */
export function noteTool(noted: unknown[], options: Partial<Tool> = {}): Tool {
  return defineTool({
    name: "note",
    description: "Notes a number.",
    parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    execute: ({ n }: { readonly n: number }) => {
      noted.push(n);
      return `noted ${n}`;
    },
    ...(options as object),
  });
}

/** A tool whose calls the caller answers. */
export const ASK_OUTSIDE: Tool = defineTool({
  name: "ask_outside",
  description: "Asks somebody outside.",
  parameters: { type: "object", properties: { q: { type: "string" } } },
});

/** Resolves when a run stands as `isThere` wants it; the status then. */
export async function whenStatus(
  run: DurableRun,
  isThere: (status: RunStatus) => boolean,
): Promise<RunStatus> {
  for (;;) {
    const status = await run.status();
    if (isThere(status)) return status;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Resolves when a run waits for somebody. */
export function whenWaiting(run: DurableRun): Promise<RunStatus> {
  return whenStatus(run, ({ state }) => state === "waiting");
}

/** The entries of a run to its end. */
export async function entriesOf(run: DurableRun, after?: string): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of run.events(after === undefined ? {} : { after })) entries.push(entry);
  return entries;
}

/** The words of a conversation, in order: `user: go`, `assistant: done`. */
export function wordsOf(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => {
    const text = messageText(message, " ");
    return text === "" ? [] : [`${message.role}: ${text}`];
  });
}

/** The results the calls of a run have, in order. */
export function resultsIn(entries: readonly JournalEntry[]): readonly string[] {
  return entries.flatMap((entry) =>
    entry.type === "tool_result"
      ? [`${entry.callId} ${entry.status}: ${textOfResult(entry.result.content)}`]
      : [],
  );
}

function textOfResult(content: unknown): string {
  return typeof content === "string"
    ? content
    : Array.isArray(content)
      ? content.map((block: { readonly text?: string }) => block.text ?? "").join("")
      : "";
}
