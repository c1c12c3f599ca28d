import { orAborted } from "../core/base/async.ts";
import { misuse, NanoAgentError } from "../core/base/errors.ts";

/** Asks a person one question; the answer is one text. */
export type AskPerson = (
  question: string,
  options: { readonly signal: AbortSignal },
) => string | Promise<string>;

/** A reader of lines from a terminal: the interface of `node:readline/promises` is one. */
export interface LineReader {
  question(query: string, options: { readonly signal: AbortSignal }): Promise<string>;
  /** Tells of the end of the input; without it a question cut off by that waits until the run is aborted. */
  once?(event: "close", listener: () => void): unknown;
  /** Tells of lines that no question waited for. Without it they are lost. */
  on?(event: "line", listener: (line: string) => void): unknown;
  off?(event: "close", listener: () => void): unknown;
}

/** Where a person's answers come from: a function, a line reader, or any async iterable of texts. */
export type PersonInput = AskPerson | LineReader | AsyncIterable<string>;

/** A question and the signal that takes it back. Rejects with `aborted`: person left, signal fired. */
export type Ask = (question: string, signal: AbortSignal) => Promise<string>;

/** One way to ask, whatever answers come from. Throws `invalid_argument` for what cannot be asked. */
export function toAsk(input: PersonInput): Ask {
  if (typeof input === "function")
    return async (question, signal) => {
      const answer: unknown = await orAborted(Promise.resolve(input(question, { signal })), signal);
      if (typeof answer === "string") return answer;
      throw new NanoAgentError(
        "invalid_response",
        `The input of the person answered with ${answer === null ? "null" : typeof answer}: return the text that was typed.`,
      );
    };
  if (typeof input === "object" && input !== null) {
    if ("question" in input) return readerAsk(input);
    if (Symbol.asyncIterator in input) return queueAsk(input);
  }
  throw misuse(
    `input is ${input === null ? "null" : typeof input}: pass a function, an async iterable of texts, or something with question().`,
  );
}

function readerAsk(reader: LineReader): Ask {
  const lines = LINES.get(reader) ?? new LinesBetween(reader);
  LINES.set(reader, lines);
  return async (question, signal) => {
    const early = lines.take();
    if (early !== undefined) return early;
    const { promise: closed, reject } = Promise.withResolvers<never>();
    const close = (): void => reject(inputEnded());
    if (lines.hasEnded) throw inputEnded();
    reader.once?.("close", close);
    try {
      return await orAborted(Promise.race([reader.question(`${question}\n> `, { signal }), closed]), signal);
    } finally {
      reader.off?.("close", close);
    }
  };
}

/** Lines while nobody asked: a pipe writes them all at once, and a reader drops what nothing waits for. */
class LinesBetween {
  readonly #lines: string[] = [];
  hasEnded = false;

  constructor(reader: LineReader) {
    reader.on?.("line", (line) => this.#lines.push(line));
    reader.once?.("close", () => {
      this.hasEnded = true;
    });
  }

  take(): string | undefined {
    return this.#lines.shift();
  }
}

/** One for each reader, for agents that share it share its lines. */
const LINES = new WeakMap<LineReader, LinesBetween>();

function inputEnded(): NanoAgentError {
  return new NanoAgentError("aborted", "The person's input ended before there was an answer.");
}

function queueAsk(answers: AsyncIterable<string>): Ask {
  let iterator: AsyncIterator<string> | undefined;
  /** Kept over an abort, so that the answer that comes later is not lost. */
  let pending: Promise<IteratorResult<string>> | undefined;
  return async (_question, signal) => {
    iterator ??= answers[Symbol.asyncIterator]();
    pending ??= iterator.next();
    const step = await orAborted(pending, signal);
    pending = undefined;
    if (step.done === true) throw inputEnded();
    return step.value;
  };
}
