import type { AgentEvent, CompactionEntry, CompactionReason } from "../../core/agent/entries.ts";
import type { Journal } from "../../core/agent/journal.ts";
import { askSeparately, type ModelTurn } from "../../core/agent/model-turn.ts";
import { type Recorder, type Run, type RunPlugin, record, requestDefaults } from "../../core/agent/run.ts";
import type { SessionState } from "../../core/agent/state.ts";
import { raceAbort } from "../../core/base/async.ts";
import {
  invalidArgument,
  isNanoAgentError,
  NanoAgentError,
  toNanoAgentError,
} from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { Message } from "../../core/message/message.ts";
import { transcriptViolations } from "../../core/message/transcript.ts";
import type { MeasuredContext } from "../../core/model/estimate.ts";
import type { ModelInfo, ModelRequest, RequestDefaults, ToolSpec } from "../../core/model/model.ts";

/** A {@link Compactor}'s view of a conversation. Costs nothing to make: it is evaluated on access. */
export interface ContextView {
  /** The same object for the same conversation: a key for what an implementation remembers about it. */
  readonly conversation: object;
  /** All messages of the conversation, as the next request would send them. A live view. */
  readonly messages: readonly Message[];
  /** Counts compactions made or undone: each invalidates earlier findings about messages. */
  readonly revision: number;
  /** The provider's report of the last request; `undefined`: none since the last compaction. */
  readonly measured: MeasuredContext | undefined;
  /** The parts of every request besides messages and tools: system prompt, output limit. */
  readonly request: RequestDefaults;
  /** Tools as the model sees them. */
  readonly tools: readonly ToolSpec[];
  readonly info: ModelInfo | undefined;
}

/** The input of a {@link Compactor}. */
export interface CompactionTask extends ContextView {
  readonly reason: CompactionReason;
  /** The subjects the summary should focus on, in the words of the person who asked for it. */
  readonly instructions?: string;
  readonly signal: AbortSignal;
  /**
   * Asks the model of the run. The answer is not part of the conversation. Its cost is recorded and counts
   * for the budget; a used-up budget refuses (`exhausted`). Throws only if the journal fails.
   */
  readonly ask: (request: ModelRequest) => Promise<ModelTurn>;
  /** Everything recorded so far, nested runs included. May have to read a file. */
  readonly entries: Journal["entries"];
  /** Warns people; the run continues. */
  readonly warn: (message: string) => void;
}

/**
 * The rest of a conversation: `messages`, followed by the newest `kept` messages of the conversation
 * unchanged. Together they must be a conversation that can be sent, or nothing is done.
 */
export interface Compaction {
  /** `summary`: by the model. `shortening`: long tool results truncated. `truncation`: messages left out. */
  readonly method: "summary" | "shortening" | "truncation";
  readonly messages: readonly Message[];
  readonly kept: number;
  /** Tokens of a request with system prompt and tools. Estimates, corrected by the provider's reports. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** The effect a compaction would have now, found without changing anything or asking a model. */
export interface CompactionPreview {
  /** True if the next request would be preceded by one. */
  readonly isNeeded: boolean;
  /** How it would begin; a failed summary ends as another method. `none`: nothing could be removed. */
  readonly method: Compaction["method"] | "none";
  readonly tokensBefore: number;
  /** Assumes a summary of the expected length. */
  readonly tokensAfter: number;
  /** Tokens above which a compaction is made; `undefined` if the model's window is unknown. */
  readonly limit: number | undefined;
  readonly window: number | undefined;
  /** Messages that would be removed or truncated, oldest first. */
  readonly replaced: readonly Message[];
  /** Messages that would stay unchanged, oldest first. */
  readonly kept: readonly Message[];
  /** The parts of removed messages that are taken over word for word. */
  readonly pinned: {
    readonly userMessages: number;
    readonly files: number;
    readonly todo: boolean;
  };
}

/**
 * The port that keeps a conversation within the window of its model. The loop asks `isNeeded` before every
 * model request, so it must be cheap while there is room. It calls `compact` if so, or if a provider refused
 * a request as too long. Throwing, or resolving to `undefined`, leaves the conversation unchanged.
 */
export interface Compactor {
  readonly isNeeded: (context: ContextView) => boolean | Promise<boolean>;
  readonly compact: (task: CompactionTask) => Promise<Compaction | undefined>;
  readonly preview: (context: ContextView) => Promise<CompactionPreview>;
}

/** How a conversation is compacted on request. */
export interface CompactOptions {
  /** The subjects the summary should focus on. */
  readonly instructions?: string;
  /** Leaves the conversation unchanged when aborted. */
  readonly signal?: AbortSignal;
  /** Sees every event. */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** Milliseconds for an aborted compactor to end by itself, as it may have to record its costs. */
const COMPACTOR_GRACE_MS = 1_000;

/** Makes room before a request when due, and once after a refusal. If that fails, the run continues. */
export function compactionPlugin(compactor: Compactor): RunPlugin {
  return {
    beforeTurn: async (run) => {
      if (await isDue(run, compactor)) await compactConversation(run, compactor, "threshold");
    },
    afterFailure: async (run, error) => {
      if (!isNanoAgentError(error, "context_overflow")) return undefined;
      const compaction = await compactConversation(run, compactor, "overflow");
      return compaction === undefined ? "in_vain" : "again";
    },
  };
}

/** Makes room on request. Throws `invalid_argument` without a compactor, and if the journal fails. */
export function compactOnRequest(
  run: Run,
  compactor: Compactor | false | undefined,
  instructions: string | undefined,
): Promise<CompactionEntry | undefined> {
  return compactConversation(run, assertCompactor(compactor), "manual", instructions);
}

/** Predicts the effect of making room now. Throws `invalid_argument` without a compactor. */
export function previewCompaction(
  run: Run,
  compactor: Compactor | false | undefined,
): Promise<CompactionPreview> {
  return assertCompactor(compactor).preview(contextView(run));
}

/** Undoes a conversation's newest compaction. Throws `invalid_argument` if none, and if the journal fails. */
export async function undoNewestCompaction(recorder: Recorder): Promise<void> {
  const target = recorder.state.undoableCompaction;
  if (target === undefined) {
    throw invalidArgument(
      "There is no compaction to undo: only the newest one can be undone, and only once.",
    );
  }
  await record(recorder, { type: "compaction_undone", target });
}

/** Makes room now. Resolves to the recorded entry, if any. Throws only if the journal fails. */
async function compactConversation(
  run: Run,
  compactor: Compactor,
  reason: CompactionReason,
  instructions?: string,
): Promise<CompactionEntry | undefined> {
  run.emit({ type: "compaction_start", reason });
  try {
    const work = compactor.compact(taskOf(run, reason, instructions));
    const compaction = await raceAbort(work, run.signal, COMPACTOR_GRACE_MS);
    if (compaction === undefined || run.signal.aborted) return undefined;
    assertSendable(run.state, compaction);
    return (await record(run, { type: "compaction", reason, ...compaction })) as CompactionEntry;
  } catch (error) {
    const failure = toNanoAgentError(error);
    if (failure.code === "journal") throw failure;
    if (!run.signal.aborted)
      run.emit({ type: "warning", message: `The conversation was not compacted: ${failure.message}` });
    return undefined;
  }
}

async function isDue(run: Run, compactor: Compactor): Promise<boolean> {
  if (run.state.isCompactionUndone) return false;
  try {
    const needed = compactor.isNeeded(contextView(run));
    return typeof needed === "boolean" ? needed : await raceAbort(needed, run.signal);
  } catch (error) {
    if (run.signal.aborted) return false;
    const { message } = toNanoAgentError(error);
    run.emit({ type: "warning", message: `The size of the conversation is not known: ${message}` });
    return false;
  }
}

function assertCompactor(compactor: Compactor | false | undefined): Compactor {
  if (compactor !== undefined && compactor !== false) return compactor;
  throw invalidArgument(
    "This agent has no compaction: pass one, e.g. new Agent({ compaction: summaryCompaction() }).",
  );
}

function contextView(run: Run): ContextView {
  const { state, tools, model } = run;
  return {
    conversation: state,
    messages: state.transcript.messages,
    revision: state.revision,
    measured: state.measured,
    request: requestDefaults(run),
    tools: tools.specs(),
    info: model().model.info,
  };
}

function taskOf(run: Run, reason: CompactionReason, instructions: string | undefined): CompactionTask {
  return {
    ...contextView(run),
    reason,
    ...omitUndefined({ instructions }),
    signal: run.signal,
    ask: (request) => askSeparately(run, request, "compaction"),
    entries: () => run.journal.entries(),
    warn: (message) => run.emit({ type: "warning", message }),
  };
}

/** Open calls of the last message are allowed: their answers are still to come. */
function assertSendable({ transcript }: SessionState, { messages, kept }: Compaction): void {
  const before = transcript.messages;
  const isOpen = transcript.hasPending;
  const tail = before.slice(Math.max(0, before.length - kept), isOpen ? -1 : undefined);
  const [violation] = transcriptViolations([...messages, ...tail]);
  if (violation === undefined && (!isOpen || kept > 0)) return;
  throw new NanoAgentError(
    "internal",
    `The compactor left a conversation that cannot be sent (${violation ?? "its open calls are gone"}).`,
  );
}
