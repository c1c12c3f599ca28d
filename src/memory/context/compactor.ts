import type { AgentEvent, CompactionReason } from "../../core/agent/entries.ts";
import type { Journal } from "../../core/agent/journal.ts";
import type { ModelTurn } from "../../core/agent/model-turn.ts";
import type { Message } from "../../core/message/message.ts";
import type { MeasuredContext } from "../../core/model/estimate.ts";
import type { ModelInfo, ModelRequest, RequestDefaults, ToolSpec } from "../../core/model/model.ts";

/** A conversation as a {@link Compactor} is told it. Costs nothing to make: it looks when asked. */
export interface ContextView {
  /** The same object for the same conversation: a key for what an implementation remembers of it. */
  readonly conversation: object;
  /** All messages of the conversation, as the next request would send them. Grows and shrinks with it. */
  readonly messages: readonly Message[];
  /** Counts compactions made or taken back: what was found out of messages before is void then. */
  readonly revision: number;
  /** The provider's report of the last request; `undefined`: none since the last compaction. */
  readonly measured: MeasuredContext | undefined;
  /** The parts of every request beside messages and tools: system prompt, output limit. */
  readonly request: RequestDefaults;
  /** Tools as the model sees them. */
  readonly tools: readonly ToolSpec[];
  readonly info: ModelInfo | undefined;
}

/** The parts a {@link Compactor} makes a compaction from. */
export interface CompactionTask extends ContextView {
  readonly reason: CompactionReason;
  /** The subjects the summary should pay attention to, in the words of whoever asked for it. */
  readonly instructions?: string;
  readonly signal: AbortSignal;
  /**
   * Asks the model of the run. The answer is no part of the conversation; what it cost is recorded, counts
   * for the budget, and is refused (`exhausted`) when the budget is used up. Throws only for the journal.
   */
  readonly ask: (request: ModelRequest) => Promise<ModelTurn>;
  /** Everything recorded so far, nested runs included. Reading it may mean reading a file. */
  readonly entries: Journal["entries"];
  /** Tells people something; the run goes on. */
  readonly warn: (message: string) => void;
}

/**
 * The rest of a conversation: `messages`, then the newest `kept` messages of the conversation as they are.
 * Together they must be a conversation that can be sent, or nothing is done.
 */
export interface Compaction {
  /** `summary`: by the model. `shortening`: long tool results cut. `truncation`: messages left out. */
  readonly method: "summary" | "shortening" | "truncation";
  readonly messages: readonly Message[];
  readonly kept: number;
  /** Of a request with system prompt and tools, before and after. Estimates, corrected by the provider's. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** The effect a compaction would have now. Nothing is changed and no model is asked to find out. */
export interface CompactionPreview {
  /** True when the next request would be preceded by one. */
  readonly isNeeded: boolean;
  /** How it would begin; a summary that fails ends as something else. `none`: nothing could go. */
  readonly method: Compaction["method"] | "none";
  readonly tokensBefore: number;
  /** With a summary of the expected length. */
  readonly tokensAfter: number;
  /** Tokens above which a compaction is made; `undefined` when the window of the model is unknown. */
  readonly limit: number | undefined;
  readonly window: number | undefined;
  /** Messages that would go, or be cut, oldest first. */
  readonly replaced: readonly Message[];
  /** Messages that would stay as they are, oldest first. */
  readonly kept: readonly Message[];
  /** The messages taken over word for word from those that go. */
  readonly pinned: {
    readonly userMessages: number;
    readonly files: number;
    readonly todo: boolean;
  };
}

/**
 * The port that keeps a conversation within the window of its model. The loop asks `isNeeded` before every
 * model request, so it must be cheap while there is room, and `compact` when it says so or when a provider
 * refused a request as too long. What throws, or resolves to `undefined`, leaves the conversation as it is.
 */
export interface Compactor {
  readonly isNeeded: (context: ContextView) => boolean | Promise<boolean>;
  readonly compact: (task: CompactionTask) => Promise<Compaction | undefined>;
  readonly preview: (context: ContextView) => Promise<CompactionPreview>;
}

/** How a conversation is compacted on request. */
export interface CompactOptions {
  /** The subjects the summary should pay attention to. */
  readonly instructions?: string;
  /** Leaves the conversation as it is when it is aborted. */
  readonly signal?: AbortSignal;
  /** Sees every event. */
  readonly onEvent?: (event: AgentEvent) => void;
}
