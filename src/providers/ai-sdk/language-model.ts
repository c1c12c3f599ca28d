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
