import type { ContextView } from "./compactor.ts";

/**
 * The fields of {@link import("./summary-compaction.ts").SummaryCompactionOptions} that decide about room.
 */
export interface RoomOptions {
  readonly at?: number;
  readonly window?: number;
  readonly reserve?: number;
}

/** How much room there is, in tokens. */
export interface ContextLimits {
  /** The tokens a request and its answer may have together; `undefined` when nobody knows. */
  readonly window: number | undefined;
  /** Held free for the answer. */
  readonly reserve: number;
  /** Largest request that is made without a compaction; `undefined` with an unknown window. */
  readonly limit: number | undefined;
}

/** Most room held free for an answer by default: what a model could write is rarely what it writes. */
const MAX_RESERVE = 32_000;

/** The room for a conversation. Never less than half of the window is left for the request. */
export function contextLimits({ info, request }: ContextView, options: RoomOptions): ContextLimits {
  const window = options.window ?? info?.contextWindow;
  if (window === undefined) return { window, reserve: options.reserve ?? 0, limit: undefined };
  const usual = Math.min(info?.maxOutputTokens ?? window * 0.1, MAX_RESERVE, window / 4);
  const reserve = Math.min(options.reserve ?? request.maxOutputTokens ?? usual, window / 2);
  return { window, reserve, limit: Math.floor(Math.min((options.at ?? 0.8) * window, window - reserve)) };
}
