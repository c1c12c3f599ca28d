import {
  type AgentEvent,
  type RunEndEntry,
  type SubagentEvent,
  type UserEntry,
} from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import { errorMessage, isNanoAgentError } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { type ToolInput, textOf } from "../core/message/message.ts";
import { OpenSubagents } from "../journal/scopes.ts";

/** The data of each step event. */
export interface StepEventData {
  readonly agent_start: { readonly input_text: string };
  readonly step_start: { readonly step: number };
  readonly llm_chunk: { readonly chunk: string };
  readonly thinking: { readonly chunk: string };
  readonly tool_call_start: {
    readonly tool_call_id: string;
    readonly tool_name: string;
    readonly args: ToolInput;
  };
  readonly tool_call_finish: {
    readonly tool_call_id: string;
    readonly tool_name: string;
    readonly result: string;
    readonly status: "ok" | "error" | "denied" | "aborted";
  };
  readonly step_finish: { readonly step: number };
  readonly agent_finish: { readonly result: string; readonly stop_reason: RunResult["stopReason"] };
  readonly error: { readonly error: string; readonly error_type: string };
}

/** Names of the step events. */
export type StepEventType = keyof StepEventData;

/** A step event. `timestamp` is milliseconds since the epoch. */
export type StepEvent = {
  readonly [T in StepEventType]: {
    readonly type: T;
    readonly timestamp: number;
    readonly agent_name: string;
    readonly data: StepEventData[T];
    /** For a subagent's event: the tool call that started it. */
    readonly parent_call_id?: string;
  };
}[StepEventType];

/** Options of {@link toStepEvents}. */
export interface StepEventOptions {
  /** Default `agent`. */
  readonly agentName?: string;
  /** Event types to emit. Default: all. */
  readonly include?: readonly StepEventType[];
  /** True includes subagents, under their own names. Their `error` is emitted, not thrown. Default false. */
  readonly subagents?: boolean;
  /** Default `Date.now`. */
  readonly now?: () => number;
}

/**
 * A run as nine kinds of events: `agent_start`, then for each model request `step_start`, `llm_chunk` and
 * `thinking` as they arrive, `tool_call_start` and `tool_call_finish`, `step_finish`; finally `agent_finish`,
 * or `error`, after which the error is thrown. Leaving the iteration early stops the run.
 */
export async function* toStepEvents(
  events: AsyncIterable<AgentEvent>,
  options: StepEventOptions = {},
): AsyncGenerator<StepEvent, void, undefined> {
  const { agentName = "agent", include, subagents = false, now = Date.now } = options;
  const steps = new Steps(subagents);
  const full = ({ type, data, of }: Step): StepEvent =>
    ({
      type,
      timestamp: now(),
      agent_name: of?.agent ?? agentName,
      data,
      ...omitUndefined({ parent_call_id: of?.callId }),
    }) as StepEvent;
  const selected = (steps: readonly Step[]): readonly StepEvent[] =>
    steps.filter(({ type }) => include?.includes(type) ?? true).map(full);
  try {
    for await (const event of events) {
      yield* selected(steps.of(event));
      if (event.type === "done" && event.result.error !== undefined) throw event.result.error;
    }
  } catch (error) {
    yield* selected([step("error", { error: errorMessage(error), error_type: errorTypeOf(error) })]);
    throw error;
  }
}

type Step = { [T in StepEventType]: { readonly type: T; readonly data: StepEventData[T] } }[StepEventType] & {
  /** The subagent it belongs to. */
  readonly of?: Pick<SubagentEvent, "agent" | "callId">;
};

function step<T extends StepEventType>(type: T, data: StepEventData[T]): Step {
  return { type, data } as Step;
}

/** Keeps track of opened steps that still have to be closed. */
class Steps {
  readonly #subagents: OpenSubagents<Steps> | undefined;
  #scope: string | undefined;
  #inputs: string[] | undefined;
  #open = 0;
  /** Text of the latest answer, kept for subagents: their end event does not include it. */
  #lastText = "";

  constructor(subagents: boolean) {
    this.#subagents = subagents ? new OpenSubagents() : undefined;
  }

  of(event: AgentEvent): readonly Step[] {
    switch (event.type) {
      case "run_start":
      case "run_resume":
        this.#inputs = [];
        this.#scope = event.scope;
        return [];
      case "user_message":
        this.#input(event);
        return [];
      case "subagent":
        return this.#subagent(event);
      case "assistant_message":
        this.#lastText = textOf(event.message.content);
        return [];
      case "turn_start":
        return [...this.#start(), ...this.#finishStep(), this.#startStep()];
      case "text_delta":
        return [step("llm_chunk", { chunk: event.text })];
      case "thinking_delta":
        return [step("thinking", { chunk: event.text })];
      case "tool_intent":
        return [
          step("tool_call_start", { tool_call_id: event.callId, tool_name: event.name, args: event.input }),
        ];
      case "tool_result":
        return [
          step("tool_call_finish", {
            tool_call_id: event.callId,
            tool_name: event.name,
            result: textOf(event.result.content, "\n"),
            status: event.status,
          }),
        ];
      case "done":
        return [...this.#start(), ...this.#finishStep(), ...ending(event.result)];
      default:
        return [];
    }
  }

  /** A subagent's input does not come from a person, so its source does not matter. */
  #input({ scope, source, message }: UserEntry): void {
    if (scope === this.#scope && (source === "input" || this.#scope !== undefined))
      this.#inputs?.push(textOf(message.content));
  }

  #subagent(wrapped: SubagentEvent): readonly Step[] {
    const { agent, callId, event } = wrapped;
    const steps = this.#subagents?.of(wrapped, () => new Steps(true));
    if (steps === undefined) return [];
    const made = event.type === "run_end" ? steps.#end(event) : steps.of(event);
    if (event.type === "run_end") this.#subagents?.close(wrapped);
    return made.map((each) => (each.of === undefined ? { ...each, of: { agent, callId } } : each));
  }

  #end({ stopReason, error }: RunEndEntry): readonly Step[] {
    const end =
      error === undefined
        ? step("agent_finish", { result: this.#lastText, stop_reason: stopReason })
        : step("error", { error: error.message, error_type: error.code });
    return [...this.#start(), ...this.#finishStep(), end];
  }

  #start(): readonly Step[] {
    const inputs = this.#inputs;
    this.#inputs = undefined;
    return inputs === undefined ? [] : [step("agent_start", { input_text: inputs.join("\n") })];
  }

  #startStep(): Step {
    return step("step_start", { step: ++this.#open });
  }

  #closed = 0;

  #finishStep(): readonly Step[] {
    if (this.#closed === this.#open) return [];
    this.#closed = this.#open;
    return [step("step_finish", { step: this.#open })];
  }
}

/** An error is emitted where it is thrown. */
function ending({ error, text, stopReason }: RunResult): readonly Step[] {
  return error === undefined ? [step("agent_finish", { result: text, stop_reason: stopReason })] : [];
}

function errorTypeOf(error: unknown): string {
  if (isNanoAgentError(error)) return error.code;
  return error instanceof Error ? error.name : typeof error;
}
