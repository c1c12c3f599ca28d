import type { OutcomeCode } from "../../app/coding-session/outcome.ts";
import type { Json } from "../../core/base/errors.ts";

/** Fields of every line of `stream-json`. */
interface LineBase {
  readonly uuid: string;
  readonly session_id: string;
}

/** A content block as lines carry it: the fields of the Anthropic Messages API, nothing of our own. */
export type LineBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature?: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | { readonly type: "image"; readonly source: object }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: object }
  | {
      readonly type: "tool_result";
      readonly tool_use_id: string;
      readonly content: string | readonly LineBlock[];
      readonly is_error?: boolean;
    };

/** Tokens as the Anthropic Messages API counts them: `input_tokens` are those outside the prompt cache. */
export interface LineUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

/** The first line. */
export interface InitLine extends LineBase {
  readonly type: "system";
  readonly subtype: "init";
  readonly cwd: string;
  readonly tools: readonly string[];
  readonly mcp_servers: readonly { readonly name: string; readonly status: string }[];
  /** `null` when the run could not begin. */
  readonly model: string | null;
  /** Why it is that model: a flag, a variable, a file, a server. */
  readonly model_source?: string;
  readonly permissionMode: string;
  /** Whether shell commands are confined. */
  readonly sandbox: "on" | "off";
  readonly slash_commands: readonly string[];
  readonly skills: readonly string[];
  readonly agents: readonly string[];
}

/** A request failed and is made again. */
export interface RetryLine extends LineBase {
  readonly type: "system";
  readonly subtype: "api_retry";
  /** Number of the attempt that follows, from 2. */
  readonly attempt: number;
  readonly retry_delay_ms: number;
  readonly error: { readonly code: string; readonly message: string };
}

/** A session was damaged or cut, and what had to be put right to go on with it. */
export interface RepairLine extends LineBase {
  readonly type: "system";
  readonly subtype: "journal_repair";
  readonly file: string;
  /** Lines that cannot be used as they stand; they stay in the file. */
  readonly damaged: readonly { readonly line: number; readonly reason: string }[];
  /** Ids of calls whose result was left out because the call itself is gone. */
  readonly dropped_results: readonly string[];
  /** Calls without a result; each gets one that says so. */
  readonly interrupted: readonly {
    readonly tool_use_id: string;
    readonly name: string;
    readonly outcome: "unknown" | "never_ran";
  }[];
}

/** The conversation was made to fit: older messages were replaced by what stands for them. */
export interface CompactBoundaryLine extends LineBase {
  readonly type: "system";
  readonly subtype: "compact_boundary";
  readonly compact_metadata: {
    readonly trigger: "auto" | "manual";
    /** Tokens of a request before and after, estimated. */
    readonly pre_tokens: number;
    readonly post_tokens: number;
    /** `threshold`: near the end of the window. `overflow`: the provider refused a request as too long. */
    readonly reason: "threshold" | "overflow" | "manual";
    /** `summary`: by the model. `shortening`: long tool results cut. `truncation`: messages left out. */
    readonly method: "summary" | "shortening" | "truncation";
  };
}

/**
 * What the project brings that could act and was left out, because it is not trusted (`nano-agent trust`).
 */
export interface UntrustedLine extends LineBase {
  readonly type: "system";
  readonly subtype: "untrusted";
  /** The project's folder. */
  readonly folder: string;
  readonly left_out: readonly {
    readonly kind: string;
    /** The file, relative to the folder, and behind `#` the name in it. */
    readonly path: string;
    /** What it would do. */
    readonly does: string;
  }[];
}

/** An answer of the model. */
export interface AssistantLine extends LineBase {
  readonly type: "assistant";
  readonly message: {
    readonly id: string;
    readonly type: "message";
    readonly role: "assistant";
    readonly model: string;
    readonly content: readonly LineBlock[];
    readonly stop_reason: string | null;
    readonly stop_sequence: null;
    readonly usage: LineUsage;
  };
  /** The call this one was made by, for calls inside `batch`. */
  readonly parent_tool_use_id: string | null;
}

/** Results of tool calls. */
export interface UserLine extends LineBase {
  readonly type: "user";
  readonly message: { readonly role: "user"; readonly content: readonly LineBlock[] };
  readonly parent_tool_use_id: string | null;
}

/** A piece of an answer, in the events of the Anthropic streaming format. */
export interface StreamEventLine extends LineBase {
  readonly type: "stream_event";
  readonly event: { readonly type: string; readonly [key: string]: unknown };
  readonly parent_tool_use_id: null;
}

/** A call that was refused. */
export interface PermissionDenial {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: object;
  readonly reason: string;
}

/** The last line. */
export interface ResultLine extends LineBase {
  readonly type: "result";
  readonly subtype: OutcomeCode;
  readonly is_error: boolean;
  readonly result: string;
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  readonly num_turns: number;
  /** `null` when the price of the model is unknown. */
  readonly total_cost_usd: number | null;
  readonly usage: LineUsage;
  /** By `provider/id`. */
  readonly modelUsage: {
    readonly [model: string]: {
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cacheReadInputTokens: number;
      readonly cacheCreationInputTokens: number;
      readonly costUSD: number | null;
    };
  };
  readonly permission_denials: readonly PermissionDenial[];
  /** Only where a schema was asked for and a value came. */
  readonly structured_output?: Json;
  /** Only where an error ended the run. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** One line of `stream-json`. */
export type EventLine =
  | InitLine
  | RepairLine
  | UntrustedLine
  | RetryLine
  | CompactBoundaryLine
  | AssistantLine
  | UserLine
  | StreamEventLine
  | ResultLine;

/** A line before `uuid` and `session_id` are put on it. */
export type NewLine = EventLine extends infer L
  ? L extends EventLine
    ? Omit<L, keyof LineBase>
    : never
  : never;
