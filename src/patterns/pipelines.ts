import type { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import { misuse } from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import { endedByItself } from "../core/base/stop-reason.ts";
import type { Input } from "../core/message/input.ts";

/** How a pipeline is run. */
export interface PipelineOptions {
  readonly signal?: AbortSignal;
  /** Sees every event of every agent, with the position of the agent. */
  readonly onEvent?: (event: AgentEvent, agent: number) => void;
}

/** The result of agents in a row. */
export interface SequentialResult {
  /** The text of the last agent that ran. */
  readonly text: string;
  /** One result an agent, in order. Shorter than the list of agents when one of them gave no answer. */
  readonly results: readonly RunResult[];
  /** False when an agent gave no answer, so that the ones behind it had nothing to work on. */
  readonly completed: boolean;
}

/**
 * Agents one after the other: each gets the text of the one before it. Stops at an agent whose run did not
 * end with an answer; its result says why. The first may go without input if it can start by itself, as a
 * person can. Rejects for misuse, e.g. no agents.
 */
export async function sequentialPipeline(
  agents: readonly Agent[],
  input?: Input,
  options: PipelineOptions = {},
): Promise<SequentialResult> {
  assertAgents(agents);
  const results: RunResult[] = [];
  let next = input;
  for (const [at, agent] of agents.entries()) {
    const result = await agent.run(next, runOptions(options, at));
    results.push(result);
    if (!hasText(result)) return { text: result.text, results, completed: false };
    next = result.text;
  }
  return { text: results.at(-1)?.text ?? "", results, completed: true };
}

/**
 * The same input to several agents at once. Results come in the order of the agents, whatever finishes first.
 * When one of them rejects (misuse, a journal that cannot be written) the others still run to their end, then
 * that error is thrown.
 */
export async function fanoutPipeline(
  agents: readonly Agent[],
  input: Input,
  options: PipelineOptions = {},
): Promise<readonly RunResult[]> {
  assertAgents(agents);
  if (new Set(agents).size < agents.length) {
    throw misuse(
      "The same agent stands twice in the fan-out: it can only do one run at a time, so make a second one.",
    );
  }
  const settled = await Promise.allSettled(
    agents.map((agent, at) => agent.run(input, runOptions(options, at))),
  );
  return settled.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}

/** True when a run ended with a text that others can work with. */
export function hasText({ stopReason, text }: RunResult): boolean {
  return endedByItself(stopReason) && text.trim() !== "";
}

function runOptions(
  { signal, onEvent }: PipelineOptions,
  at: number,
): { readonly signal?: AbortSignal; readonly onEvent?: (event: AgentEvent) => void } {
  return defined({ signal, onEvent: onEvent && ((event: AgentEvent) => onEvent(event, at)) });
}

function assertAgents(agents: readonly Agent[]): void {
  if (agents.length === 0) throw misuse("A pipeline needs at least one agent.");
}
