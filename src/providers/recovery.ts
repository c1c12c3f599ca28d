import { backoffDelayMs, type Clock } from "../core/base/async.ts";
import type { NanoAgentError } from "../core/base/errors.ts";
import type { ContentBlock, ImageBlock, Message, TextBlock } from "../core/message/message.ts";
import { InputEstimates } from "../core/model/estimate.ts";
import type { ModelInfo, ModelRequest, RetryPart, ToolSpec } from "../core/model/model.ts";
import type { LearnedModel } from "./learned-model.ts";
import type { NetworkSettings } from "./network.ts";
import { asTooLong, changedError, type FailureReason } from "./provider-errors.ts";
import type { SealedBlocks } from "./sealed-blocks.ts";
import { limitIn } from "./too-long.ts";

/**
 * The tools whose definitions one provider refuses: each request with one of them would fail, so requests go
 * on without it. Which tool is meant follows from its name in the refusal, or its place in the list.
 */
export class RefusedTools {
  readonly #refused = new Set<ToolSpec>();
  /** The same list each time: encoders keep the text of lists they know. */
  #lists = new WeakMap<readonly ToolSpec[], readonly ToolSpec[]>();

  /** The request as it can be sent. */
  without(request: ModelRequest): ModelRequest {
    const { tools } = request;
    if (this.#refused.size === 0 || tools === undefined) return request;
    const left = this.#lists.get(tools) ?? tools.filter((tool) => !this.#refused.has(tool));
    this.#lists.set(tools, left);
    if (left.length > 0) return left.length === tools.length ? request : { ...request, tools: left };
    const { tools: _tools, toolChoice: _choice, ...rest } = request;
    return rest;
  }

  /** Learns from a failed request: the name of the tool that the next goes without, if that is the cause. */
  learn({ tools = [], toolChoice }: ModelRequest, error: NanoAgentError): string | undefined {
    if (error.code !== "bad_request") return undefined;
    const param = error.details["param"];
    const tool = toolIn(`${typeof param === "string" ? param : ""} ${error.message}`, tools);
    const isForced = typeof toolChoice === "object" && toolChoice.name === tool?.name;
    if (tool === undefined || isForced) return undefined;
    this.#refused.add(tool);
    this.#lists = new WeakMap();
    return tool.name;
  }
}

/** A place in the list of tools, as the vendors write it: `tools[3].function`, `tools.3.custom`, … */
const PLACE = /\b(?:tools|function_?declarations)[[.](\d+)\b(?!\]?\.function_?declarations)/i;
/** Words about what a tool takes. Without them its name may stand in a complaint about a message. */
const SCHEMA_WORDS = /schema|parameters|function_?declaration/i;

function toolIn(text: string, tools: readonly ToolSpec[]): ToolSpec | undefined {
  const [, place] = PLACE.exec(text) ?? [];
  if (place !== undefined) return tools[Number(place)];
  if (!SCHEMA_WORDS.test(text)) return undefined;
  const words = new Set(text.match(/['"`][\w-]+['"`]/g)?.map((word) => word.slice(1, -1)));
  return tools.find(({ name }) => words.has(name));
}

/**
 * The images one model does not take. A refused image would end every later request of its conversation too,
 * so requests go on without it: a note in its place tells the model.
 */
export class RefusedImages {
  readonly #takesNone: boolean;
  readonly #refused = new WeakSet<ImageBlock>();
  /** The same object each time: encoders keep the text of messages they know. */
  #noted = new WeakMap<Message, Message>();
  #isEmpty = true;

  /** `takesNone`: the model is known to take no images at all. */
  constructor(takesNone: boolean) {
    this.#takesNone = takesNone;
  }

  /** The request as it can be sent. */
  without(request: ModelRequest): ModelRequest {
    if (this.#isEmpty && !this.#takesNone) return request;
    const messages = request.messages.map((message) => this.#messageWithout(message));
    return { ...request, messages };
  }

  /** Learns from a failed request. True when `error` is about its images: the next goes without them. */
  learn(sent: ModelRequest, error: NanoAgentError): boolean {
    if (!isAboutImages(error)) return false;
    const { messages } = sent;
    const answered = messages.findLastIndex(({ role }) => role === "assistant");
    const fresh = messages.slice(answered + 1).flatMap(imagesIn);
    const images = fresh.length > 0 ? fresh : messages.flatMap(imagesIn);
    for (const image of images) this.#refused.add(image);
    this.#noted = new WeakMap();
    this.#isEmpty &&= images.length === 0;
    return images.length > 0;
  }

  #messageWithout(message: Message): Message {
    const known = this.#noted.get(message);
    if (known !== undefined) return known;
    const noted = imagesIn(message).some((image) => this.#isLeftOut(image))
      ? ({ ...message, content: this.#blocksWithout(message.content) } as Message)
      : message;
    this.#noted.set(message, noted);
    return noted;
  }

  #blocksWithout(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
    return blocks.map((block) => {
      if (block.type === "image") return this.#isLeftOut(block) ? NOTE : block;
      if (block.type !== "tool_result" || typeof block.content === "string") return block;
      return { ...block, content: this.#blocksWithout(block.content) as typeof block.content };
    });
  }

  #isLeftOut(image: ImageBlock): boolean {
    return this.#takesNone || this.#refused.has(image);
  }
}

const NOTE: TextBlock = { type: "text", text: "[An image was left out here: this model does not take it.]" };

function imagesIn({ content }: Pick<Message, "content">): readonly ImageBlock[] {
  return (content as readonly ContentBlock[]).flatMap((block) => {
    if (block.type === "image") return [block];
    return block.type === "tool_result" && typeof block.content !== "string" ? imagesIn(block as never) : [];
  });
}

/** Vendors have no code for this. Their words name the image, the content, or what the model lacks. */
const IMAGE_WORDS =
  /\bimages?\b|image_url|input_image|\bvision\b|multi-?modal|modalit|mmproj|content must be a string|unknown variant/i;

function isAboutImages({ code, message }: NanoAgentError): boolean {
  return (
    (code === "bad_request" || code === "provider_error" || code === "unknown_model") &&
    IMAGE_WORDS.test(message)
  );
}

/** Shared by all requests of one model. */
export interface RecoveryOptions {
  readonly limits: Pick<NetworkSettings, "maxRetries" | "maxRetryAfterMs" | "firstEventTimeoutMs">;
  readonly info: ModelInfo | undefined;
  readonly modelId: string;
  readonly learned: LearnedModel;
  readonly seals: SealedBlocks;
  /** Changes how requests are encoded, where a refusal shows how. Returns what was changed, for people. */
  readonly adapt?: (error: NanoAgentError) => string | undefined;
  readonly clock: Clock;
  /** Source of the jitter between retries: numbers from 0 to below 1. */
  readonly random: () => number;
  /** Stands before the names of the limits where a person sets them. Default `network.`. */
  readonly prefix?: string;
}

/** The step after a failed attempt. */
export type NextStep =
  | { readonly type: "fail"; readonly error: NanoAgentError }
  | {
      readonly type: "again";
      readonly delayMs: number;
      /** For the reader, unless it was told before. */
      readonly retry?: RetryPart;
      /** The request is to be taken from {@link RequestRecovery.request} again: it has changed. */
      readonly isChanged: boolean;
    };

/** Milliseconds in which a host that has never answered must take a connection. */
const FIRST_CONTACT_MS = 2_500;

/** Codes of the system for a host that is not there. */
const ABSENT: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH"]);

/** Milliseconds between two looks at a server that loads its model. */
const LOADING_STEP_MS = 2_000;

/** Times a server may fail at what its model wrote: the next attempt most often ends the same way. */
const MAX_UNREADABLE = 2;

/**
 * The rule for failed requests, whatever they are sent with: what is worth repeating is repeated, with
 * growing pauses or the one the provider asks for; a server that loads its model is waited for. Where a
 * refusal says what the model does not take, the request goes once more without it: images, tools with a
 * schema that is refused, seals of other makers, fields of the format.
 */
export class Recovery {
  readonly options: RecoveryOptions;
  readonly images: RefusedImages;
  readonly estimates: InputEstimates = new InputEstimates();
  readonly tools: RefusedTools = new RefusedTools();

  constructor(options: RecoveryOptions) {
    this.options = options;
    this.images = new RefusedImages(options.info?.images === false);
  }

  begin(request: ModelRequest): RequestRecovery {
    return new RequestRecovery(this, request);
  }
}

/** One request, its attempts, and what follows on each that failed. */
export class RequestRecovery {
  readonly #recovery: Recovery;
  readonly #request: ModelRequest;
  #sent: ModelRequest;
  readonly #startedAt: number;
  /** Changes of the encoder that the request was encoded with. */
  #changes = 0;
  #attempts = 1;
  #unreadable = 0;
  /** When the server first said that it loads its model. */
  #loadingSince: number | undefined;

  constructor(recovery: Recovery, request: ModelRequest) {
    this.#recovery = recovery;
    this.#request = request;
    this.#sent = request;
    this.#startedAt = recovery.options.clock.elapsed();
  }

  /** The request as it can be sent now. */
  get request(): ModelRequest {
    const { images, tools, options } = this.#recovery;
    this.#changes = options.learned.changes;
    this.#sent = options.seals.without(tools.without(images.without(this.#request)));
    return this.#sent;
  }

  /** The answer is complete. */
  answered(): void {
    this.#recovery.options.learned.hasAnswered = true;
  }

  after(error: NanoAgentError): NextStep {
    const { options } = this.#recovery;
    const { limits, learned, prefix = "network." } = options;
    if (error.details["status"] !== undefined) learned.hasAnswered = true;
    const change = this.#changeFor(error);
    // The change comes first: one line of a terminal has no room for all that a server says.
    if (change !== undefined) {
      const told = changedError(error, { message: `${change} ${error.message}`, retryable: true });
      return this.#again(0, { error: told, isChanged: true });
    }
    const tooLong = this.#tooLong(error);
    if (tooLong !== undefined) return fail(tooLong);
    const reason = error.details["reason"] as FailureReason | undefined;
    if (reason === "model_loading") return this.#awaitModel(error);
    if (reason === "unreadable_output" && ++this.#unreadable >= MAX_UNREADABLE)
      return fail(changedError(error, { retryable: false }));
    if (!error.retryable) return fail(error);
    const asked = error.details["retryAfterMs"];
    if (typeof asked === "number" && asked > limits.maxRetryAfterMs)
      return fail(waitsTooLong(error, { askedMs: asked, maxMs: limits.maxRetryAfterMs, prefix }));
    if (this.#attempts > limits.maxRetries) return fail(givenUp(error, this.#attempts));
    const delayMs = typeof asked === "number" && asked > 0 ? asked : backoffDelayMs(this.#attempts, options);
    if (this.#isAbsent(error, delayMs)) return fail(givenUp(error, this.#attempts));
    return this.#again(delayMs, { error });
  }

  /** The change that lets the request go once more, in words; `undefined`: the refusal is about none. */
  #changeFor(error: NanoAgentError): string | undefined {
    const { images, tools, options } = this.#recovery;
    if (images.learn(this.#sent, error)) return "The request goes on without the image.";
    const tool = tools.learn(this.#sent, error);
    if (tool !== undefined) return `The request goes on without the tool ${tool}.`;
    if (options.seals.learn(this.#sent, error))
      return "The request goes on without the reasoning that this model cannot verify.";
    if (error.code === "bad_request" && options.learned.changes > this.#changes)
      return "The request goes on as other requests have shown this model to want it.";
    return options.adapt?.(error);
  }

  /** A refusal as too long. The limit it names is the window of the model from now on. */
  #tooLong(error: NanoAgentError): NanoAgentError | undefined {
    const { estimates, options } = this.#recovery;
    const inputTokens = (): number => estimates.ofRequest(this.#sent);
    const { modelId, learned } = options;
    const isKnown = error.code === "context_overflow";
    const tooLong = isKnown ? error : asTooLong(error, { modelId, inputTokens });
    if (tooLong === undefined) return undefined;
    const limit = limitIn(error.message, inputTokens());
    if (limit !== undefined) learned.contextWindow = Math.min(learned.contextWindow ?? limit, limit);
    return tooLong;
  }

  /** Nobody has answered there yet: more likely nobody will than that somebody is restarting. */
  #isAbsent({ details }: NanoAgentError, delayMs: number): boolean {
    const { clock, learned } = this.#recovery.options;
    const waitedMs = clock.elapsed() - this.#startedAt + delayMs;
    return !learned.hasAnswered && ABSENT.has(details["cause"]) && waitedMs > FIRST_CONTACT_MS;
  }

  #again(
    delayMs: number,
    { error, isChanged = false }: { readonly error: NanoAgentError; readonly isChanged?: boolean },
  ): NextStep {
    this.#attempts++;
    return {
      type: "again",
      delayMs,
      isChanged,
      retry: { type: "retry", attempt: this.#attempts, delayMs, error },
    };
  }

  /** Loading takes what it takes, and counts as no attempt. It is said once. */
  #awaitModel(error: NanoAgentError): NextStep {
    const { clock, limits, prefix = "network." } = this.#recovery.options;
    const now = clock.elapsed();
    const isFirst = this.#loadingSince === undefined;
    this.#loadingSince ??= now;
    const limitMs = limits.firstEventTimeoutMs;
    if (limitMs > 0 && now - this.#loadingSince >= limitMs)
      return fail(neverLoaded(error, { limitMs, prefix }));
    const delayMs = LOADING_STEP_MS;
    const retry = { type: "retry", attempt: this.#attempts + 1, delayMs, error } as const;
    return { type: "again", delayMs, isChanged: false, ...(isFirst ? { retry } : {}) };
  }
}

function fail(error: NanoAgentError): NextStep {
  return { type: "fail", error };
}

function waitsTooLong(
  error: NanoAgentError,
  { askedMs, maxMs, prefix }: { readonly askedMs: number; readonly maxMs: number; readonly prefix: string },
): NanoAgentError {
  const seconds = Math.ceil(askedMs / 1_000);
  return withSentence(
    error,
    `The provider asks to wait ${seconds} s, longer than ${prefix}maxRetryAfterMs (${maxMs} ms) allows. Try again later, or raise it.`,
    { limit: "maxRetryAfterMs" },
  );
}

function neverLoaded(
  error: NanoAgentError,
  { limitMs, prefix }: { readonly limitMs: number; readonly prefix: string },
): NanoAgentError {
  return withSentence(
    error,
    `It did so for ${limitMs} ms. Raise ${prefix}firstEventTimeoutMs if the model needs longer.`,
    { limit: "firstEventTimeoutMs" },
  );
}

function givenUp(error: NanoAgentError, attempts: number): NanoAgentError {
  return attempts === 1 ? error : withSentence(error, `Gave up after ${attempts} attempts.`, { attempts });
}

/** The same failure with a further sentence; another attempt may help. */
function withSentence(
  error: NanoAgentError,
  more: string,
  facts: { readonly attempts?: number; readonly limit?: keyof NetworkSettings } = {},
): NanoAgentError {
  const message = `${error.message} ${more}`;
  return changedError(error, { message, details: { ...error.details, ...facts }, retryable: true });
}
