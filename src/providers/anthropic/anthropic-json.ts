/**
 * The parts of the Messages API that nano-agent reads. Every field may be missing: compatible servers leave
 * things out. Source: https://platform.claude.com/docs/en/api/messages and /build-with-claude/streaming.
 */
export interface AnthropicEvent {
  readonly type?: string;
  readonly index?: number;
  readonly message?: {
    readonly id?: string;
    readonly model?: string;
    readonly usage?: AnthropicUsage | null;
  };
  readonly content_block?: AnthropicBlock;
  readonly delta?: AnthropicDelta;
  readonly usage?: AnthropicUsage | null;
}

/** A content block as it starts; its text arrives in deltas. */
export interface AnthropicBlock {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  /** Encrypted reasoning of a `redacted_thinking` block. */
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  /** Who made the call, where it was not the model itself but its program. */
  readonly caller?: { readonly type?: string } | null;
  readonly citations?: readonly unknown[] | null;
  readonly [key: string]: unknown;
}

/** The change of a `content_block_delta` or a `message_delta`. */
export interface AnthropicDelta {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
  readonly citation?: unknown;
  readonly stop_reason?: string | null;
  /** The provider's words about a refusal. */
  readonly stop_details?: { readonly explanation?: string | null; readonly category?: string | null } | null;
}

/** Tokens. In `message_delta` the figures are totals so far, not increments. */
export interface AnthropicUsage {
  /** Without what was read from or written to the cache. */
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number | null;
    readonly ephemeral_1h_input_tokens?: number | null;
  } | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
}
