import type { AssistantEntry, JournalEntry } from "../../../core/agent/entries.ts";
import { SessionState } from "../../../core/agent/state.ts";
import { defined } from "../../../core/base/json.ts";
import type { ContentBlock, Message } from "../../../core/message/message.ts";
import { cleanUsage } from "../../../core/message/message.ts";
import { estimateTokens, PART_TOKENS, promptText } from "../../../core/model/estimate.ts";
import { callTitle } from "../../../view/call-text.ts";

/**
 * The parts that fill the window of a model. `fixed`: instructions, tools and all else that no message holds
 * · `input`: words of the person · `remarks`: of the program, of others, of the memory · `answers`: texts and
 * reasoning of the model · `calls`: their arguments · `results` · `images` · `summary`: what a compaction or
 * another conversation left.
 */
export type ContextPart =
  | "fixed"
  | "input"
  | "remarks"
  | "summary"
  | "answers"
  | "calls"
  | "results"
  | "images";

export const CONTEXT_PARTS: readonly ContextPart[] = [
  "fixed",
  "summary",
  "input",
  "remarks",
  "answers",
  "calls",
  "results",
  "images",
];

export type ContextSums = { readonly [part in ContextPart]: number };

/** The content of the window at one request of the conversation. */
export interface ContextTurn {
  /** The answer to it. */
  readonly entryId: string;
  /** Counts the requests of the conversation from 1. */
  readonly turn: number;
  /** They add up to `inputTokens`. */
  readonly parts: ContextSums;
  readonly inputTokens: number;
  /** Part of it that came from the provider's cache. */
  readonly cacheReadTokens: number;
  /** True when no provider counted it. */
  readonly isEstimated: boolean;
  /** A change of what is sent, since the request before. */
  readonly event?: "compaction" | "compaction_undone" | "edit";
}

/** Tokens for an image: the makers charge about that. */
const IMAGE_TOKENS = 1_500;

type Weights = { -readonly [part in ContextPart]?: number };

/**
 * What filled the window, request by request. The provider's count of each request is divided among what is
 * new in it since the one before, by the length of the texts: the parts always add up to what was counted.
 */
export function contextTurns(entries: readonly JournalEntry[]): readonly ContextTurn[] {
  const fold = new ContextFold();
  for (const entry of entries) fold.apply(entry);
  return fold.turns;
}

/** Something large in the window. */
export interface LargePiece {
  readonly part: ContextPart;
  readonly tokens: number;
  /** Its beginning, or the name of the tool. */
  readonly label: string;
  /** Of a call: its command, path or pattern. */
  readonly detail: string;
  /** The entry that brought it; absent for what another conversation left. */
  readonly entryId?: string;
  /** The request that it was first part of, from 1. */
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
  /** Tokens of each message that was sent, as they were counted. */
  #sent = new WeakMap<Message, Weights>();
  /** Number of the request that each message was first part of. */
  readonly #since = new WeakMap<Message, number>();
  /** The entry of each message, and of each call by its id. */
  readonly #entryOf = new Map<Message | string, string>();
  readonly #origins = new WeakMap<Message, "remarks" | "summary">();
  /** Sums of the messages that were sent; `fixed` is what no message holds. */
  #sums: { [part in ContextPart]: number } = emptySums();
  /** How many messages of the conversation are in the sums. */
  #counted = 0;
  #event: ContextTurn["event"];

  apply(entry: JournalEntry): void {
    if (entry.scope !== undefined) return;
    if (entry.type === "assistant_message") this.#request(entry);
    this.#state.apply(entry);
    this.#learn(entry);
  }

  /** The pieces in the window now, largest first. */
  pieces(): readonly LargePiece[] {
    const calls: Calls = new Map();
    return this.#state.transcript.messages
      .flatMap((message) => {
        const own = this.#sent.get(message);
        const total = sumOf(own ?? this.#weigh(message));
        const since = this.#since.get(message) ?? this.turns.length + 1;
        return piecesOf(message, this.#origins.get(message), calls).map(({ weight, callId, ...piece }) => ({
          ...piece,
          ...defined({ entryId: this.#entryOf.get(callId ?? message) ?? this.#entryOf.get(message) }),
          since,
          tokens: Math.round((total * weight) / Math.max(1, sumOf(this.#weigh(message)))),
        }));
      })
      .sort((left, right) => right.tokens - left.tokens);
  }

  #learn(entry: JournalEntry): void {
    const { messages } = this.#state.transcript;
    const newest = messages.at(-1);
    if (newest !== undefined && !this.#entryOf.has(newest)) this.#entryOf.set(newest, entry.id);
    switch (entry.type) {
      case "tool_result":
        this.#entryOf.set(entry.callId, entry.id);
        return;
      case "user_message":
        if (entry.source === "input" || entry.source === "steering") return;
        return this.#mark(newest, "remarks");
      case "history":
        return;
      case "compaction":
        for (const message of messages.slice(0, entry.messages.length)) this.#mark(message, "summary");
        return this.#begin("compaction");
      case "compaction_undone":
        return this.#begin("compaction_undone");
      case "memory_edit":
        return entry.edit === "remove" ? this.#begin("edit") : undefined;
      default:
    }
  }

  #mark(message: Message | undefined, origin: "remarks" | "summary"): void {
    if (message !== undefined && !this.#sent.has(message)) this.#origins.set(message, origin);
  }

  /** The conversation is another one: what of it was sent before keeps its count. */
  #begin(event: NonNullable<ContextTurn["event"]>): void {
    this.#event = event;
    this.#sums = { ...emptySums(), fixed: this.#sums.fixed };
    const { messages } = this.#state.transcript;
    this.#counted = 0;
    for (const message of messages) {
      const own = this.#sent.get(message);
      if (own === undefined) break;
      this.#add(own);
      this.#counted++;
    }
    // What stands behind something new is counted with it.
    for (const message of messages.slice(this.#counted)) {
      const own = this.#sent.get(message);
      if (own !== undefined) this.#add(own);
    }
  }

  #request(entry: AssistantEntry): void {
    const state = this.#state;
    // A call that was cut is answered before the next request goes out.
    const { messages } = state.transcript;
    const fresh: { readonly message: Message; readonly weights: Weights }[] = [];
    for (let at = this.#counted; at < messages.length; at++) {
      const message = messages[at];
      if (message !== undefined && !this.#sent.has(message))
        fresh.push({ message, weights: this.#weigh(message) });
    }
    this.#counted = messages.length;
    const usage = cleanUsage(entry.usage);
    const isEstimated = usage.estimated === true || usage.inputTokens === 0;
    this.#divide(fresh, isEstimated ? undefined : usage.inputTokens);
    const inputTokens = CONTEXT_PARTS.reduce((sum, part) => sum + this.#sums[part], 0);
    const event = this.#event;
    this.#event = undefined;
    this.turns.push({
      entryId: entry.id,
      turn: this.turns.length + 1,
      parts: { ...this.#sums },
      inputTokens,
      cacheReadTokens: Math.min(inputTokens, usage.cacheReadTokens ?? 0),
      isEstimated,
      ...defined({ event }),
    });
  }

  /** Gives new messages their tokens, so that all parts together are `counted`. */
  #divide(
    fresh: readonly { readonly message: Message; readonly weights: Weights }[],
    counted: number | undefined,
  ): void {
    const before = CONTEXT_PARTS.reduce((sum, part) => sum + this.#sums[part], 0);
    const weight = fresh.reduce((sum, { weights }) => sum + sumOf(weights), 0);
    const room = counted === undefined ? weight : counted - before;
    // Weights are estimated high: what was counted beyond them stands in no message.
    const scale = weight === 0 ? 0 : Math.min(1, Math.max(0, room) / weight);
    for (const { message, weights } of fresh) {
      const own = scaled(weights, scale);
      this.#sent.set(message, own);
      this.#since.set(message, this.turns.length + 1);
      this.#add(own);
    }
    if (counted === undefined) return;
    const sum = CONTEXT_PARTS.reduce((all, part) => all + this.#sums[part], 0);
    if (counted >= sum) this.#sums.fixed += counted - sum;
    else for (const part of CONTEXT_PARTS) this.#sums[part] *= counted / sum;
  }

  #add(weights: Weights): void {
    for (const part of CONTEXT_PARTS) this.#sums[part] += weights[part] ?? 0;
  }

  #weigh(message: Message): Weights {
    const weights: Weights = {};
    for (const { part, weight } of piecesOf(message, this.#origins.get(message)))
      weights[part] = (weights[part] ?? 0) + weight;
    return weights;
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

/** The blocks of a message; `calls` has the calls that were seen before. */
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
        return [{ part: "calls", ...call, weight }];
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

function sumOf(weights: Weights): number {
  return CONTEXT_PARTS.reduce((sum, part) => sum + (weights[part] ?? 0), 0);
}

function scaled(weights: Weights, factor: number): Weights {
  const own: Weights = {};
  for (const part of CONTEXT_PARTS) {
    const weight = weights[part];
    if (weight !== undefined) own[part] = weight * factor;
  }
  return own;
}

function emptySums(): { [part in ContextPart]: number } {
  return { fixed: 0, summary: 0, input: 0, remarks: 0, answers: 0, calls: 0, results: 0, images: 0 };
}
