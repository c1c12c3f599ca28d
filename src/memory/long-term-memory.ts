import { misuse } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import { LONG_TERM_MEMORY, type Message, messageText } from "../core/message/message.ts";

/**
 * The things a store is given to keep: texts, each a record of its own, or messages, which are one dialogue
 * and become one record (see {@link textsToRecord}).
 */
export type Recordable = readonly string[] | readonly Message[];

/** The facts a store is told beside the things it keeps. */
export interface RecordContext {
  readonly sessionId?: string;
  /** `dialogue`: what was said in a run. `model`: what the model chose to keep. */
  readonly origin?: "dialogue" | "model";
  /** A store that waits for anything gives up when it is aborted. */
  readonly signal?: AbortSignal;
}

/** The result of {@link LongTermMemory.record}. */
export interface RecordOutcome {
  /** New records. */
  readonly added: number;
  /** Texts the store had already. */
  readonly known: number;
}

/** How {@link LongTermMemory.retrieve} searches. */
export interface RetrieveOptions {
  /** Most records wanted, from 1. Default 5. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** A record that was found. */
export interface Recollection {
  /** Names the record in its store. */
  readonly id: string;
  readonly text: string;
  /** When it was recorded last, milliseconds since the epoch. */
  readonly time: number;
  /** How well it fits, above 0; only to be compared with others of the same search. */
  readonly score: number;
}

/**
 * The port to what is remembered across conversations. An agent bounds every call in time and survives
 * whatever it throws; a store need not.
 */
export interface LongTermMemory {
  record(what: Recordable, context?: RecordContext): Promise<RecordOutcome>;
  /** Records that may help with `query`, the best first; empty when nothing fits. */
  retrieve(query: string, options?: RetrieveOptions): Promise<readonly Recollection[]>;
}

/**
 * Who uses the store. `static`: the run itself, which retrieves before the loop and records after it.
 * `agent`: the model, with the tools `record_to_memory` and `retrieve_from_memory`. `both`.
 */
export type LongTermMemoryMode = "static" | "agent" | "both";

/** How an agent remembers across conversations. */
export interface LongTermMemoryOptions {
  readonly store: LongTermMemory;
  /** Default `both`. */
  readonly mode?: LongTermMemoryMode;
  /** Records put before a question. Default 5. */
  readonly limit?: number;
  /** Characters of all together; from the first one that does not fit on, all are left out. Default 6,000. */
  readonly maxChars?: number;
  /** Language of the sentence before them. Default `en`. */
  readonly language?: "en" | "zh";
  /** That sentence itself, instead of the one in `language`. */
  readonly leadIn?: string;
  /** Milliseconds one call of the store may take. Default 5,000. */
  readonly timeoutMs?: number;
}

/**
 * The texts a store keeps of what it was given: strings as they are; of messages one text with a line `Q: …`
 * for each text of a user and `A: …` for each of the assistant. Tool calls, their results, thinking and
 * images are left out, and so is what came out of a long-term memory before. Empty texts are left out. Throws
 * `invalid_argument` for what is no list.
 */
export function textsToRecord(what: Recordable): readonly string[] {
  const texts: string[] = [];
  const said: string[] = [];
  const given: unknown = what;
  if (!Array.isArray(given))
    throw misuse(
      `What is recorded is ${given === null ? "null" : typeof given}: pass a list of texts or of messages.`,
    );
  for (const item of what) {
    if (typeof item === "string") texts.push(item.trim());
    else if (isRecord(item) && Array.isArray(item.content)) said.push(...lineOf(item));
  }
  return [...texts, said.join("\n")].filter((text) => text !== "");
}

function lineOf(message: Message): readonly string[] {
  if (message.name === LONG_TERM_MEMORY) return [];
  const text = messageText(message, "\n").trim();
  if (text === "" || RECALLED.test(text)) return [];
  return [`${message.role === "user" ? "Q" : "A"}: ${text}`];
}

const RECALLED = /^<long_term_memory>[\s\S]*<\/long_term_memory>$/;

/** A record as the model is shown it: its day and its text, which cannot end the tag it stands in. */
export function recollectionLine({ text, time }: Recollection): string {
  const shown = text.replaceAll(TAG, `&lt;$1${LONG_TERM_MEMORY}`);
  const day =
    Number.isFinite(time) && Math.abs(time) < MAX_TIME ? new Date(time).toISOString().slice(0, 10) : "";
  return day === "" ? `- ${shown}` : `- [${day}] ${shown}`;
}

const MAX_TIME = 8.64e15;
const TAG = /<(\s*\/?\s*)long_term_memory/gi;
