import type { AssistantEntry, JournalEntry } from "../../../core/agent/entries.ts";
import { SessionState } from "../../../core/agent/state.ts";
import { omitUndefined } from "../../../core/base/json.ts";
import type { ContentBlock, Message } from "../../../core/message/message.ts";
import { cleanUsage } from "../../../core/message/message.ts";
import { estimateTokens, PART_TOKENS, promptText } from "../../../core/model/estimate.ts";
import { callTitle } from "../../../view/call-text.ts";

/**
 * The parts that fill a model's window, from the bottom of a column. `fixed`: instructions, tools and
 * everything else outside messages · `summary`: left by a compaction or another conversation · `input`: the
 * user's words · `remarks`: from the program, others or memory · `answers`: text and reasoning of the model ·
 * `results`: of calls, with their arguments · `images`.
 */
export const CONTEXT_PARTS = [
  "fixed",
  "summary",
  "input",
  "remarks",
  "answers",
  "results",
  "images",
] as const;

export type ContextPart = (typeof CONTEXT_PARTS)[number];

export type ContextSums = { readonly [part in ContextPart]: number };

export interface ContextTurn {
  /** The entry of its answer. */
  readonly entryId: string;
  /** Number of the request in the conversation, from 1. */
  readonly turn: number;
  /** Their sum is `inputTokens`. */
  readonly parts: ContextSums;
  readonly inputTokens: number;
  /** Tokens read from the provider's cache. */
  readonly cacheReadTokens: number;
  /** True if no provider counted it. */
  readonly isEstimated: boolean;
  /** Why the conversation differs from the previous request. */
  readonly event?: "compaction" | "compaction_undone" | "edit";
}

/** Tokens per image: about the number that providers charge. */
const IMAGE_TOKENS = 1_500;

/**
 * The contents of the window by request. The provider's count is distributed over the messages by text
 * length; the excess at the first request is `fixed`. The parts always add up.
 */
export function contextTurns(entries: readonly JournalEntry[]): readonly ContextTurn[] {
  const fold = new ContextFold();
  for (const entry of entries) fold.apply(entry);
  return fold.turns;
}

export interface LargePiece {
  readonly part: ContextPart;
  readonly tokens: number;
  /** Its beginning, or the name of the tool. */
  readonly label: string;
  /** For a call: its command, path or pattern. */
  readonly detail: string;
  /** The entry that added it; absent for pieces left by another conversation. */
  readonly entryId?: string;
  /** The first request that included it, from 1. */
  readonly since: number;
}

/** The largest messages in the window at one request, largest first. */
export function largestPieces(
  entries: readonly JournalEntry[],
  entryId: string,
  most: number,
): readonly LargePiece[] {
  const fold = new ContextFold();
  for (const entry of entries) {
    if (entry.id === entryId) break;
    fold.apply(entry);
  }
  return fold.pieces().slice(0, most);
}

class ContextFold {
  readonly turns: ContextTurn[] = [];
  readonly #state = new SessionState();
  /** Number of the first request that included each message. */
  readonly #since = new WeakMap<Message, number>();
  /** The entry of each message, and of each call by id. */
  readonly #entryOf = new Map<Message | string, string>();
  readonly #origins = new WeakMap<Message, "remarks" | "summary">();
  /** Estimated tokens of the messages sent, and the number of messages counted. */
  #weights = emptySums();
  #counted = 0;
  /** Tokens outside messages, and the factor from a message's estimate to its counted tokens. */
  #fixed = 0;
  #scale = 1;
  #event: ContextTurn["event"];

  apply(entry: JournalEntry): void {
    if (entry.scope !== undefined) return;
    if (entry.type === "assistant_message") this.#request(entry);
    this.#state.apply(entry);
    this.#noteOrigins(entry);
  }

  /** The current pieces in the window, largest first. */
  pieces(): readonly LargePiece[] {
    const calls: Calls = new Map();
    return this.#state.transcript.messages
      .flatMap((message) => {
        const since = this.#since.get(message) ?? this.turns.length + 1;
        return piecesOf(message, this.#origins.get(message), calls).map(({ weight, callId, ...piece }) => ({
          ...piece,
          ...omitUndefined({ entryId: this.#entryOf.get(callId ?? message) ?? this.#entryOf.get(message) }),
          since,
          tokens: Math.round(weight * this.#scale),
        }));
      })
      .sort((left, right) => right.tokens - left.tokens);
  }

  #noteOrigins(entry: JournalEntry): void {
    const { messages } = this.#state.transcript;
    const newest = messages.at(-1);
    if (newest !== undefined && !this.#entryOf.has(newest)) this.#entryOf.set(newest, entry.id);
    switch (entry.type) {
      case "tool_result":
        this.#entryOf.set(entry.callId, entry.id);
        return;
      case "user_message":
        if (newest !== undefined && entry.source !== "input" && entry.source !== "steering")
          this.#origins.set(newest, "remarks");
        return;
      case "compaction":
        for (const message of messages.slice(0, entry.messages.length))
          if (!this.#since.has(message)) this.#origins.set(message, "summary");
        return this.#restart("compaction");
      case "compaction_undone":
        return this.#restart("compaction_undone");
      case "memory_edit":
        return entry.edit === "remove" ? this.#restart("edit") : undefined;
      default:
    }
  }

  /** The conversation was replaced: weighs it again. */
  #restart(event: NonNullable<ContextTurn["event"]>): void {
    this.#event = event;
    this.#weights = emptySums();
    this.#counted = 0;
  }

  #request(entry: AssistantEntry): void {
    // An interrupted call is answered before the next request goes out.
    const { messages } = this.#state.transcript;
    const turn = this.turns.length + 1;
    for (let message = messages[this.#counted]; message !== undefined; message = messages[++this.#counted]) {
      if (!this.#since.has(message)) this.#since.set(message, turn);
      for (const { part, weight } of piecesOf(message, this.#origins.get(message)))
        this.#weights[part] += weight;
    }
    const usage = cleanUsage(entry.usage);
    const isEstimated = usage.estimated === true || usage.inputTokens === 0;
    const weight = sumOf(this.#weights);
    if (!isEstimated) {
      // Weights are estimated high: anything counted beyond them is not in messages.
      this.#fixed = Math.min(usage.inputTokens, Math.max(this.#fixed, usage.inputTokens - weight));
      this.#scale = weight === 0 ? 1 : (usage.inputTokens - this.#fixed) / weight;
    }
    const parts = { ...emptySums(), fixed: this.#fixed };
    for (const part of CONTEXT_PARTS) parts[part] += this.#weights[part] * this.#scale;
    const inputTokens = sumOf(parts);
    this.turns.push({
      entryId: entry.id,
      turn,
      parts,
      inputTokens,
      cacheReadTokens: Math.min(inputTokens, usage.cacheReadTokens ?? 0),
      isEstimated,
      ...omitUndefined({ event: this.#event }),
    });
    this.#event = undefined;
  }
}

interface Piece {
  readonly part: ContextPart;
  readonly label: string;
  readonly detail: string;
  readonly callId?: string;
  readonly weight: number;
}

type Calls = Map<string, Pick<Piece, "label" | "detail">>;

/** The blocks of a message; `calls` contains the calls seen before. */
function piecesOf(
  { role, content }: Message,
  origin: "remarks" | "summary" | undefined,
  calls: Calls = new Map(),
): readonly Piece[] {
  return (content as readonly ContentBlock[]).flatMap((block): readonly Piece[] => {
    const weight = weightOf(block);
    switch (block.type) {
      case "image":
        return [{ part: "images", label: "", detail: "", weight }];
      case "tool_use": {
        const call = { label: block.name, detail: callTitle(block.input) };
        calls.set(block.id, call);
        return [{ part: "results", ...call, weight }];
      }
      case "tool_result": {
        const { label, detail } = calls.get(block.tool_use_id) ?? { label: "", detail: "" };
        return [{ part: "results", label, detail, callId: block.tool_use_id, weight }];
      }
      default: {
        const text = block.type === "thinking" ? block.thinking : block.text;
        const own = block.type === "thinking" || role === "assistant" ? "answers" : "input";
        return [{ part: origin ?? own, label: text.slice(0, 80), detail: "", weight }];
      }
    }
  });
}

function weightOf(block: ContentBlock): number {
  const { texts, images } = promptText({ role: "user", content: [block] as never });
  return texts.reduce((sum, text) => sum + estimateTokens(text), PART_TOKENS) + images * IMAGE_TOKENS;
}

function sumOf(sums: ContextSums): number {
  return CONTEXT_PARTS.reduce((sum, part) => sum + sums[part], 0);
}

function emptySums(): { [part in ContextPart]: number } {
  return { fixed: 0, summary: 0, input: 0, remarks: 0, answers: 0, results: 0, images: 0 };
}
