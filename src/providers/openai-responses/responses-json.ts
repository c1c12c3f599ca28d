import type { Json } from "../../core/base/errors.ts";

/**
 * One event of a streamed answer of the Responses API, as far as it is read. Follows
 * https://platform.openai.com/docs/api-reference/responses-streaming. Compatible servers leave fields out, so
 * every one may be missing.
 */
export interface ResponsesEvent {
  readonly type?: string;
  readonly response?: ResponsesAnswer | null;
  readonly item?: ResponsesItem | null;
  readonly item_id?: string | null;
  readonly output_index?: number | null;
  readonly content_index?: number | null;
  readonly summary_index?: number | null;
  readonly delta?: string | null;
  readonly text?: string | null;
  readonly refusal?: string | null;
  readonly arguments?: string | null;
}

export interface ResponsesAnswer {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly status?: string | null;
  readonly output?: readonly ResponsesItem[] | null;
  readonly usage?: ResponsesUsage | null;
  readonly error?: { readonly code?: string | null; readonly message?: string | null } | null;
  readonly incomplete_details?: { readonly reason?: string | null } | null;
}

/** An item of the output: a message, reasoning, a function call, or something nobody asked for. */
export interface ResponsesItem {
  readonly type?: string;
  readonly id?: string | null;
  readonly status?: string | null;
  readonly content?: readonly ResponsesContent[] | null;
  readonly phase?: string | null;
  readonly summary?: readonly ResponsesContent[] | null;
  readonly encrypted_content?: string | null;
  readonly call_id?: string | null;
  readonly name?: string | null;
  readonly arguments?: string | null;
  /** In the place of `arguments` in a call of a tool that takes plain text. */
  readonly input?: string | null;
  /** Of a call of a tool that was found by a search. */
  readonly namespace?: string | null;
  /** Who made the call: the model, or a program it wrote. */
  readonly caller?: { readonly type?: string; readonly [key: string]: Json | undefined } | null;
}

/** A part of a message (`output_text`, `refusal`) or of reasoning (`summary_text`, `reasoning_text`). */
export interface ResponsesContent {
  readonly type?: string;
  readonly text?: string | null;
  readonly refusal?: string | null;
  readonly annotations?: readonly Json[] | null;
  readonly [key: string]: Json | undefined;
}

export interface ResponsesUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly input_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
}
