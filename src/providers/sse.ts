import { NanoAgentError } from "../core/base/errors.ts";

/** A parser of server-sent events that is fed text as it arrives. */
export interface SseParser {
  /** Takes the next piece of the body, cut anywhere; complete events go to the handler before this returns. */
  readonly push: (text: string) => void;
  /**
   * The body ended as it should. An event that lacks only its closing blank line is handed over: several servers leave that out
   * after their last one. Do not call it when the connection broke.
   */
  readonly end: () => void;
}

/** Options of {@link createSseParser}. */
export interface SseOptions {
  /** Longest event accepted, in UTF-16 units. Default 64 Mi. A longer one throws `invalid_response`. */
  readonly maxEventLength?: number;
}

const MAX_EVENT_LENGTH = 64 * 1024 * 1024;
const LF = 10;
const SPACE = 32;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses `text/event-stream` as the HTML standard describes it (section 9.2.6). `onEvent` gets the event's name, empty when it
 * has none, and its data lines joined by LF; comments, `id` and `retry` are skipped, and an event whose data is empty is none.
 */
export function createSseParser(
  onEvent: (event: string, data: string) => void,
  options: SseOptions = {},
): SseParser {
  const parser = new EventStreamParser(onEvent, options.maxEventLength ?? MAX_EVENT_LENGTH);
  return { push: (text) => parser.push(text), end: () => parser.end() };
}

class EventStreamParser {
  readonly #onEvent: (event: string, data: string) => void;
  readonly #maxEventLength: number;
  /** Pieces of a line whose end has not arrived: joined once, so that a huge line costs no copying per piece. */
  #pieces: string[] = [];
  #piecesLength = 0;
  #event = "";
  #data: string | undefined;
  #started = false;
  /** The last piece ended in CR: a LF at the start of the next one belongs to it. */
  #afterCr = false;

  constructor(onEvent: (event: string, data: string) => void, maxEventLength: number) {
    this.#onEvent = onEvent;
    this.#maxEventLength = maxEventLength;
  }

  push(text: string): void {
    if (text === "") return;
    const piece = this.#normalised(text);
    if (piece === "") return;
    if (!piece.includes("\n")) {
      this.#hold(piece);
      return;
    }
    this.#lines(this.#take(piece));
  }

  end(): void {
    const rest = this.#take("");
    if (rest !== "") this.#line(rest, 0, rest.length);
    this.#dispatch();
  }

  #hold(piece: string): void {
    this.#pieces.push(piece);
    this.#piecesLength += piece.length;
    this.#check(this.#piecesLength);
  }

  #take(piece: string): string {
    if (this.#pieces.length === 0) return piece;
    this.#pieces.push(piece);
    const joined = this.#pieces.join("");
    this.#pieces = [];
    this.#piecesLength = 0;
    return joined;
  }

  #lines(text: string): void {
    let from = 0;
    let lineEnd = text.indexOf("\n");
    while (lineEnd !== -1) {
      if (lineEnd === from) {
        this.#dispatch();
      } else if (
        this.#data === undefined &&
        text.charCodeAt(lineEnd + 1) === LF &&
        text.startsWith("data:", from)
      ) {
        // One data line and the end of its event: by far the most frequent shape.
        this.#data = text.slice(valueStart(text, from + 5), lineEnd);
        this.#dispatch();
        lineEnd++;
      } else {
        this.#line(text, from, lineEnd);
      }
      from = lineEnd + 1;
      lineEnd = text.indexOf("\n", from);
    }
    if (from < text.length) this.#hold(from === 0 ? text : text.slice(from));
  }

  #line(text: string, from: number, to: number): void {
    if (text.startsWith("data:", from)) {
      this.#addData(text.slice(valueStart(text, from + 5), to));
      return;
    }
    if (text.startsWith("event:", from)) {
      this.#event = text.slice(valueStart(text, from + 6), to);
      return;
    }
    const field = text.slice(from, to);
    if (field === "data") this.#addData("");
    else if (field === "event") this.#event = "";
  }

  #addData(value: string): void {
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    this.#check(this.#data.length);
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event;
    this.#event = "";
    if (data === undefined) return;
    this.#data = undefined;
    if (data !== "") this.#onEvent(event, data);
  }

  #check(length: number): void {
    if (length <= this.#maxEventLength) return;
    throw new NanoAgentError(
      "invalid_response",
      `The provider sent an event of more than ${this.#maxEventLength} characters. Check that the base URL points to a model API.`,
      { details: { maxEventLength: this.#maxEventLength } },
    );
  }

  /** Without the byte order mark, and with LF as the only line end. */
  #normalised(text: string): string {
    let piece = text;
    if (!this.#started) {
      this.#started = true;
      if (piece.charCodeAt(0) === BYTE_ORDER_MARK) piece = piece.slice(1);
    }
    if (this.#afterCr) {
      if (piece === "") return piece;
      this.#afterCr = false;
      if (piece.charCodeAt(0) === LF) piece = piece.slice(1);
    }
    if (!piece.includes("\r")) return piece;
    this.#afterCr = piece.endsWith("\r");
    return piece.replaceAll(/\r\n?/g, "\n");
  }
}

function valueStart(text: string, at: number): number {
  return text.charCodeAt(at) === SPACE ? at + 1 : at;
}
