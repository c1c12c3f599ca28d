import { misuse } from "../../core/base/errors.ts";
import type { Message } from "../../core/message/message.ts";
import type { Compaction, CompactionPreview, CompactionTask, Compactor, ContextView } from "./compactor.ts";
import { ContextMeter, type ContextSize } from "./context-meter.ts";
import { answersCalls, pinnedOf } from "./pinned.ts";
import { isSeam } from "./plan-compaction.ts";

/** When a conversation is cut. */
export interface FirstAndLastOptions {
  /** Messages before a conversation is cut to `count`. Default: `count`. Larger: it is cut less often. */
  readonly max?: number;
}

/**
 * Keeps the first message and the last `count - 1` of a conversation that has more, without asking a model.
 * Where the cut would separate a result from its call, the result goes too. A request that is refused as too
 * long is tried with half of them.
 */
export function firstAndLast(count: number, options: FirstAndLastOptions = {}): Compactor {
  const { max = count } = options;
  if (!Number.isSafeInteger(count) || count < 2)
    throw misuse(`firstAndLast(${String(count)}): it must be a whole number from 2.`);
  if (!Number.isSafeInteger(max) || max < count)
    throw misuse(`firstAndLast: max is ${String(max)}; it must be a whole number from ${count}.`);
  return new MessageWindow(count, max);
}

class MessageWindow implements Compactor {
  readonly #count: number;
  readonly #max: number;
  readonly #meter = new ContextMeter();

  constructor(count: number, max: number) {
    this.#count = count;
    this.#max = max;
  }

  readonly isNeeded = ({ messages }: ContextView): boolean => messages.length > this.#max;

  readonly compact = async (task: CompactionTask): Promise<Compaction | undefined> => {
    const { messages, reason } = task;
    const count = reason === "overflow" ? Math.min(this.#count, Math.ceil(messages.length / 2)) : this.#count;
    const cut = cutTo(messages, count);
    if (cut === undefined) return undefined;
    return compactionOf(messages, cut, await this.#meter.measure(task));
  };

  readonly preview = async (view: ContextView): Promise<CompactionPreview> => {
    const { messages, info } = view;
    const size = await this.#meter.measure(view);
    const cut = cutTo(messages, this.#count);
    const compaction = cut === undefined ? undefined : compactionOf(messages, cut, size);
    const replaced = messages.slice(cut?.head.length ?? 0, messages.length - (cut?.kept ?? messages.length));
    return {
      isNeeded: this.isNeeded(view),
      method: compaction === undefined ? "none" : "truncation",
      tokensBefore: size.tokens,
      tokensAfter: compaction?.tokensAfter ?? size.tokens,
      limit: undefined,
      window: info?.contextWindow,
      replaced: compaction === undefined ? [] : replaced,
      kept: compaction === undefined ? messages : messages.slice(messages.length - compaction.kept),
      pinned: { userMessages: pinnedOf(cut?.head ?? []).userMessages.length, files: 0, todo: false },
    };
  };
}

interface Cut {
  readonly head: readonly Message[];
  readonly kept: number;
}

function cutTo(messages: readonly Message[], count: number): Cut | undefined {
  if (messages.length <= count) return undefined;
  const [first] = messages;
  // A first message with calls would need its results too; a conversation begins with a question.
  const head = first?.role === "user" && !answersCalls(first) ? [first] : [];
  let start = messages.length - (count - head.length);
  while (start < messages.length && !isSeam(messages, start)) start += 1;
  if (start === messages.length) start = messages.findLastIndex((_message, at) => isSeam(messages, at));
  return start <= head.length ? undefined : { head, kept: messages.length - start };
}

function compactionOf(messages: readonly Message[], { head, kept }: Cut, size: ContextSize): Compaction {
  const gone = messages.slice(head.length, messages.length - kept);
  const tokensAfter = size.tokens - size.of(gone);
  return {
    method: "truncation",
    messages: head,
    kept,
    tokensBefore: size.tokens,
    tokensAfter: Math.max(tokensAfter, size.fixed),
  };
}
