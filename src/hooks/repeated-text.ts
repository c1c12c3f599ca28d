import { AbortedAnswer } from "../core/agent/run.ts";
import type { StreamPart } from "../core/model/model.ts";

/** A passage that a model writes again and again. */
export interface Repetition {
  /** The passage that is repeated, at most 200 characters of it. */
  readonly passage: string;
  readonly times: number;
  /** Characters at the end of the text that say nothing new. */
  readonly surplus: number;
}

/** Why an answer was left that repeated itself without end. */
export class EndlessRepetition extends AbortedAnswer {
  readonly repetition: Repetition;

  constructor(repetition: Repetition) {
    const { passage, times, surplus } = repetition;
    super(`The model wrote ${JSON.stringify(passage)} ${times} times in a row.`, surplus);
    this.repetition = repetition;
  }
}

/** Characters of nothing but repetition, and times the passage stands in them. */
const SPAN = 8_000;
const LEAST_TIMES = 20;
/** Three words and more: rulers, padding and tables of figures are no sentence that a model is caught in. */
const WORDS = /\p{L}\P{L}*\s\P{L}*\p{L}+\P{L}*\s\P{L}*\p{L}/u;
/** A letter of a script that has no blanks between words. */
const UNSPACED: string = `(?=[\\p{L}\\p{M}])[${"Han Hira Kana Bopo Thai Laoo Khmr Mymr Tibt"
  .split(" ")
  .map((script) => `\\p{scx=${script}}`)
  .join("")}]`;
const EACH_UNSPACED = new RegExp(UNSPACED, "gu");
/** As much of these as three words are, with commas at most between them. */
const UNSPACED_RUN = new RegExp(`(?:${UNSPACED}[，、；：,]?){6}`, "u");
/** New characters between two looks. */
const STEP = 1_024;
/** Characters by which a passage is recognised. */
const PROBE = 48;

/**
 * Watches the text and the reasoning of one answer for a passage that is repeated without end, as small
 * models do. Only exact repetition counts: three words or more (six letters of Chinese, Japanese, Thai and
 * other scripts without blanks), at least twenty times, over at least 8,000 characters. Arguments of calls
 * are not looked at, for a file may be like that.
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
    this.#tails[part.type] = tail.slice(-SPAN);
    const found = repetitionIn(this.#tails[part.type]);
    // What goes on in reasoning is no text of the answer: nothing of that is surplus.
    if (found !== undefined)
      throw new EndlessRepetition(part.type === "text_delta" ? found : { ...found, surplus: 0 });
  }
}

/** The passage a text ends with again and again; undefined where it does not. */
export function repetitionIn(text: string): Repetition | undefined {
  const probe = text.slice(-PROBE);
  const before = text.lastIndexOf(probe, text.length - PROBE - 1);
  if (before === -1) return undefined;
  const period = text.length - PROBE - before;
  const passage = text.slice(-period);
  if (text.length < SPAN || period * LEAST_TIMES > SPAN || !isSentence(passage)) return undefined;
  const end = text.slice(-SPAN);
  if (end.slice(period) !== end.slice(0, -period)) return undefined;
  return {
    passage: fromItsBeginning(passage).slice(0, 200).toWellFormed(),
    times: Math.floor(SPAN / period),
    surplus: SPAN - period,
  };
}

/** A passage may begin in the middle of a sentence: a run of letters may go on where it begins again. */
function isSentence(passage: string): boolean {
  if (WORDS.test(passage)) return true;
  const letters = passage.match(EACH_UNSPACED) ?? [];
  // A ruler may be made of letters that look like a stroke.
  return letters.length >= 6 && new Set(letters).size >= 3 && UNSPACED_RUN.test(passage + passage);
}

/** The same passage, turned so that it begins with a sentence, where it has one. */
function fromItsBeginning(passage: string): string {
  const end = /[.!?:;\n]\s+|[。！？；]\s*/u.exec(passage + passage);
  const from = end === null ? 0 : (end.index + end[0].length) % passage.length;
  return passage.slice(from) + passage.slice(0, from);
}
