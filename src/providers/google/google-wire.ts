import { invalidArgument, NanoAgentError } from "../../core/base/errors.ts";
import { newId } from "../../core/base/ids.ts";
import { isRecord, omitUndefined } from "../../core/base/json.ts";
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
import { answerError, incompleteAnswer, parseErrorObject, reportedError } from "../provider-errors.ts";
import { parseEvent } from "../server-events.ts";
import { finishPart, textOrEmpty, type Wire, type WireDecoder, type WireTarget } from "../wire.ts";
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
  readonly #callIds = new Set<string>();
  #index = -1;
  #openKind: "text" | "thinking" | undefined;
  #lastCandidate: GoogleCandidate | undefined;
  #promptFeedback: GoogleChunk["promptFeedback"];
  #citations: Sources = {};
  #usage: GoogleUsage | undefined;
  #model: string | undefined;
  #responseId: string | undefined;
  #isEnded = false;

  constructor(emit: (part: StreamPart) => void, target: WireTarget) {
    this.#emit = emit;
    this.#target = target;
  }

  readonly event = (_event: string, data: string): void => {
    if (data === "[DONE]") return;
    const chunk: GoogleChunk = parseEvent(data);
    if (isRecord(chunk.error))
      throw reportedError(parseErrorObject({ error: chunk.error }), { target: this.#target });
    if (isRecord(chunk.usageMetadata)) this.#usage = chunk.usageMetadata;
    this.#model ??= chunk.modelVersion;
    this.#responseId ??= chunk.responseId;
    if (typeof chunk.promptFeedback?.blockReason === "string") this.#promptFeedback ??= chunk.promptFeedback;
    const candidate = chunk.candidates?.[0];
    if (typeof candidate === "object" && candidate !== null) this.#candidate(candidate);
  };

  readonly end = (): void => {
    const finishReason = this.#finishReason();
    if (Object.keys(this.#citations).length > 0) this.#emitOwn(this.#citations);
    this.#isEnded = true;
    const named = { model: this.#model, id: this.#responseId };
    this.#emit(finishPart(finishReason, googleUsage(this.#usage), named));
  };

  readonly done = (): boolean => this.#isEnded;

  #candidate(candidate: GoogleCandidate): void {
    const parts = candidate.content?.parts;
    if (Array.isArray(parts)) for (const part of parts) if (isRecord(part)) this.#part(part);
    if (typeof candidate.finishReason === "string") this.#lastCandidate = candidate;
    const { groundingMetadata, citationMetadata, urlContextMetadata } = candidate;
    const sources = omitUndefined({ groundingMetadata, citationMetadata, urlContextMetadata });
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
      this.#block(malformedCall(this.#callId(undefined), textOrEmpty(finishMessage)));
      return { unified: "tool_use", raw };
    }
    const unified = UNIFIED.get(raw) ?? "other";
    if (this.#callIds.size > 0 && (unified === "other" || unified === "stop"))
      return { unified: "tool_use", raw };
    return { unified, raw, ...omitUndefined({ detail: textOrEmpty(finishMessage) || undefined }) };
  }

  #blockedPrompt(): FinishReason {
    const { blockReason: raw, blockReasonMessage } = this.#promptFeedback ?? {};
    if (raw === undefined) throw incompleteAnswer(this.#target.provider, this.#target.modelId);
    return {
      unified: "refusal",
      raw,
      ...omitUndefined({ detail: textOrEmpty(blockReasonMessage) || undefined }),
    };
  }
}

const UNIFIED: ReadonlyMap<string, FinishReason["unified"]> = new Map([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  // A pause, which only a token of a preview feature resumes.
  ["CONTINUATION", "length"],
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
  return invalidArgument(
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
