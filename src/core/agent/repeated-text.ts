import { NanoAgentError } from "../base/errors.ts";
import type { StreamPart } from "../model/model.ts";

/** A passage that a model writes again and again. */
export interface Repetition {
  /** What is repeated, at most 200 characters of it. */
  readonly passage: string;
  readonly times: number;
  /** Characters at the end of the text that say nothing new. */
  readonly surplus: number;
}

/** Why an answer was left that repeated itself without end. */
export class EndlessRepetition extends NanoAgentError {
  readonly repetition: Repetition;

  constructor(repetition: Repetition) {
    const { passage, times } = repetition;
    super("invalid_response", `The model wrote ${JSON.stringify(passage)} ${times} times in a row.`);
    this.repetition = repetition;
  }
}

/** Repeated text that is looked for in words, and in marks alone: rulers and tables of zeros are longer. */
const WORDS_SPAN = 4_000;
const MARKS_SPAN = 8_000;
/** Times a passage must stand in the span. */
const LEAST_TIMES = 8;
/** New characters between two looks. */
const STEP = 1_024;
/** Characters by which a passage is recognised. */
const PROBE = 48;

/**
 * Watches the text and the reasoning of one answer for a passage that is repeated without end, as small models do. Only exact repetition
 * counts: at least eight times, over at least 4,000 characters. Arguments of calls are not looked at, for a file may be like that.
 */
export class RepeatedText {
  readonly #tails = { text_delta: "", thinking_delta: "" };
  #unseen = 0;

  /** Takes a part. Throws {@link EndlessRepetition}. */
  take(part: StreamPart): void {
    if (part.type !== "text_delta" && part.type !== "thinking_delta") return;
    const tail = this.#tails[part.type] + part.text;
    this.#tails[part.type] = tail;
    this.#unseen += part.text.length;
    if (this.#unseen < STEP) return;
    this.#unseen = 0;
    this.#tails[part.type] = tail.slice(-MARKS_SPAN);
    const found = repetitionIn(this.#tails[part.type]);
    if (found !== undefined) throw new EndlessRepetition(found);
  }
}

/** The passage a text ends with again and again; undefined where it does not. */
export function repetitionIn(text: string): Repetition | undefined {
  const probe = text.slice(-PROBE);
  const before = text.lastIndexOf(probe, text.length - PROBE - 1);
  if (before === -1) return undefined;
  const period = text.length - PROBE - before;
  const passage = text.slice(-period);
  const span = /\p{L}/u.test(passage) ? WORDS_SPAN : MARKS_SPAN;
  if (text.length < span || period * LEAST_TIMES > span) return undefined;
  const end = text.slice(-span);
  if (end.slice(period) !== end.slice(0, -period)) return undefined;
  return {
    passage: passage.slice(0, 200).toWellFormed(),
    times: Math.floor(span / period),
    surplus: span - period,
  };
}
