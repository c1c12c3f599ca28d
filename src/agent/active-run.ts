import type { AgentEvent } from "../core/agent/entries.ts";
import { describeWallTimeLimit } from "../core/agent/perform.ts";
import type { ModelSelection, RunPlugin, RunSettings } from "../core/agent/run.ts";
import { type LinkedAbort, startTimer } from "../core/base/async.ts";
import { invalidArgument, NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { didYouMean } from "../core/base/text.ts";
import type { Effort, Model, RequestDefaults, ToolChoice } from "../core/model/model.ts";
import type { Tool, ToolRegistry } from "../core/tool/tool.ts";
import { loopGuardPlugin } from "../hooks/loop-guard.ts";
import { compactionPlugin } from "../memory/context/compactor.ts";
import { LongTermPlugin } from "../memory/long-term-plugin.ts";
import {
  type AgentOptions,
  assertOptions,
  assertPriced,
  type ResolvedOptions,
  type RunOptions,
} from "./options.ts";

/**
 * Shows each event to observers before the reader. An error in one of them neither stops the run nor keeps
 * the event from the others; it becomes a warning, which `onEvent` sees too unless it threw.
 */
export function publisher(
  { onEvent, onToken }: Pick<RunOptions, "onEvent" | "onToken">,
  push: (event: AgentEvent) => void,
): (event: AgentEvent) => void {
  if (onEvent === undefined && onToken === undefined) return push;
  const show = (event: AgentEvent): void => {
    if (onEvent !== undefined) observe(onEvent, event, (error) => push(warning(error)));
    push(event);
  };
  if (onToken === undefined) return show;
  return (event) => {
    if (event.type === "text_delta") observe(onToken, event.text, (error) => show(warning(error)));
    show(event);
  };
}

/** Observers may be asynchronous. They are not awaited, and a rejection must not crash the process. */
function observe<T>(observer: (value: T) => unknown, value: T, onFailure: (error: unknown) => void): void {
  try {
    const pending = observer(value);
    if (pending instanceof Promise) pending.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}

function warning(error: unknown): AgentEvent {
  return { type: "warning", message: `An observer threw: ${toNanoAgentError(error).message}` };
}

/** The plugins of an agent's runs, without hooks. Throws `invalid_argument` for invalid options. */
export function agentPlugins({ longTermMemory, loopGuard, compaction }: AgentOptions): readonly RunPlugin[] {
  const plugins: RunPlugin[] = [];
  if (longTermMemory !== undefined) plugins.push(new LongTermPlugin(longTermMemory));
  if (loopGuard !== false) plugins.push(loopGuardPlugin(loopGuard));
  if (compaction !== undefined && compaction !== false) plugins.push(compactionPlugin(compaction));
  return plugins;
}

export function requestFields(options: AgentOptions, sessionId: string): RequestDefaults {
  const { systemPrompt: system, maxOutputTokens, temperature, topP, stopSequences, effort } = options;
  const { providerOptions } = options;
  const parallelToolCalls = options.parallelToolCalls === false ? false : undefined;
  return {
    sessionId,
    ...omitUndefined({ system, maxOutputTokens, temperature, topP, stopSequences, effort }),
    ...omitUndefined({ providerOptions, parallelToolCalls }),
  };
}

export function modelSelectionOf({ model, effort, wrapModel }: ResolvedOptions): ModelSelection {
  const asked = wrapModel === undefined ? model : wrapModel(model);
  return { model: asked, ...omitUndefined({ effort }) };
}

export function withModel(
  options: ResolvedOptions,
  model: Model,
  effort: Effort | undefined,
): ResolvedOptions {
  const { effort: _before, ...others } = options;
  const changed: ResolvedOptions = { ...others, model, ...omitUndefined({ effort }) };
  assertOptions(changed);
  assertPriced(changed);
  return changed;
}

/**
 * The tools of a run: the agent's, plus the one that must end it. Throws `invalid_argument` if a tool has
 * that one's name, or if a forced tool is missing, which every provider refuses.
 */
export function runTools(
  tools: ToolRegistry,
  finish: Tool | undefined,
  choice: ToolChoice | undefined,
): ToolRegistry {
  if (finish !== undefined && tools.get(finish.name) !== undefined)
    throw invalidArgument(
      `A run that ends by tool needs the name "${finish.name}", which one of the tools has: rename it.`,
    );
  const all = finish === undefined ? tools : tools.with(finish);
  if (typeof choice !== "object" || all.get(choice.name) !== undefined) return all;
  const known = all.names();
  throw invalidArgument(
    `toolChoice names the tool "${choice.name}", which the agent does not have.${didYouMean(choice.name, known)} Tools: ${known.join(", ") || "none"}.`,
  );
}

export type Publish = (event: AgentEvent) => void;

/** The run in progress as its agent sees it: how to stop it, and where it is published. */
export class ActiveRun {
  /** Passes an event through the hooks and to the reader. */
  emit: Publish = noop;
  readonly publish: Publish;
  readonly #linked: LinkedAbort;
  #stopTimer: () => void = noop;
  isReleased = false;

  constructor(linked: LinkedAbort, publish: Publish) {
    this.#linked = linked;
    this.publish = publish;
  }

  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  stop(reason: string): void {
    this.#linked.abort(new NanoAgentError("aborted", reason));
  }

  /** Stops it and records nothing more. */
  release(): void {
    this.isReleased = true;
    this.stop("The run was released.");
  }

  /** Stops it when its wall time is used up, `workedMs` of which were used before. */
  limitWallTime(
    { budget: { wallTimeMs }, clock }: Pick<RunSettings, "budget" | "clock">,
    workedMs: number,
  ): void {
    if (wallTimeMs === undefined) return;
    const reached = new NanoAgentError("timeout", describeWallTimeLimit(wallTimeMs));
    this.#stopTimer = startTimer(clock, wallTimeMs - workedMs, () => this.#linked.abort(reached));
  }

  end(): void {
    this.#stopTimer();
    this.#linked.unlink();
  }
}

export const noop = (): void => undefined;
