import type { Clock } from "../core/base/async.ts";
import { NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { safeParse } from "../core/base/json.ts";
import { GrowingText } from "../core/base/text.ts";
import type { BlockPart, StreamPart } from "../core/model/model.ts";
import { AnswerBound } from "./answer-bound.ts";
import { Deadlines } from "./deadlines.ts";
import type { AnswerHead, AnswerSink, Exchange, Transport } from "./http.ts";
import type { SentRequest } from "./model-call.ts";
import type { NetworkSettings } from "./network.ts";
import { excerpt, providerWords, redact } from "./provider-errors.ts";
import { createSseParser } from "./sse.ts";
import type { Wire, WireRequest, WireTarget } from "./wire.ts";

/** One request, and who takes its parts. */
export interface AttemptOptions {
  readonly wire: Wire;
  readonly target: WireTarget;
  readonly request: WireRequest;
  readonly transport: Transport;
  readonly settings: NetworkSettings;
  readonly clock: Clock;
  /** Marks a finished block with its maker. */
  readonly marked: (part: BlockPart) => BlockPart;
  readonly onPart: (part: StreamPart) => void;
}

const MAX_ERROR_BODY = 64 * 1024;

/** One request to a model and its answer, from the bytes to the parts. It does not repeat itself. */
export class Attempt implements SentRequest, AnswerSink, Report {
  readonly done: Promise<void>;
  readonly #settled: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  readonly #options: AttemptOptions;
  readonly #deadlines: Deadlines;
  readonly #exchange: Exchange;
  #reader: BodyReader | undefined;
  #isSettled = false;

  /** Starts at once. */
  constructor(options: AttemptOptions) {
    this.#options = options;
    this.done = this.#settled.promise;
    this.#deadlines = new Deadlines({
      clock: options.clock,
      timeouts: options.settings,
      url: options.request.url,
      onTimeout: (error) => {
        this.#exchange.cancel();
        this.onError(error);
      },
    });
    this.#exchange = options.transport.send(options.request, this);
  }

  cancel(): void {
    if (this.#settle()) this.#exchange.cancel();
  }

  hold(held: boolean): void {
    if (this.#isSettled) return;
    if (held) {
      this.#deadlines.pause();
      this.#exchange.pause();
    } else {
      this.#deadlines.resume();
      this.#exchange.resume();
    }
  }

  onAnswer(head: AnswerHead): void {
    if (this.#isSettled) return;
    this.#deadlines.answered();
    try {
      this.#reader = readerFor(head, this.#options, this);
    } catch (error) {
      this.fail(toNanoAgentError(error));
    }
  }

  onText(text: string): void {
    this.#guarded((reader) => reader.text(text));
  }

  onEnd(): void {
    this.#guarded((reader) => reader.end());
  }

  /** The connection or the patience ended. What was read may be enough all the same. */
  onError(error: NanoAgentError): void {
    if (this.#isSettled) return;
    if (this.#reader === undefined) this.fail(error);
    else this.#guarded((reader) => reader.broke(error));
  }

  received(what: "event" | "bytes"): void {
    this.#deadlines.received(what);
  }

  complete(): void {
    if (!this.#settle()) return;
    this.#exchange.release();
    this.#settled.resolve();
  }

  fail(error: NanoAgentError): void {
    if (!this.#settle()) return;
    this.#exchange.cancel();
    this.#settled.reject(error);
  }

  #guarded(step: (reader: BodyReader) => void): void {
    if (this.#isSettled || this.#reader === undefined) return;
    try {
      step(this.#reader);
    } catch (error) {
      this.fail(toNanoAgentError(error));
    }
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#deadlines.stop();
    return true;
  }
}

/** Told by a reader of a body. `complete` and `fail` end the attempt; whatever follows is ignored. */
interface Report {
  readonly received: (what: "event" | "bytes") => void;
  readonly complete: () => void;
  readonly fail: (error: NanoAgentError) => void;
}

/** Makes sense of a body. What it throws fails the attempt. */
interface BodyReader {
  readonly text: (text: string) => void;
  readonly end: () => void;
  readonly broke: (error: NanoAgentError) => void;
}

function readerFor(head: AnswerHead, options: AttemptOptions, report: Report): BodyReader {
  if (!isSuccess(head)) return errorReader(report, (body) => answeredError(head, body, options));
  // The first words of a page say who answered.
  if (head.headers["content-type"]?.toLowerCase().includes("text/html") === true)
    return errorReader(report, (body) => notTheProtocol(options, `an HTML page${quoted(body)}`));
  return answerReader(head, options, report);
}

/** Reads an answer by how it begins, whatever its type is said to be: events, or a JSON document. */
function answerReader(head: AnswerHead, options: AttemptOptions, report: Report): BodyReader {
  let reader: BodyReader | undefined;
  const readerOf = (begun: string): BodyReader =>
    (reader ??= /^\ufeff?\s*[{[]/.test(begun)
      ? documentReader(head, options, report)
      : streamReader(options, report));
  return {
    text: (text) => {
      if (reader === undefined && /^\ufeff?\s*$/.test(text)) report.received("bytes");
      else (reader ?? readerOf(text)).text(text);
    },
    end: () => readerOf("").end(),
    broke: (error) => readerOf("").broke(error),
  };
}

/** Reads an answer in one piece, of a server that does not stream. */
function documentReader(head: AnswerHead, options: AttemptOptions, report: Report): BodyReader {
  const { wire, target, settings } = options;
  const most = 2 * settings.maxAnswerChars;
  const body = new GrowingText();
  let chars = 0;
  return {
    text: (text) => {
      chars += text.length;
      if (chars > most) throw notTheProtocol(options, `a JSON document of more than ${most} characters`);
      body.add(text);
      report.received("event");
    },
    end: () => {
      const text = body.toString();
      const parsed = safeParse(text.replace(/^\ufeff/, ""));
      const events = parsed.ok ? wire.eventsIn?.(parsed.value) : undefined;
      if (events === undefined) throw answeredError(head, text.slice(0, MAX_ERROR_BODY), options);
      const decoder = wire.createDecoder(receiverOf(options).take, target);
      understood(() => {
        for (const event of events) decoder.event("", event);
        decoder.end();
      });
      report.complete();
    },
    broke: (error) => report.fail(error),
  };
}

/** Takes the parts of an answer, within its bound. */
function receiverOf({ target, settings, marked, onPart }: AttemptOptions): {
  readonly bound: AnswerBound;
  readonly take: (part: StreamPart) => void;
} {
  const bound = new AnswerBound({ maxAnswerChars: settings.maxAnswerChars, provider: target.provider });
  return {
    bound,
    take: (part) => {
      bound.take(part);
      onPart(part.type === "block" ? marked(part) : part);
    },
  };
}

/** Reads the events of an answer. */
function streamReader(options: AttemptOptions, report: Report): BodyReader {
  const { wire, target } = options;
  const { maxAnswerChars } = options.settings;
  const { bound, take } = receiverOf(options);
  const decoder = wire.createDecoder(take, target);
  let events = 0;
  /** Received before the first event: all there is to show when none comes. */
  let beginning = "";
  let isFinished = false;
  const finish = (): void => {
    if (isFinished) return;
    isFinished = true;
    decoder.end();
    report.complete();
  };
  const onEvent = (event: string, data: string): void => {
    if (isFinished) return;
    events++;
    const before = bound.chars;
    decoder.event(event, data);
    bound.event(data.length, bound.chars - before);
    if (decoder.done()) finish();
  };
  // Escapes make an event longer than the text in it.
  const parser = createSseParser(onEvent, { maxEventLength: 2 * maxAnswerChars });
  return {
    text: (text) => {
      const before = events;
      if (before === 0 && beginning.length < MAX_QUOTED) beginning += text.slice(0, MAX_QUOTED);
      // Around the whole piece, so that an event needs no function of its own.
      understood(() => parser.push(text));
      report.received(events === before ? "bytes" : "event");
    },
    end: () => {
      understood(() => parser.end());
      if (events === 0) throw notTheProtocol(options, bodyWithoutEvents(beginning), true);
      understood(finish);
    },
    broke: (error) => {
      try {
        finish();
      } catch {
        // Incomplete, as the broken connection already says in better words.
        report.fail(error);
      }
    },
  };
}

/** A decoder that trips over an unexpected type says something about the provider, not about us. */
function understood(step: () => void): void {
  try {
    step();
  } catch (cause) {
    if (cause instanceof NanoAgentError) throw cause;
    const message = `The provider sent an event whose fields are not those of its protocol (${String(cause)}). Try again.`;
    throw new NanoAgentError("invalid_response", message, { cause, retryable: true });
  }
}

/** Reads a body to its end, or as far as it is of use: it is an error, whatever its status. */
function errorReader(report: Report, errorOf: (body: string) => NanoAgentError): BodyReader {
  let body = "";
  const settle = (): void => report.fail(errorOf(body));
  return {
    text: (text) => {
      body += text;
      if (body.length < MAX_ERROR_BODY) return;
      body = body.slice(0, MAX_ERROR_BODY);
      settle();
    },
    end: settle,
    broke: settle,
  };
}

function answeredError(head: AnswerHead, body: string, options: AttemptOptions): NanoAgentError {
  if (isSuccess(head) && providerWords(body).message === undefined)
    return notTheProtocol(options, "a JSON document instead of a stream of events");
  return options.wire.toError({ status: head.status, headers: head.headers, body, target: options.target });
}

function isSuccess({ status }: AnswerHead): boolean {
  return status >= 200 && status < 300;
}

/** Enough of a page to hold 200 characters that a person would see. */
const MAX_QUOTED = 16 * 1024;

function bodyWithoutEvents(body: string): string {
  return body.trim() === "" ? "an empty body" : `something that is not an event stream${quoted(body)}`;
}

function quoted(body: string): string {
  const words = excerpt(body);
  return words === "" ? "" : ` ("${words}")`;
}

function notTheProtocol({ target }: AttemptOptions, what: string, retryable = false): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `${target.provider} answered with ${redact(what, target)}. Check that the base URL ${target.baseUrl} is the address of its API, with the version path where it has one, and that no login page or gateway answers in its place.`,
    { details: { provider: target.provider, baseUrl: target.baseUrl }, retryable },
  );
}
