import { NanoAgentError } from "../core/base/errors.ts";
import { isDeeperThan, MAX_JSON_DEPTH } from "../core/base/json.ts";
import type { AssistantBlock } from "../core/message/message.ts";
import type { StreamPart } from "../core/model/model.ts";

/** How much one answer may hold. */
export interface AnswerBoundOptions {
  readonly maxAnswerChars: number;
  readonly provider: string;
  /** Stands before the name of the limit where a person sets it. Default `network.`. */
  readonly prefix?: string;
}

/** Events that close an answer repeat it, up to four times, and escaped. */
const REPEATS = 8;
/** Before and behind an answer some providers send the instructions and tools back. */
const FRAME_CHARS = 1_000_000;
/** The most that stands around the text of one event. */
const ENVELOPE_CHARS = 1_000;
/** Arguments of a call as deep as they may be, within their block. Nobody could write deeper ones down. */
const MAX_BLOCK_DEPTH = MAX_JSON_DEPTH + 10;

/** Holds one answer to its bound, whatever it consists of. All methods throw `invalid_response` beyond it. */
export class AnswerBound {
  readonly #options: AnswerBoundOptions;
  #chars = 0;
  /** Characters of events that brought nothing to be seen: what they say is kept until a block is whole. */
  #silent = 0;
  /** Characters that deltas brought, by index: a block repeats them. */
  readonly #told = new Map<number, number>();

  constructor(options: AnswerBoundOptions) {
    this.#options = options;
  }

  /** Counts a part. */
  take(part: StreamPart): void {
    if (part.type === "block") {
      if (isDeeperThan(part.block, MAX_BLOCK_DEPTH)) throw this.#tooDeep();
      this.#chars += Math.max(0, lengthOf(part.block) - (this.#told.get(part.index) ?? 0));
    } else {
      const text = "text" in part ? part.text : part.type === "tool_call_delta" ? part.json : "";
      if (text === "" || !("index" in part)) return;
      this.#chars += text.length;
      this.#told.set(part.index, (this.#told.get(part.index) ?? 0) + text.length);
    }
    if (this.#chars > this.#options.maxAnswerChars) throw this.#tooLong();
  }

  /** Characters of parts so far. */
  get chars(): number {
    return this.#chars;
  }

  /** Counts an event of `length` characters, `told` of which came as parts. */
  event(length: number, told: number): void {
    this.#silent += told === 0 ? length : Math.max(0, length - REPEATS * told - ENVELOPE_CHARS);
    if (this.#silent > REPEATS * this.#options.maxAnswerChars + FRAME_CHARS) throw this.#tooLong();
  }

  #tooLong(): NanoAgentError {
    const { maxAnswerChars, provider, prefix = "network." } = this.#options;
    return new NanoAgentError(
      "invalid_response",
      `The answer of ${provider} is longer than ${maxAnswerChars} characters, so the request was ended. Set maxOutputTokens, or raise ${prefix}maxAnswerChars if it is to be that long.`,
      { details: { provider, limit: "maxAnswerChars", maxAnswerChars } },
    );
  }

  #tooDeep(): NanoAgentError {
    const { provider } = this.#options;
    return new NanoAgentError(
      "invalid_response",
      `The answer of ${provider} is nested deeper than ${MAX_BLOCK_DEPTH} levels. Try again, or ask for something simpler.`,
      { details: { provider }, retryable: true },
    );
  }
}

/** Characters of all that a block keeps. */
function lengthOf({ type: _type, ...kept }: AssistantBlock): number {
  return Object.values(kept).reduce<number>((sum, value) => sum + textLength(value), 0);
}

/** Characters of the texts and names in a value. */
function textLength(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let length = 0;
  for (const [name, item] of Object.entries(value)) length += name.length + textLength(item);
  return length;
}
