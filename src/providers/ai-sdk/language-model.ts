import type { Json } from "../../core/base/errors.ts";

/**
 * As much of a Vercel AI SDK language model as {@link import("./from-ai-sdk.ts").fromAiSdk} needs,
 * specification v3 (AI SDK 6) or v4 (AI SDK 7). Written down here so that neither `@ai-sdk/provider` nor its
 * types have to be installed.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<{ readonly stream: AiSdkStream }>;
}

/** The stream of a `doStream` result, as far as it is used. Its chunks are {@link AiSdkStreamPart}s. */
export interface AiSdkStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** Facts by provider; they come as `providerMetadata` and go back as `providerOptions`. */
export type AiSdkMetadata = { readonly [provider: string]: { readonly [key: string]: Json | undefined } };

/** One chunk of a stream. Types that are not listed are skipped. */
export interface AiSdkStreamPart {
  readonly type: string;
  /** Of text, reasoning and tool input: which of the blocks; of `response-metadata`: the answer. */
  readonly id?: string;
  readonly delta?: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
  /** Of `tool-call`: the arguments as JSON text. */
  readonly input?: unknown;
  /** True for a tool that ran at the provider; nothing to do for us. */
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: AiSdkMetadata;
  readonly modelId?: string;
  readonly usage?: AiSdkUsage;
  readonly finishReason?: AiSdkFinishReason | string;
  readonly error?: unknown;
}

/** `total` includes the parts. Unknown figures are `undefined`. */
export interface AiSdkUsage {
  readonly inputTokens?: {
    readonly total?: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  readonly outputTokens?: { readonly total?: number; readonly reasoning?: number };
  readonly raw?: unknown;
}

/** Why the model stopped. `interrupted` (v4): the provider's stream ended without saying why. */
export interface AiSdkFinishReason {
  readonly unified: string;
  readonly raw?: string | undefined;
}

/** Both specifications this package speaks. */
export type AiSdkVersion = "v3" | "v4";

/** A message of a prompt. */
export type AiSdkMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: readonly (AiSdkTextPart | AiSdkFilePart)[] }
  | { readonly role: "assistant"; readonly content: readonly (AiSdkTextPart | AiSdkToolCallPart)[] }
  | { readonly role: "tool"; readonly content: readonly AiSdkToolResultPart[] };

/** Plain text, or reasoning of the same provider. */
export interface AiSdkTextPart {
  readonly type: "text" | "reasoning";
  readonly text: string;
  readonly providerOptions?: AiSdkMetadata;
}

/** An image. v3: base64 text or a URL; v4: a tagged object. */
export interface AiSdkFilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly data: string | URL | AiSdkFileData;
}

/** Image data in v4. */
export type AiSdkFileData =
  | { readonly type: "data"; readonly data: string }
  | { readonly type: "url"; readonly url: URL };

/** A tool call of the model; `input` is the parsed object. */
export interface AiSdkToolCallPart {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly providerOptions?: AiSdkMetadata;
}

/** The answer to a tool call. */
export interface AiSdkToolResultPart {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: AiSdkToolOutput;
}

/** The answer of a tool. Only `error-text` tells providers that it failed. */
export type AiSdkToolOutput =
  | { readonly type: "text" | "error-text"; readonly value: string }
  | { readonly type: "content"; readonly value: readonly AiSdkOutputPart[] };

/** A piece of a tool's answer. Images: v3 has types of its own, v4 uses `file`. */
export type AiSdkOutputPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image-data"; readonly data: string; readonly mediaType: string }
  | { readonly type: "image-url"; readonly url: string }
  | { readonly type: "file"; readonly data: AiSdkFileData; readonly mediaType: string };

/** A tool the model may call. */
export interface AiSdkTool {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly [key: string]: Json | undefined };
}

/** Options of `doStream`. */
export interface AiSdkCallOptions {
  readonly prompt: readonly AiSdkMessage[];
  readonly tools?: readonly AiSdkTool[];
  readonly toolChoice?:
    | { readonly type: "auto" | "none" | "required" }
    | { readonly type: "tool"; readonly toolName: string };
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stopSequences?: readonly string[];
  /** v4 only. */
  readonly reasoning?: string;
  readonly abortSignal?: AbortSignal;
  readonly providerOptions?: { readonly [provider: string]: Json | undefined };
}
