import type { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { isNormalEnd } from "../core/base/stop-reason.ts";
import type { Input } from "../core/message/input.ts";

/** Options of a pipeline. */
export interface PipelineOptions {
  readonly signal?: AbortSignal;
  /** Called with every event of every agent and the agent's position. */
  readonly onEvent?: (event: AgentEvent, agent: number) => void;
}

/** The result of a sequence of agents. */
export interface SequentialResult {
  /** The text of the last agent that ran. */
  readonly text: string;
  /** One result per agent, in order; fewer if an agent gave no answer. */
  readonly results: readonly RunResult[];
  /** False if an agent gave no answer, so those after it had no input. */
  readonly completed: boolean;
}

/**
 * Runs agents one after the other; each gets the text of the one before. Stops at an agent whose run did not
 * end with an answer; its result says why. `input` may be left out if the first agent can start without one,
 * as a `UserAgent` can. Rejects for misuse, such as an empty list.
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
 * Runs several agents on the same input at once. Results are in the order of the agents, whichever finishes
 * first. If one rejects (misuse, a journal that fails), the others still run to their end before that error
 * is thrown.
 */
export async function fanoutPipeline(
  agents: readonly Agent[],
  input: Input,
  options: PipelineOptions = {},
): Promise<readonly RunResult[]> {
  assertAgents(agents);
  if (new Set(agents).size < agents.length) {
    throw invalidArgument(
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

/** True if a run ended with a text others can work with. */
export function hasText({ stopReason, text }: RunResult): boolean {
  return isNormalEnd(stopReason) && text.trim() !== "";
}

function runOptions(
  { signal, onEvent }: PipelineOptions,
  at: number,
): { readonly signal?: AbortSignal; readonly onEvent?: (event: AgentEvent) => void } {
  return omitUndefined({ signal, onEvent: onEvent && ((event: AgentEvent) => onEvent(event, at)) });
}

function assertAgents(agents: readonly Agent[]): void {
  if (agents.length === 0) throw invalidArgument("A pipeline needs at least one agent.");
}
