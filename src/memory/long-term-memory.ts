import { invalidArgument } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import { LONG_TERM_MEMORY, type Message, messageText } from "../core/message/message.ts";

/**
 * Input for a store: texts, each its own record, or messages, which are one dialogue and become one record
 * (see {@link textsToRecord}).
 */
export type Recordable = readonly string[] | readonly Message[];

/** Facts that a store receives with its input. */
export interface RecordContext {
  readonly sessionId?: string;
  /** `dialogue`: from the conversation of a run. `model`: chosen by the model. */
  readonly origin?: "dialogue" | "model";
  /** When aborted, a store should stop waiting for anything. */
  readonly signal?: AbortSignal;
}

/** The result of {@link LongTermMemory.record}. */
export interface RecordOutcome {
  /** New records. */
  readonly added: number;
  /** Texts the store already had. */
  readonly known: number;
}

/** How {@link LongTermMemory.retrieve} searches. */
export interface RetrieveOptions {
  /** Maximum number of records, from 1. Default 5. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** A record that was found. */
export interface Recollection {
  /** Identifies the record in its store. */
  readonly id: string;
  readonly text: string;
  /** Time of the last recording, milliseconds since the epoch. */
  readonly time: number;
  /** How well it matches, above 0; comparable only with others of the same search. */
  readonly score: number;
}

/**
 * The port to memories across conversations. An agent limits the time of every call and survives whatever it
 * throws; a store need not care.
 */
export interface LongTermMemory {
  record(what: Recordable, context?: RecordContext): Promise<RecordOutcome>;
  /** Records that may help with `query`, best first; empty if nothing matches. */
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
  /** Maximum characters of all records; leaves out all from the first that does not fit. Default 6,000. */
  readonly maxChars?: number;
  /** Language of the lead-in sentence. Default `en`. */
  readonly language?: "en" | "zh";
  /** The lead-in sentence itself, overriding `language`. */
  readonly leadIn?: string;
  /** Milliseconds one call of the store may take. Default 5,000. */
  readonly timeoutMs?: number;
}

/**
 * The texts a store keeps of its input: strings as they are; messages as one text with a line `Q: …` for each
 * text of a user and `A: …` for each of the assistant. Tool calls, their results, thinking, images and
 * anything that came from a long-term memory are left out, as are empty texts. Throws `invalid_argument` for
 * anything but a list.
 */
export function textsToRecord(what: Recordable): readonly string[] {
  const texts: string[] = [];
  const lines: string[] = [];
  const given: unknown = what;
  if (!Array.isArray(given))
    throw invalidArgument(
      `What is recorded is ${given === null ? "null" : typeof given}: pass a list of texts or of messages.`,
    );
  for (const item of what) {
    if (typeof item === "string") texts.push(item.trim());
    else if (isRecord(item) && Array.isArray(item.content)) lines.push(...lineOf(item));
  }
  return [...texts, lines.join("\n")].filter((text) => text !== "");
}

function lineOf(message: Message): readonly string[] {
  if (message.name === LONG_TERM_MEMORY) return [];
  const text = messageText(message, "\n").trim();
  if (text === "" || RECALLED_MESSAGE.test(text)) return [];
  return [`${message.role === "user" ? "Q" : "A"}: ${text}`];
}

const RECALLED_MESSAGE = /^<long_term_memory>[\s\S]*<\/long_term_memory>$/;

/** A record as shown to the model: its day and its text, which cannot end the tag around it. */
export function recollectionLine({ text, time }: Recollection): string {
  const escaped = text.replaceAll(TAG, `&lt;$1${LONG_TERM_MEMORY}`);
  const day =
    Number.isFinite(time) && Math.abs(time) < MAX_TIME ? new Date(time).toISOString().slice(0, 10) : "";
  return day === "" ? `- ${escaped}` : `- [${day}] ${escaped}`;
}

const MAX_TIME = 8.64e15;
const TAG = /<(\s*\/?\s*)long_term_memory/gi;
