/**
 * The parts of the Gemini API's `v1beta` that this package sends and reads. Source:
 * https://ai.google.dev/api/generate-content, https://ai.google.dev/api/caching#Content and the published
 * types of `@google/genai` 3.1.
 */

/** A tool call. `id` is present on newer models; `args` is absent for a call without arguments. */
export interface GoogleFunctionCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: unknown;
  /** Only if streamed arguments are requested, which they never are. */
  readonly partialArgs?: unknown;
}

/** One part of a content. Any of them may have a `thoughtSignature`, which returns on the same part. */
export interface GooglePart {
  readonly text?: string;
  /** True if `text` is a summary of the model's reasoning. */
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: GoogleFunctionCall;
  /** A response or media in a request; in an answer, parts of the provider's own tools. */
  readonly [own: string]: unknown;
}

/** `promptTokenCount` includes `cachedContentTokenCount`; `candidatesTokenCount` excludes thoughts. */
export interface GoogleUsage {
  readonly promptTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  readonly candidatesTokenCount?: number;
  readonly thoughtsTokenCount?: number;
  readonly toolUsePromptTokenCount?: number;
  readonly totalTokenCount?: number;
}

/** One alternative of an answer; only the first is used. */
export interface GoogleCandidate {
  readonly content?: { readonly role?: string; readonly parts?: readonly GooglePart[] };
  readonly finishReason?: string;
  readonly finishMessage?: string;
  readonly groundingMetadata?: unknown;
  readonly citationMetadata?: unknown;
  readonly urlContextMetadata?: unknown;
}

/** One event of `streamGenerateContent?alt=sse`. */
export interface GoogleChunk {
  readonly candidates?: readonly GoogleCandidate[];
  readonly promptFeedback?: { readonly blockReason?: string; readonly blockReasonMessage?: string };
  readonly usageMetadata?: GoogleUsage;
  readonly modelVersion?: string;
  readonly responseId?: string;
  readonly error?: unknown;
}

export interface GoogleProviderData {
  readonly part?: GooglePart;
  readonly thoughtSignature?: string;
  /** True if the text is a thought summary; absent if there is only a signature. */
  readonly thought?: boolean;
}
