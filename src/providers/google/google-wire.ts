import { misuse, NanoAgentError } from "../../core/base/errors.ts";
import { newId } from "../../core/base/ids.ts";
import { defined, isRecord } from "../../core/base/json.ts";
import {
  type AssistantBlock,
  NO_USAGE,
  type ProviderData,
  type ToolUseBlock,
  tokenCount,
  type Usage,
  usageParts,
} from "../../core/message/message.ts";
import type { FinishReason, StreamPart } from "../../core/model/model.ts";
import { answerError, incompleteAnswer, reportedError, wordsOf } from "../provider-errors.ts";
import { createDeltaTemplate, parseEvent } from "../server-events.ts";
import { finishPart, type Wire, type WireDecoder, type WireTarget, wordOf } from "../wire.ts";
import { createGoogleEncoder } from "./encode-google.ts";
import type {
  GoogleCandidate,
  GoogleChunk,
  GoogleFunctionCall,
  GooglePart,
  GoogleProviderData,
  GoogleUsage,
} from "./google-json.ts";

/** Google `generateContent`, streamed. A base URL without a version in its path gets `/v1beta`. */
export const googleWire: Wire = {
  name: "google",
  createEncoder: createGoogleEncoder,
  createDecoder: (emit, target) => new GoogleDecoder(emit, target),
  toError: (answer) => answerError(answer),
  eventsIn: (document) => {
    // Without the parameter that requests events, Google streams a list.
    const chunks: readonly unknown[] = Array.isArray(document) ? document : [document];
    const isAnswer = chunks.some((chunk) => isRecord(chunk) && Array.isArray(chunk["candidates"]));
    return isAnswer ? chunks.map((chunk) => JSON.stringify(chunk)) : undefined;
  },
};

/**
 * Converts the events of `streamGenerateContent?alt=sse` to parts.
 *
 * - Text and thought parts of consecutive events form one block. A part with a `thoughtSignature` is a
 *   separate block, since the signature must return on exactly that part; a signature on an empty text part
 *   becomes an empty thinking block, which no other wire sends.
 * - A call without an `id`, or with one already used in this answer, gets a generated one.
 * - `MALFORMED_FUNCTION_CALL` and `UNEXPECTED_TOOL_CALL` become a tool call with `invalid_input`: it is
 *   answered with an error result, so that the model can try again. `MALFORMED_RESPONSE` throws a retryable
 *   `invalid_response`.
 * - The provider's own parts (generated media, code it ran) become empty text blocks that return unchanged.
 *   Sources are the provider data of an empty text block at the end.
 *
 * The answer is complete at the end of the body, not at the first finish reason: some models repeat it in
 * every event.
 */
export class GoogleDecoder implements WireDecoder {
  readonly #emit: (part: StreamPart) => void;
  readonly #target: WireTarget;
  readonly #templates = {
    text: createDeltaTemplate(COUNTERS),
    thinking: createDeltaTemplate(COUNTERS),
  } as const;
  readonly #callIds = new Set<string>();
  #index = -1;
  #openKind: "text" | "thinking" | undefined;
  #lastCandidate: GoogleCandidate | undefined;
  #promptFeedback: GoogleChunk["promptFeedback"];
  #citations: Sources = {};
  #usage: GoogleUsage | undefined;
  /** The last event if only its text was read. Its token counts matter if no later event has any. */
  #unparsed: string | undefined;
  #model: string | undefined;
  #responseId: string | undefined;
  #isEnded = false;

  constructor(emit: (part: StreamPart) => void, target: WireTarget) {
    this.#emit = emit;
    this.#target = target;
  }

  readonly event = (_event: string, data: string): void => {
    const kind = this.#openKind === "thinking" ? "thinking" : "text";
    const text = this.#templates[kind].match(data);
    if (text !== undefined) {
      this.#unparsed = data;
      if (text !== "") this.#text(text, kind);
      return;
    }
    if (data === "[DONE]") return;
    const chunk: GoogleChunk = parseEvent(data);
    if (isRecord(chunk.error)) throw reportedError(wordsOf({ error: chunk.error }), { target: this.#target });
    this.#recordUsage(chunk);
    this.#model ??= chunk.modelVersion;
    this.#responseId ??= chunk.responseId;
    if (typeof chunk.promptFeedback?.blockReason === "string") this.#promptFeedback ??= chunk.promptFeedback;
    const candidate = chunk.candidates?.[0];
    if (typeof candidate === "object" && candidate !== null) this.#candidate(candidate);
    const plain = plainKind(chunk);
    if (plain !== undefined) this.#templates[plain].learn(data, "text");
  };

  readonly end = (): void => {
    const finishReason = this.#finishReason();
    if (this.#unparsed !== undefined) this.#recordUsage(parseEvent(this.#unparsed));
    if (Object.keys(this.#citations).length > 0) this.#emitOwn(this.#citations);
    this.#isEnded = true;
    const named = { model: this.#model, id: this.#responseId };
    this.#emit(finishPart(finishReason, googleUsage(this.#usage), named));
  };

  readonly done = (): boolean => this.#isEnded;

  #recordUsage({ usageMetadata }: GoogleChunk): void {
    if (!isRecord(usageMetadata)) return;
    this.#usage = usageMetadata;
    this.#unparsed = undefined;
  }

  #candidate(candidate: GoogleCandidate): void {
    const parts = candidate.content?.parts;
    if (Array.isArray(parts)) for (const part of parts) if (isRecord(part)) this.#part(part);
    if (typeof candidate.finishReason === "string") this.#lastCandidate = candidate;
    const { groundingMetadata, citationMetadata, urlContextMetadata } = candidate;
    const sources = defined({ groundingMetadata, citationMetadata, urlContextMetadata });
    if (Object.keys(sources).length > 0) this.#citations = { ...this.#citations, ...sources };
  }

  #part(part: GooglePart): void {
    const { thought, thoughtSignature, functionCall } = part;
    const signature = typeof thoughtSignature === "string" ? thoughtSignature : undefined;
    const isOwn = Object.keys(part).some((key) => !PLAIN_FIELDS.has(key));
    const text = part.text ?? (isOwn || signature === undefined ? undefined : "");
    if (isRecord(functionCall)) this.#functionCall(functionCall, signature);
    else if (typeof text !== "string") {
      if (isOwn) this.#emitOwn({ part });
    } else if (signature !== undefined) this.#signedText(text, thought === true, signature);
    else if (text !== "") this.#text(text, thought === true ? "thinking" : "text");
  }

  #text(text: string, kind: "text" | "thinking"): void {
    if (this.#openKind !== kind) {
      this.#openKind = kind;
      this.#index += 1;
    }
    this.#emit({ type: kind === "text" ? "text_delta" : "thinking_delta", index: this.#index, text });
  }

  #signedText(text: string, thought: boolean, thoughtSignature: string): void {
    this.#openKind = undefined;
    if (text === "") this.#index += 1;
    else this.#text(text, thought ? "thinking" : "text");
    this.#openKind = undefined;
    const provider_data = { google: thought ? { thought, thoughtSignature } : { thoughtSignature } };
    const block: AssistantBlock =
      text !== "" && !thought
        ? { type: "text", text, provider_data }
        : { type: "thinking", thinking: text, provider_data };
    this.#emit({ type: "block", index: this.#index, block });
  }

  #block(block: AssistantBlock): void {
    this.#openKind = undefined;
    this.#index += 1;
    if (block.type === "tool_use")
      this.#emit({ type: "tool_call_start", index: this.#index, id: block.id, name: block.name });
    this.#emit({ type: "block", index: this.#index, block });
  }

  #emitOwn(data: GoogleProviderData | Sources): void {
    // Parsed by `JSON.parse` and unchanged since.
    this.#block({ type: "text", text: "", provider_data: { google: data } as ProviderData });
  }

  #functionCall(call: GoogleFunctionCall, thoughtSignature: string | undefined): void {
    if (call.partialArgs !== undefined) throw streamedArgumentsError();
    const args = call.args ?? {};
    this.#block({
      type: "tool_use",
      id: this.#callId(call.id),
      name: typeof call.name === "string" ? call.name : "",
      ...(isRecord(args)
        ? { input: args }
        : { input: {}, invalid_input: { reason: "malformed", raw: JSON.stringify(args) } }),
      ...(thoughtSignature === undefined ? {} : { provider_data: { google: { thoughtSignature } } }),
    });
  }

  #callId(given: string | undefined): string {
    const usable = typeof given === "string" && given !== "" && !this.#callIds.has(given);
    const id = usable ? given : newId("call");
    this.#callIds.add(id);
    return id;
  }

  #finishReason(): FinishReason {
    const { finishReason: raw, finishMessage } = this.#lastCandidate ?? {};
    if (raw === undefined) return this.#blockedPrompt();
    if (raw === "MALFORMED_RESPONSE") {
      throw new NanoAgentError("invalid_response", `The model's answer was malformed (${raw}). Try again.`, {
        retryable: true,
      });
    }
    if (raw === "MALFORMED_FUNCTION_CALL" || raw === "UNEXPECTED_TOOL_CALL") {
      this.#block(malformedCall(this.#callId(undefined), wordOf(finishMessage)));
      return { unified: "tool_use", raw };
    }
    if (raw === "CONTINUATION") return this.#continuation(raw);
    const unified = UNIFIED.get(raw) ?? "other";
    if (this.#callIds.size > 0 && (unified === "other" || unified === "stop"))
      return { unified: "tool_use", raw };
    return { unified, raw, ...defined({ detail: wordOf(finishMessage) || undefined }) };
  }

  #blockedPrompt(): FinishReason {
    const { blockReason: raw, blockReasonMessage } = this.#promptFeedback ?? {};
    if (raw === undefined) throw incompleteAnswer(this.#target.provider, this.#target.modelId);
    return { unified: "refusal", raw, ...defined({ detail: wordOf(blockReasonMessage) || undefined }) };
  }

  #continuation(raw: string): FinishReason {
    const continuationToken = this.#lastCandidate?.continuationToken;
    if (typeof continuationToken !== "string") return { unified: "length", raw };
    this.#block({ type: "thinking", thinking: "", provider_data: { google: { continuationToken } } });
    return { unified: "pause", raw };
  }
}

/** Counters that grow from event to event along with the text. */
const COUNTERS = ["candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"];

/** The kind of an event with one piece of text and otherwise only fields that every event has. */
function plainKind({ candidates, promptFeedback }: GoogleChunk): "text" | "thinking" | undefined {
  const candidate = candidates?.[0];
  const parts = candidate?.content?.parts;
  if (candidates?.length !== 1 || parts?.length !== 1 || promptFeedback !== undefined) return undefined;
  const part = parts[0];
  if (candidate?.finishReason !== undefined || typeof part?.text !== "string") return undefined;
  const isPlain = Object.keys(part).every((key) => key === "text" || key === "thought");
  if (!isPlain) return undefined;
  return part.thought === true ? "thinking" : "text";
}

const UNIFIED: ReadonlyMap<string, FinishReason["unified"]> = new Map([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "refusal"],
  ["RECITATION", "refusal"],
  ["LANGUAGE", "refusal"],
  ["BLOCKLIST", "refusal"],
  ["PROHIBITED_CONTENT", "refusal"],
  ["SPII", "refusal"],
  ["IMAGE_SAFETY", "refusal"],
  ["IMAGE_PROHIBITED_CONTENT", "refusal"],
  ["IMAGE_RECITATION", "refusal"],
  ["TOO_MANY_TOOL_CALLS", "error"],
  ["MISSING_THOUGHT_SIGNATURE", "error"],
]);

/** Known fields of a part; a part with others is the provider's own. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set(["text", "thought", "thoughtSignature", "functionCall"]);

type Sources = Pick<GoogleCandidate, "groundingMetadata" | "citationMetadata" | "urlContextMetadata">;

function streamedArgumentsError(): NanoAgentError {
  return misuse(
    "The arguments of a call came in pieces. Take streamFunctionCallArguments out of the provider options.",
  );
}

/** The call the API could not parse: `Malformed function call: print(default_api.read(path='a'))`. */
function malformedCall(id: string, message: string): ToolUseBlock {
  const name =
    /\bdefault_api\.([\w.:-]+?)\s*\(/.exec(message)?.[1] ??
    /\bcall:(?:default_api:)?([\w.-]+)/.exec(message)?.[1];
  return {
    type: "tool_use",
    id,
    name: name ?? "malformed_function_call",
    input: {},
    invalid_input: { reason: "malformed", raw: message },
  };
}

/** Converts `usageMetadata`: prompts of server-side tools count as input, thoughts as output. */
export function googleUsage(raw: GoogleUsage | undefined): Usage {
  if (raw === undefined) return NO_USAGE;
  return {
    inputTokens: tokenCount(raw.promptTokenCount) + tokenCount(raw.toolUsePromptTokenCount),
    outputTokens: tokenCount(raw.candidatesTokenCount) + tokenCount(raw.thoughtsTokenCount),
    ...usageParts({
      cacheReadTokens: raw.cachedContentTokenCount,
      reasoningTokens: raw.thoughtsTokenCount,
    }),
    raw,
  };
}
