import { truncateMiddle } from "../../core/base/text.ts";
import {
  type ImageBlock,
  type Message,
  type TextBlock,
  type ToolResultBlock,
  type UserBlock,
  type UserMessage,
  userMessage,
} from "../../core/message/message.ts";
import type { ContextSize } from "./context-meter.ts";
import { hasToolResults, type PinnedMessages, pinnedOf } from "./pinned.ts";

interface CompactionBudget {
  readonly tail: number;
  /** Model answers that are kept with their results whatever their size. */
  readonly tailTurns: number;
  readonly pins: number;
  /** Maximum tokens of the newest messages: above it, their longest parts are truncated. */
  readonly tailAtMost: number;
}

export interface CompactionPlan {
  readonly replaced: readonly Message[];
  readonly pinned: PinnedMessages;
  /** The user's own words among the removed messages: whole, or truncated with a mark if too long. */
  readonly pins: readonly UserMessage[];
  /** Newest messages that had to be truncated to fit; they come after the note. */
  readonly truncatedTail: readonly Message[];
  readonly kept: number;
}

/** Never separates a call from its result. `undefined` if nothing can be removed. */
export function planCompaction(
  messages: readonly Message[],
  size: Pick<ContextSize, "of">,
  budget: CompactionBudget,
): CompactionPlan | undefined {
  const start = tailStart(messages, size, budget);
  if (start === 0) return undefined;
  const replaced = messages.slice(0, start);
  const tail = fitTail(messages.slice(start), size, budget.tailAtMost);
  const pinned = pinnedOf(replaced);
  return {
    replaced,
    pinned,
    pins: fitPins(pinned.userMessages, size, budget.pins),
    truncatedTail: tail.cut,
    kept: tail.kept.length,
  };
}

/** True if a conversation may be split before the message at `at`. */
export function canSplitAt(messages: readonly Message[], at: number): boolean {
  const message = messages[at];
  return message === undefined || !hasToolResults(message);
}

/** Index of the first message to keep: at the earliest split point after which everything fits. */
function tailStart(
  messages: readonly Message[],
  size: Pick<ContextSize, "of">,
  { tail, tailTurns }: CompactionBudget,
): number {
  let start = messages.length;
  let used = 0;
  let turns = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message === undefined) break;
    used += size.of([message]);
    if (used > tail && turns >= tailTurns && start < messages.length) break;
    if (message.role === "assistant") turns += 1;
    if (canSplitAt(messages, at)) start = at;
    if (used > tail && turns >= tailTurns) break;
  }
  return start;
}

interface Tail {
  readonly cut: readonly Message[];
  readonly kept: readonly Message[];
}

/** Maximum characters per result in the newest messages, tried one after the other until they fit. */
const RESULT_CAPS: readonly number[] = [40_000, 10_000, 2_500, 600];
const OWN_CAPS: readonly number[] = [100_000, 25_000, 6_000, 1_500];

/** The tail, with its longest parts truncated if it would not fit by itself. */
function fitTail(tail: readonly Message[], size: Pick<ContextSize, "of">, limit: number): Tail {
  let list = tail;
  for (const cap of RESULT_CAPS) {
    if (size.of(list) <= limit) break;
    list = shortenToolResults(tail, cap);
  }
  const shortened = list;
  for (const cap of OWN_CAPS) {
    if (size.of(list) <= limit) break;
    list = shortened.map((message) => (message.role === "user" ? shortenUserMessage(message, cap) : message));
  }
  let unchanged = 0;
  while (unchanged < tail.length && list[tail.length - 1 - unchanged] === tail[tail.length - 1 - unchanged])
    unchanged += 1;
  return { cut: list.slice(0, tail.length - unchanged), kept: tail.slice(tail.length - unchanged) };
}

/** Share of the room reserved for the first message, which states the overall goal. */
const FIRST_SHARE = 0.25;

/** The messages that fit, newest first: long ones truncated with a mark, a count for the omitted ones. */
function fitPins(
  own: readonly UserMessage[],
  size: Pick<ContextSize, "of">,
  room: number,
): readonly UserMessage[] {
  if (size.of(own) <= room) return own;
  const [first, ...rest] = own;
  if (first === undefined) return [];
  const opening = cutToTokens(first, size, room * FIRST_SHARE);
  let left = room - size.of([opening]);
  const newest: UserMessage[] = [];
  let omitted = 0;
  for (const message of rest.toReversed()) {
    const isWhole = size.of([message]) <= left;
    const pin = isWhole || left >= MIN_PIN_TOKENS ? cutToTokens(message, size, left) : undefined;
    const tokens = pin === undefined ? 0 : size.of([pin]);
    if (pin === undefined || tokens > left) {
      omitted += 1;
      continue;
    }
    newest.unshift(pin);
    left -= tokens;
  }
  if (omitted === 0) return [opening, ...newest];
  const notice = userMessage(
    `[${omitted === 1 ? "1 message of the user was" : `${omitted} messages of the user were`} left out here to make room.]`,
  );
  return [opening, notice, ...newest];
}

/** With less room than this, a message is omitted rather than truncated. */
const MIN_PIN_TOKENS = 100;

function cutToTokens(message: UserMessage, size: Pick<ContextSize, "of">, tokens: number): UserMessage {
  let cut = message;
  // Characters per token differ by script, so each round measures the result of the last one.
  for (let chars = Math.max(200, tokens * 4); size.of([cut]) > tokens && chars >= 200; chars /= 2)
    cut = shortenUserMessage(message, Math.floor(chars));
  return cut;
}

const CALL_AGAIN = "[Shortened to make room in the conversation. Run the call again to see all of it.]";
const IMAGE_LEFT_OUT = "[An image was left out to make room in the conversation.]";

/** Longer results keep beginning and end, images become a line. Unchanged messages are the same objects. */
export function shortenToolResults(messages: readonly Message[], maxChars: number): readonly Message[] {
  return messages.map((message) => {
    if (message.role !== "user") return message;
    let changed = false;
    const content = message.content.map((block) => {
      if (block.type !== "tool_result") return block;
      const cut = shortenResult(block, maxChars);
      changed ||= cut !== block;
      return cut;
    });
    return changed ? { ...message, content } : message;
  });
}

/** A user message truncated to `maxChars` of text, with a marker; the same object if short enough. */
function shortenUserMessage(message: UserMessage, maxChars: number): UserMessage {
  const length = message.content.reduce(
    (sum, block) => sum + (block.type === "text" ? block.text.length : 0),
    0,
  );
  if (length <= maxChars) return message;
  let left = maxChars;
  const content = message.content.flatMap((block): readonly UserBlock[] => {
    if (block.type !== "text") return [block];
    const text = truncateMiddle(block.text, Math.max(left, 0));
    left -= text.length;
    return text === "" ? [] : [{ ...block, text }];
  });
  return { ...message, content };
}

function shortenResult(block: ToolResultBlock, maxChars: number): ToolResultBlock {
  const { content } = block;
  if (typeof content === "string") {
    const text = shortenText(content, maxChars);
    return text === content ? block : { ...block, content: text };
  }
  let changed = false;
  const parts = content.map((part: TextBlock | ImageBlock): TextBlock => {
    const text = part.type === "image" ? IMAGE_LEFT_OUT : shortenText(part.text, maxChars);
    if (part.type === "text" && text === part.text) return part;
    changed = true;
    return { type: "text", text };
  });
  return changed ? { ...block, content: parts } : block;
}

function shortenText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const whole = text.endsWith(CALL_AGAIN) ? text.slice(0, -CALL_AGAIN.length - 1) : text;
  const cut = truncateMiddle(whole, Math.max(0, maxChars - CALL_AGAIN.length - 1));
  return `${cut}\n${CALL_AGAIN}`;
}
