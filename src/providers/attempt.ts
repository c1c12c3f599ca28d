import { type Clock, startTimer } from "../core/base/async.ts";
import { NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { isDeeperThan, MAX_JSON_DEPTH, safeParse } from "../core/base/json.ts";
import { TextBuffer } from "../core/base/text.ts";
import type { BlockPart, StreamPart } from "../core/model/model.ts";
import type { RequestInFlight } from "./model-call.ts";
import type { NetworkSettings } from "./network.ts";
import { excerpt, parseErrorBody, redact } from "./provider-errors.ts";
import { createSseParser } from "./server-events.ts";
import { type AnswerHead, type AnswerSink, type Exchange, hostOf, type Transport } from "./transport.ts";
import type { Wire, WireRequest, WireTarget } from "./wire.ts";

interface AttemptOptions {
  readonly wire: Wire;
  readonly target: WireTarget;
  readonly request: WireRequest;
  readonly transport: Transport;
  readonly settings: NetworkSettings;
  readonly clock: Clock;
  /** Marks a finished block with its maker. */
  readonly withMaker: (part: BlockPart) => BlockPart;
  readonly onPart: (part: StreamPart) => void;
}

const MAX_ERROR_BODY = 64 * 1024;

/** One request to a model and its answer, from bytes to parts. It never retries. */
export class Attempt implements RequestInFlight, AnswerSink {
  readonly done: Promise<void>;
  readonly #completion: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  readonly #options: AttemptOptions;
  readonly #deadlines: Deadlines;
  readonly #exchange: Exchange;
  #reader: BodyReader | undefined;
  #isSettled = false;

  /** Starts at once. */
  constructor(options: AttemptOptions) {
    const { clock, settings, request } = options;
    this.#options = options;
    this.done = this.#completion.promise;
    this.#deadlines = new Deadlines(clock, settings, request.url, (error) => {
      this.#exchange.cancel();
      this.onError(error);
    });
    this.#exchange = options.transport.send(request, this);
  }

  cancel(): void {
    if (this.#settle()) this.#exchange.cancel();
  }

  setPaused(held: boolean): void {
    if (this.#isSettled) return;
    this.#deadlines.setPaused(held);
    if (held) this.#exchange.pause();
    else this.#exchange.resume();
  }

  onAnswer(head: AnswerHead): void {
    if (this.#isSettled) return;
    this.#deadlines.onHeaders();
    try {
      this.#reader = this.#readerFor(head);
    } catch (error) {
      this.#fail(toNanoAgentError(error));
    }
  }

  onText(text: string): void {
    this.#runStep((reader) => reader.text(text));
  }

  onEnd(): void {
    this.#runStep((reader) => reader.end());
  }

  /** The connection broke or a time limit was reached. The text read so far may still be a whole answer. */
  onError(error: NanoAgentError): void {
    if (this.#isSettled) return;
    if (this.#reader === undefined) this.#fail(error);
    else this.#runStep((reader) => reader.onBroken(error));
  }

  #complete(): void {
    if (!this.#settle()) return;
    this.#exchange.release();
    this.#completion.resolve();
  }

  #fail(error: NanoAgentError): void {
    if (!this.#settle()) return;
    this.#exchange.cancel();
    this.#completion.reject(error);
  }

  #runStep(step: (reader: BodyReader) => void): void {
    if (this.#isSettled || this.#reader === undefined) return;
    try {
      step(this.#reader);
    } catch (error) {
      this.#fail(toNanoAgentError(error));
    }
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#deadlines.stop();
    return true;
  }

  #readerFor(head: AnswerHead): BodyReader {
    if (!isSuccess(head)) return this.#errorReader((body) => this.#errorFromAnswer(head, body));
    // The first words of a page show who answered.
    if (head.headers["content-type"]?.toLowerCase().includes("text/html") === true)
      return this.#errorReader((body) => this.#protocolError(`an HTML page${quoted(body)}`));
    return this.#answerReader(head);
  }

  /** Picks a reader by how the answer begins, whatever its content type: events, or a JSON document. */
  #answerReader(head: AnswerHead): BodyReader {
    let reader: BodyReader | undefined;
    const readerOf = (firstText: string): BodyReader =>
      (reader ??= /^\ufeff?\s*[{[]/.test(firstText) ? this.#documentReader(head) : this.#streamReader());
    return {
      text: (text) => {
        if (reader === undefined && /^\ufeff?\s*$/.test(text)) this.#deadlines.recordProgress("bytes");
        else (reader ?? readerOf(text)).text(text);
      },
      end: () => readerOf("").end(),
      onBroken: (error) => readerOf("").onBroken(error),
    };
  }

  /** Reads an answer in one piece, from a server that does not stream. */
  #documentReader(head: AnswerHead): BodyReader {
    const { wire, settings } = this.#options;
    const maxChars = 2 * settings.maxAnswerChars;
    const body = new TextBuffer();
    let chars = 0;
    return {
      text: (text) => {
        chars += text.length;
        if (chars > maxChars)
          throw this.#protocolError(`a JSON document of more than ${maxChars} characters`);
        body.add(text);
        this.#deadlines.recordProgress("event");
      },
      end: () => {
        const text = body.toString();
        const parsed = safeParse(text.replace(/^\ufeff/, ""));
        const events = parsed.ok ? wire.eventsIn?.(parsed.value) : undefined;
        if (events === undefined) throw this.#errorFromAnswer(head, text.slice(0, MAX_ERROR_BODY));
        const { decoder } = this.#decoder();
        withProtocolErrors(() => {
          for (const event of events) decoder.event("", event);
          decoder.end();
        });
        this.#complete();
      },
      onBroken: (error) => this.#fail(error),
    };
  }

  #streamReader(): BodyReader {
    const { bound, decoder } = this.#decoder();
    let events = 0;
    /** Text received before the first event. The error quotes it if no event arrives. */
    let beginning = "";
    let isFinished = false;
    const finish = (): void => {
      if (isFinished) return;
      isFinished = true;
      decoder.end();
      this.#complete();
    };
    const onEvent = (event: string, data: string): void => {
      if (isFinished) return;
      events++;
      const before = bound.chars;
      decoder.event(event, data);
      bound.countEvent(data.length, bound.chars - before);
      if (decoder.done()) finish();
    };
    // Escapes make an event longer than its text.
    const parser = createSseParser(onEvent, 2 * this.#options.settings.maxAnswerChars);
    return {
      text: (text) => {
        const before = events;
        if (before === 0 && beginning.length < MAX_QUOTED) beginning += text.slice(0, MAX_QUOTED);
        // Wraps the whole piece, so that an event needs no closure of its own.
        withProtocolErrors(() => parser.push(text));
        this.#deadlines.recordProgress(events === before ? "bytes" : "event");
      },
      end: () => {
        withProtocolErrors(() => parser.end());
        if (events === 0) throw this.#protocolError(describeBody(beginning), true);
        withProtocolErrors(finish);
      },
      onBroken: (error) => {
        try {
          finish();
        } catch {
          // Incomplete, which the error of the broken connection explains better.
          this.#fail(error);
        }
      },
    };
  }

  #decoder(): { readonly bound: AnswerLimit; readonly decoder: ReturnType<Wire["createDecoder"]> } {
    const { wire, target, settings, withMaker, onPart } = this.#options;
    const bound = new AnswerLimit(target.provider, settings.maxAnswerChars);
    const decoder = wire.createDecoder((part) => {
      bound.countPart(part);
      onPart(part.type === "block" ? withMaker(part) : part);
    }, target);
    return { bound, decoder };
  }

  /** Reads a body, up to a maximum, that is an error whatever its status. */
  #errorReader(errorOf: (body: string) => NanoAgentError): BodyReader {
    let body = "";
    const settle = (): void => this.#fail(errorOf(body.slice(0, MAX_ERROR_BODY)));
    return {
      text: (text) => {
        body += text;
        if (body.length >= MAX_ERROR_BODY) settle();
      },
      end: settle,
      onBroken: settle,
    };
  }

  #errorFromAnswer(head: AnswerHead, body: string): NanoAgentError {
    const { wire, target } = this.#options;
    if (isSuccess(head) && parseErrorBody(body).message === undefined)
      return this.#protocolError("a JSON document instead of a stream of events");
    return wire.toError({ status: head.status, headers: head.headers, body, target });
  }

  #protocolError(what: string, retryable = false): NanoAgentError {
    const { target } = this.#options;
    const { provider, baseUrl } = target;
    return new NanoAgentError(
      "invalid_response",
      `${provider} answered with ${redact(what, target)}. Check that the base URL ${baseUrl} is the address of its API, with the version path where it has one, and that no login page or gateway answers in its place.`,
      { details: { provider, baseUrl }, retryable },
    );
  }
}

/** An error that a function throws fails the attempt. */
interface BodyReader {
  readonly text: (text: string) => void;
  readonly end: () => void;
  readonly onBroken: (error: NanoAgentError) => void;
}

/** A decoder that trips over an unexpected type means that the provider broke its protocol. */
function withProtocolErrors(step: () => void): void {
  try {
    step();
  } catch (cause) {
    if (cause instanceof NanoAgentError) throw cause;
    const message = `The provider sent an event whose fields are not those of its protocol (${String(cause)}). Try again.`;
    throw new NanoAgentError("invalid_response", message, { cause, retryable: true });
  }
}

function isSuccess({ status }: AnswerHead): boolean {
  return status >= 200 && status < 300;
}

/** Enough of a page to contain 200 visible characters. */
const MAX_QUOTED = 16 * 1024;

function describeBody(body: string): string {
  return body.trim() === "" ? "an empty body" : `something that is not an event stream${quoted(body)}`;
}

function quoted(body: string): string {
  const words = excerpt(body);
  return words === "" ? "" : ` ("${words}")`;
}

/** The time limits of one request. Needs no timer per event: the timer checks the time of last progress. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #timeouts: Pick<NetworkSettings, Limit>;
  readonly #url: string;
  readonly #onTimeout: (error: NanoAgentError) => void;
  readonly #startedAt: number;
  #answeredAt = Number.POSITIVE_INFINITY;
  /** When anything last arrived before the first event; from then on when the last event arrived. */
  #progressAt = Number.POSITIVE_INFINITY;
  #hasEvents = false;
  #isPaused = false;
  #isStopped = false;
  #stopTimer: () => void = () => undefined;

  /** Starts the limits for the headers and the whole request. Calls `onTimeout` at most once. */
  constructor(
    clock: Clock,
    timeouts: Pick<NetworkSettings, Limit>,
    url: string,
    onTimeout: (error: NanoAgentError) => void,
  ) {
    this.#clock = clock;
    this.#timeouts = timeouts;
    this.#url = url;
    this.#onTimeout = onTimeout;
    this.#startedAt = clock.elapsed();
    this.#checkLimits();
  }

  /** The headers have arrived: from now on signs of life and events count. */
  onHeaders(): void {
    this.#answeredAt = this.#clock.elapsed();
    this.#progressAt = this.#answeredAt;
  }

  /** Something arrived: an event, or bytes that only show that the server is alive. */
  recordProgress(what: "event" | "bytes"): void {
    if (what === "event") this.#hasEvents = true;
    else if (this.#hasEvents) return;
    this.#progressAt = this.#clock.elapsed();
  }

  /** While the reader is paused, silence does not count. */
  setPaused(isHeld: boolean): void {
    this.#isPaused = isHeld;
    if (!isHeld && this.#answeredAt !== Number.POSITIVE_INFINITY) this.#progressAt = this.#clock.elapsed();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  /** Fails if a limit is reached, else checks again when the next may be; later starts get the full time. */
  #checkLimits(): void {
    const now = this.#clock.elapsed();
    let next = Number.POSITIVE_INFINITY;
    for (const limit of LIMITS) {
      const ms = this.#timeouts[limit];
      if (ms <= 0) continue;
      const end = this.#startOf(limit, now) + ms;
      if (end <= now) {
        this.stop();
        this.#onTimeout(timeoutError(this.#url, limit, ms));
        return;
      }
      next = Math.min(next, end, now + ms);
    }
    if (next === Number.POSITIVE_INFINITY) return;
    this.#stopTimer = startTimer(this.#clock, next - now, () => {
      // It may have been stopped at the very moment it was due.
      if (!this.#isStopped) this.#checkLimits();
    });
  }

  /** When a limit started to count; infinity while it does not. */
  #startOf(limit: Limit, now: number): number {
    const isAnswered = this.#answeredAt !== Number.POSITIVE_INFINITY;
    if (limit === "requestTimeoutMs") return this.#startedAt;
    if (limit === "headerTimeoutMs") return isAnswered ? Number.POSITIVE_INFINITY : this.#startedAt;
    if (limit === "firstEventTimeoutMs") return this.#hasEvents ? Number.POSITIVE_INFINITY : this.#answeredAt;
    return isAnswered && this.#isPaused ? now : this.#progressAt;
  }
}

const LIMITS = ["headerTimeoutMs", "idleTimeoutMs", "firstEventTimeoutMs", "requestTimeoutMs"] as const;
type Limit = (typeof LIMITS)[number];

function timeoutError(url: string, limit: Limit, ms: number): NanoAgentError {
  const host = hostOf(url);
  const what = {
    headerTimeoutMs: `${host} did not begin to answer within ${ms} ms`,
    idleTimeoutMs: `${host} sent nothing new for ${ms} ms`,
    firstEventTimeoutMs: `${host} is alive, but did not begin its answer within ${ms} ms`,
    requestTimeoutMs: `${host} did not finish its answer within ${ms} ms`,
  }[limit];
  return new NanoAgentError("timeout", `${what}. Raise network.${limit} if the model needs longer.`, {
    details: { host, limit, ms },
    retryable: true,
  });
}

/** Events that end an answer repeat it, up to four times, and escaped. */
const REPEATS = 8;
/** Before and after an answer, some providers echo the instructions and tools. */
const FRAME_CHARS = 1_000_000;
/** Maximum overhead around the text of one event. */
const ENVELOPE_CHARS = 1_000;
/** Leaves room for a block around call arguments of maximum depth. Deeper ones could not be stored. */
const MAX_BLOCK_DEPTH = MAX_JSON_DEPTH + 10;

/** Limits the size of one answer, whatever it consists of. All methods throw `invalid_response` beyond it. */
export class AnswerLimit {
  readonly #provider: string;
  readonly #maxChars: number;
  readonly #prefix: string;
  #deltaChars = 0;
  /** Characters of finished blocks, most of which repeat their deltas. */
  #blockChars = 0;
  /** Characters of events without visible parts: their content is kept until a block is complete. */
  #hidden = 0;

  /** `prefix` precedes the name of the limit as a person configures it. */
  constructor(provider: string, maxChars: number, prefix = "network.") {
    this.#provider = provider;
    this.#maxChars = maxChars;
    this.#prefix = prefix;
  }

  get chars(): number {
    return this.#deltaChars + this.#blockChars;
  }

  countPart(part: StreamPart): void {
    if (part.type === "block") {
      if (isDeeperThan(part.block, MAX_BLOCK_DEPTH)) throw this.#tooDeepError();
      const { type: _type, ...fields } = part.block;
      this.#blockChars += Object.values(fields).reduce<number>((sum, value) => sum + textLength(value), 0);
    } else if ("text" in part) this.#deltaChars += part.text.length;
    else if (part.type === "tool_call_delta") this.#deltaChars += part.json.length;
    if (Math.max(this.#deltaChars, this.#blockChars) > this.#maxChars) throw this.#tooLongError();
  }

  /** Counts an event of `length` characters, `emitted` of which became parts. */
  countEvent(length: number, emitted: number): void {
    this.#hidden += emitted === 0 ? length : Math.max(0, length - REPEATS * emitted - ENVELOPE_CHARS);
    if (this.#hidden > REPEATS * this.#maxChars + FRAME_CHARS) throw this.#tooLongError();
  }

  #tooLongError(): NanoAgentError {
    const provider = this.#provider;
    const maxAnswerChars = this.#maxChars;
    return new NanoAgentError(
      "invalid_response",
      `The answer of ${provider} is longer than ${maxAnswerChars} characters, so the request was ended. Set maxOutputTokens, or raise ${this.#prefix}maxAnswerChars if it is to be that long.`,
      { details: { provider, limit: "maxAnswerChars", maxAnswerChars } },
    );
  }

  #tooDeepError(): NanoAgentError {
    return new NanoAgentError(
      "invalid_response",
      `The answer of ${this.#provider} is nested deeper than ${MAX_BLOCK_DEPTH} levels. Try again, or ask for something simpler.`,
      { details: { provider: this.#provider }, retryable: true },
    );
  }
}

/** Characters of all strings and keys in a value. */
function textLength(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let length = 0;
  for (const [name, item] of Object.entries(value)) length += name.length + textLength(item);
  return length;
}
