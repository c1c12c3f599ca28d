import type { Json } from "../../core/base/errors.ts";

/** The events of hooks. Names, settings and answers are those that Claude Code made common. */
export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "Notification",
  "PreCompact",
  "SubagentStop",
  "Stop",
  "SessionEnd",
] as const;

/** One of {@link HOOK_EVENTS}. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** What every hook is told on its standard input, as one JSON object; events add fields of their own. */
export interface HookInput {
  readonly session_id: string;
  /** The session file; `""` where the session is not kept. */
  readonly transcript_path: string;
  readonly cwd: string;
  readonly permission_mode: string;
  readonly tool_name?: string;
  readonly tool_input?: { readonly [key: string]: Json | undefined };
  readonly tool_use_id?: string;
  readonly tool_response?: Json;
  readonly prompt?: string;
  readonly [key: string]: Json | undefined;
}

/** One command of the settings. */
export interface HookCommand {
  readonly event: HookEvent;
  /** Regular expression over the whole name of the tool, or of what happened; absent: everything. */
  readonly matcher?: string;
  readonly command: string;
  /** Default 60,000. */
  readonly timeoutMs: number;
  /** Where it is written down, for messages. */
  readonly source: string;
}

/** One function of an extension. */
export interface HookHandler {
  readonly event: HookEvent;
  readonly matcher?: string;
  /** The extension it belongs to, for messages. */
  readonly source: string;
  /** Returns what a command hook would print as JSON, or nothing. */
  readonly run: (input: HookInput, signal: AbortSignal) => unknown;
  /** Told when it throws or never answers, so that its extension can be switched off. */
  readonly onFailure: (error: unknown) => void;
}

/** What the hooks of one event say together. */
export interface HookVerdict {
  /** The strictest of what they decided: deny before ask before allow. */
  readonly decision?: "allow" | "ask" | "deny";
  /** What the hook that decided gave as its reason. */
  readonly reason?: string;
  /** The hook that decided. */
  readonly by?: string;
  /** New arguments of the call, of the last hook that gave some. */
  readonly updatedInput?: { readonly [key: string]: Json | undefined };
  /** The hook that gave them. */
  readonly updatedBy?: string;
  /** Text for the model, of all hooks in order. */
  readonly context: readonly string[];
  /** A hook wants the run to end. */
  readonly stop?: string;
  /** What went wrong with hooks, one sentence each; nothing was blocked by it. */
  readonly problems: readonly string[];
}
