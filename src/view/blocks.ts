import { omitUndefined } from "../core/base/json.ts";
import type { ToolInput } from "../core/message/message.ts";
import { withoutEnding } from "./call-text.ts";
import type { FileDiff } from "./file-diff.ts";
import type { ShellItem, SubagentView, ToolItem, UserItem, ViewItem } from "./view.ts";
import { type EndReason, endReason, type Phrase } from "./words.ts";

/** How urgently a note or an ending asks for attention. */
export type Level = "info" | "warning" | "error";

/** A tool call as shown. */
export interface CallBlock {
  readonly kind: "call";
  readonly name: string;
  /** Its subject in one line; empty if its arguments do not make a readable line. */
  readonly subject: string;
  readonly input: ToolInput;
  readonly state: ToolItem["state"];
  readonly hasFailed: boolean;
  /** True for a call made by another call. */
  readonly isNested: boolean;
  /** Its result in a few words; empty if the body or the state already shows it. */
  readonly brief: string;
  readonly startedAt?: number | undefined;
  readonly durationMs?: number | undefined;
  /** The change it made, else the end of its output. */
  readonly diff?: FileDiff | undefined;
  readonly output: string;
  /** `open`: all output matters · `end`: its last lines do · `folded`: the brief is enough. */
  readonly shows: "open" | "end" | "folded";
  readonly agent?: AgentBlock | undefined;
}

/** A subagent as shown. `items`: those to be shown. */
export interface AgentBlock extends SubagentView {
  readonly calls: number;
}

/** One thing to draw. It contains every decision about what is shown; a drawer only lays it out. */
export type Block =
  | {
      readonly kind: "said";
      readonly by: UserItem["source"];
      readonly text: string;
      /** Number of images not mentioned in the text. */
      readonly images: number;
      readonly time: number;
    }
  | {
      readonly kind: "answer";
      readonly markdown: string;
      readonly state: "streaming" | "done" | "interrupted";
    }
  | {
      readonly kind: "thinking";
      /** Empty if the provider hides it. */
      readonly text: string;
      readonly words: number;
      readonly isStreaming: boolean;
    }
  | CallBlock
  | ({ readonly kind: "shell" } & Pick<ShellItem, "command" | "output" | "exitCode" | "shared">)
  | { readonly kind: "note"; readonly level: Level; readonly phrase: Phrase }
  | ({
      readonly kind: "end";
      readonly reason: EndReason;
      readonly error: string | undefined;
      /** `info`: it ended as intended, or is waiting. */
      readonly level: Level;
      readonly durationMs: number;
      readonly costUsd: number | undefined;
    } & Pick<Extract<ViewItem, { type: "run_end" }>, "changes" | "trace" | "evidence">);

/**
 * The block of an item; `undefined` for the output of a failed attempt. `details`: all items of a subagent.
 */
export function blockOf(item: ViewItem, { details }: { readonly details: boolean }): Block | undefined {
  if (item.isVoid === true) return undefined;
  switch (item.type) {
    case "user":
      return saidBlock(item);
    case "answer":
      return { kind: "answer", markdown: item.text, state: item.state };
    case "thinking": {
      const text = item.text.trim();
      const words = text === "" ? 0 : text.split(/\s+/).length;
      return { kind: "thinking", text, words, isStreaming: item.state === "streaming" };
    }
    case "tool":
      return callBlock(item, details);
    case "shell": {
      const { command, exitCode, shared } = item;
      return { kind: "shell", command, output: item.output.trimEnd(), exitCode, shared };
    }
    case "notice":
      return { kind: "note", level: item.notice.level, phrase: { code: "notice", notice: item.notice } };
    case "compaction": {
      const { before, after, method } = item;
      return { kind: "note", level: "info", phrase: { code: "compacted", before, after, method } };
    }
    case "run_end":
      return endBlock(item);
  }
}

function saidBlock({ source: by, text, images, time }: UserItem): Block {
  return { kind: "said", by, text: text.trim(), images: text.includes("[image") ? 0 : images, time };
}

function endBlock(item: Extract<ViewItem, { readonly type: "run_end" }>): Block {
  const { stopReason, limit, durationMs, costUsd, changes, trace, evidence } = item;
  const reason = endReason(stopReason, limit);
  // The person who stopped a run knows why.
  const error = stopReason === "aborted" ? undefined : item.error?.message;
  const level = error !== undefined ? "error" : SILENT_ENDINGS.has(reason) ? "info" : "warning";
  const work = omitUndefined({ changes, trace, evidence });
  return { kind: "end", reason, error, level, durationMs, costUsd, ...work };
}

/** Endings that need no words. */
const SILENT_ENDINGS: ReadonlySet<EndReason> = new Set<EndReason>([
  "completed",
  "finish_tool",
  "structured_output",
  "awaiting_approval",
  "awaiting_external",
]);

/** True if an item cannot change any more. */
export function isFinal(item: ViewItem): boolean {
  switch (item.type) {
    case "answer":
    case "thinking":
      return item.state !== "streaming";
    case "tool":
      // A refusal is decided before its result arrives with the reason.
      if (item.state === "denied") return item.brief !== undefined;
      return item.state === "ok" || FAILED.has(item.state);
    default:
      return true;
  }
}

const FAILED: ReadonlySet<ToolItem["state"]> = new Set(["error", "denied", "aborted"]);
/** Tools whose output shows how the call went; for others a few words do. */
const OUTPUT_TOOLS: ReadonlySet<string> = new Set(["bash"]);
/** Calls of a subagent that are shown while it runs. */
const NEWEST_CALLS = 3;

function callBlock(item: ToolItem, details: boolean): CallBlock {
  const { name, state, diff } = item;
  const hasFailed = FAILED.has(state);
  const output = outputOf(item);
  // A subagent's items tell more than its answer, which is meant for the calling model.
  const isFolded = item.agent !== undefined || !(hasFailed || state === "running" || OUTPUT_TOOLS.has(name));
  return {
    kind: "call",
    name,
    subject: subjectOf(item),
    input: item.input,
    state,
    hasFailed,
    isNested: item.parentCallId !== undefined,
    brief: briefOf(item, isFolded ? "" : output),
    startedAt: item.startedAt,
    durationMs: item.durationMs,
    diff: hasFailed ? undefined : diff,
    output,
    shows: isFolded ? "folded" : hasFailed || state === "running" ? "open" : "end",
    agent: agentBlock(item, details),
  };
}

function subjectOf({ name, title }: ToolItem): string {
  const text = title.startsWith(name) ? title.slice(name.length).trim() : title;
  return /^[{[]/.test(text) ? "" : text;
}

/** The end of a call's output, without lines that tell what the state shows: refused, its exit code. */
function outputOf({ tail = "" }: ToolItem): string {
  return withoutEnding(tail.replace(/^Error: (?:Tool call was not approved: )?/, ""));
}

function briefOf({ state, brief = "" }: ToolItem, output: string): string {
  if (state !== "ok" && state !== "error") return "";
  return state === "error" && output.startsWith(brief.replace(/…$/, "")) ? "" : brief;
}

function agentBlock({ agent, state }: ToolItem, details: boolean): AgentBlock | undefined {
  if (agent === undefined) return undefined;
  const calls = agent.items.filter(({ type }) => type === "tool");
  const isOver = state === "ok" || FAILED.has(state);
  const items = details ? agent.items : isOver ? [] : calls.slice(-NEWEST_CALLS);
  return { ...agent, items, calls: calls.length };
}
