import { errorMessage, NanoAgentError } from "../base/errors.ts";
import type { Model, ModelRequest, ToolChoice } from "../model/model.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import type { JournalEntry, NewEntry } from "./entry.ts";
import type { AgentEvent } from "./event.ts";
import type { Approver, Gate } from "./gate.ts";
import type { Journal } from "./journal.ts";
import type { AgentOptions, Budget, OnMaxIterations } from "./options.ts";
import type { SessionState } from "./session-state.ts";

/** The request fields that stay the same over a whole run. */
export type RequestDefaults = Omit<ModelRequest, "messages" | "tools" | "toolChoice">;

/** Everything one run works with. Made by the agent, used by the loop and its phases; holds no state of its own but `record`'s. */
export interface RunContext {
  readonly model: Model;
  readonly tools: ToolRegistry;
  readonly request: RequestDefaults;
  readonly toolChoice: ToolChoice | undefined;
  readonly maxIterations: number;
  readonly onMaxIterations: OnMaxIterations;
  readonly budget: Budget;
  readonly startedAt: number;
  readonly gate: Gate | undefined;
  readonly approve: Approver | undefined;
  readonly parallel: boolean;
  readonly maxParallel: number;
  readonly toolTimeoutMs: number;
  readonly maxToolResultChars: number;
  readonly cwd: string;
  readonly journal: Journal;
  readonly state: SessionState;
  readonly signal: AbortSignal;
  /** Name of the tool that must end the run (structured output), if any. */
  readonly finishTool: string | undefined;
  /** Takes the steering messages that came in since the last call. */
  readonly takeSteering: () => readonly NewEntry[];
  readonly emit: (event: AgentEvent) => void;
}

/** Stores an entry, folds it into the state and publishes it, in this order. Throws `journal` when it cannot be stored. */
export async function record(run: RunContext, entry: NewEntry): Promise<JournalEntry> {
  let stored: JournalEntry;
  try {
    stored = await run.journal.append(entry);
  } catch (error) {
    throw new NanoAgentError(
      "journal",
      `The journal could not store a ${entry.type} record: ${errorMessage(error)}`,
      {
        cause: error,
      },
    );
  }
  run.state.apply(stored);
  run.emit(stored);
  return stored;
}

/** The request fields an agent's options stand for. */
export function requestDefaults(options: AgentOptions, sessionId: string): RequestDefaults {
  const { systemPrompt, maxOutputTokens, temperature, topP, stopSequences, effort, providerOptions } =
    options;
  return {
    sessionId,
    ...(systemPrompt === undefined ? {} : { system: systemPrompt }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stopSequences === undefined ? {} : { stopSequences }),
    ...(effort === undefined ? {} : { effort }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(options.parallelToolCalls === false ? { parallelToolCalls: false } : {}),
  };
}
