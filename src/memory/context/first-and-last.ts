import { invalidArgument } from "../../core/base/errors.ts";
import type { Message } from "../../core/message/message.ts";
import type { Compaction, Compactor, ContextView } from "./compactor.ts";
import { ContextMeter, type ContextSize } from "./context-meter.ts";
import { hasToolResults, pinnedOf } from "./pinned.ts";
import { canSplitAt } from "./plan-compaction.ts";

/** When a conversation is truncated. */
export interface FirstAndLastOptions {
  /** Messages before a conversation is cut to `count`. Default: `count`. Larger values cut less often. */
  readonly max?: number;
}

/**
 * Keeps the first message and the last `count - 1` of a longer conversation, without asking a model. If the
 * cut would separate a result from its call, the result is removed too. A request refused as too long is
 * retried with half of the messages.
 */
export function firstAndLast(count: number, options: FirstAndLastOptions = {}): Compactor {
  const { max = count } = options;
  if (!Number.isSafeInteger(count) || count < 2)
    throw invalidArgument(`firstAndLast(${String(count)}): it must be a whole number from 2.`);
  if (!Number.isSafeInteger(max) || max < count)
    throw invalidArgument(`firstAndLast: max is ${String(max)}; it must be a whole number from ${count}.`);
  const meter = new ContextMeter();
  const isNeeded = ({ messages }: ContextView): boolean => messages.length > max;
  return {
    isNeeded,
    compact: async (task) => {
      const { messages, reason } = task;
      const maxMessages = reason === "overflow" ? Math.min(count, Math.ceil(messages.length / 2)) : count;
      const cut = cutTo(messages, maxMessages);
      return cut === undefined ? undefined : compactionOf(messages, cut, await meter.measure(task));
    },
    preview: async (view) => {
      const { messages, info } = view;
      const size = await meter.measure(view);
      const { head, kept } = cutTo(messages, count) ?? { head: [], kept: messages.length };
      const isCut = kept < messages.length;
      return {
        isNeeded: isNeeded(view),
        method: isCut ? "truncation" : "none",
        tokensBefore: size.tokens,
        tokensAfter: isCut ? compactionOf(messages, { head, kept }, size).tokensAfter : size.tokens,
        limit: undefined,
        window: info?.contextWindow,
        replaced: messages.slice(head.length, messages.length - kept),
        kept: messages.slice(messages.length - kept),
        pinned: { userMessages: pinnedOf(head).userMessages.length, files: 0, todo: false },
      };
    },
  };
}

interface Cut {
  readonly head: readonly Message[];
  readonly kept: number;
}

function cutTo(messages: readonly Message[], count: number): Cut | undefined {
  if (messages.length <= count) return undefined;
  const [first] = messages;
  // A first message that answers calls would need those calls; a conversation begins with a question.
  const head = first?.role === "user" && !hasToolResults(first) ? [first] : [];
  let start = messages.length - (count - head.length);
  while (start < messages.length && !canSplitAt(messages, start)) start += 1;
  if (start === messages.length) start = messages.findLastIndex((_message, at) => canSplitAt(messages, at));
  return start <= head.length ? undefined : { head, kept: messages.length - start };
}

function compactionOf(messages: readonly Message[], { head, kept }: Cut, size: ContextSize): Compaction {
  const removed = messages.slice(head.length, messages.length - kept);
  const tokensAfter = size.tokens - size.of(removed);
  return {
    method: "truncation",
    messages: head,
    kept,
    tokensBefore: size.tokens,
    tokensAfter: Math.max(tokensAfter, size.fixed),
  };
}
