/**
 * The parts of the Gemini API's `v1beta` this package sends and reads. Source:
 * https://ai.google.dev/api/generate-content, https://ai.google.dev/api/caching#Content and the published
 * types of `@google/genai` 3.1.
 */

/** A tool call. `id` is present on newer models; `args` is absent for a call without arguments. */
export interface GoogleFunctionCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: unknown;
  /** Only where arguments are asked for in pieces, which they never are. */
  readonly partialArgs?: unknown;
}

/** An image in a request: base64, or its address. */
export type GoogleMediaPart =
  | { readonly inlineData: { readonly mimeType: string; readonly data: string } }
  | { readonly fileData: { readonly mimeType?: string; readonly fileUri: string } };

/** One part of a content. `thoughtSignature` may be on any of them and goes back on the same part. */
export interface GooglePart {
  readonly text?: string;
  /** True when `text` is a summary of the model's reasoning. */
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: GoogleFunctionCall;
  /** A response or media in a request; parts of the provider's own doing in an answer. */
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
  /** With `finishReason` `CONTINUATION`: what fetches the rest of the answer. */
  readonly continuationToken?: string;
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
  /** `google.rpc.Status`. */
  readonly error?: unknown;
}

/** The `google` part of a block's `provider_data`. */
export interface GoogleProviderData {
  /** A part of the provider's own, which goes back as it came. */
  readonly part?: GooglePart;
  readonly thoughtSignature?: string;
  /** True where the text is a thought summary; absent where there is only a signature or token. */
  readonly thought?: boolean;
  readonly continuationToken?: string;
}
