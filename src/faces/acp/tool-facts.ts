import type { ToolCallContent, ToolCallLocation, ToolCallStatus, ToolKind } from "@agentclientprotocol/sdk";
import { isRecord, ownValue } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/message.ts";
import { resolvePath } from "../../tools/resolve-path.ts";
import type { FileDiff } from "../../view/file-diff.ts";
import type { ToolItem } from "../../view/view.ts";

/** Facts that an editor shows of a call beside its title and state. */
export interface ToolFacts {
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
}

const KINDS: { readonly [tool: string]: ToolKind | undefined } = {
  read: "read",
  write: "edit",
  edit: "edit",
  glob: "search",
  grep: "search",
  bash: "execute",
  job: "execute",
  task: "think",
  todo: "think",
  web_fetch: "fetch",
};

/** Kind and places of a call. Paths are absolute, as the protocol wants them. */
export function toolFacts(name: string, input: ToolInput, cwd: string): ToolFacts {
  const { path, offset } = input;
  const isPlace = typeof path === "string" && path !== "";
  const line = typeof offset === "number" && offset > 0 ? { line: offset } : {};
  return {
    kind: ownValue(KINDS, name) ?? "other",
    locations: isPlace ? [{ path: resolvePath(path, { cwd }), ...line }] : [],
  };
}

/** A change in a file that a call makes, and what is known of it beside its arguments. */
export interface ChangeOfCall {
  readonly name: string;
  readonly input: ToolInput;
  readonly diff?: FileDiff | undefined;
}

/**
 * The change of a call in files: hunk by hunk where the file is known, else each edit by itself, and a
 * written file as a whole. Without an old text it is a new file, as the protocol has it.
 */
export function diffContent({ name, input, diff }: ChangeOfCall, cwd: string): ToolCallContent[] {
  const { path, content, edits } = input;
  if (typeof path !== "string") return [];
  const place = { type: "diff", path: resolvePath(path, { cwd }) } as const;
  if (diff !== undefined && !diff.isNew)
    return diff.hunks.map(({ lines }) => ({
      ...place,
      oldText: sideOf(lines, "+"),
      newText: sideOf(lines, "-"),
    }));
  if (name === "write" && typeof content === "string") return [{ ...place, newText: content }];
  if (name !== "edit" || !Array.isArray(edits)) return [];
  return (edits as readonly unknown[]).flatMap((edit): ToolCallContent[] => {
    const { old_string: oldText, new_string: newText } = (edit ?? {}) as { readonly [key: string]: unknown };
    return typeof oldText === "string" && typeof newText === "string" ? [{ ...place, oldText, newText }] : [];
  });
}

/** One side of a hunk: its lines but for those of the other side. */
function sideOf(lines: readonly string[], other: "+" | "-"): string {
  return lines.flatMap((line) => (line.startsWith(other) ? [] : [`${line.slice(1)}\n`])).join("");
}

/** True when {@link diffContent} shows all of an argument. An edit of every place says so in words alone. */
export function isShownAsDiff({ name: tool, input, diff }: ChangeOfCall, argument: string): boolean {
  const value = input[argument];
  if (diff !== undefined) return argument === (tool === "write" ? "content" : "edits");
  if (tool === "write") return argument === "content" && typeof value === "string";
  if (tool !== "edit" || argument !== "edits" || !Array.isArray(value)) return false;
  return value.every((edit) => {
    const { old_string, new_string, ...more } = isRecord(edit) ? edit : {};
    const isPair = typeof old_string === "string" && typeof new_string === "string";
    return isPair && Object.keys(more).length === 0;
  });
}

const PENDING: ReadonlySet<ToolItem["state"]> = new Set(["writing", "asking"]);

/** State of a call in the words of the protocol. What was refused or stopped has failed. */
export function toolStatus(state: ToolItem["state"]): ToolCallStatus {
  if (PENDING.has(state)) return "pending";
  if (state === "running") return "in_progress";
  return state === "ok" ? "completed" : "failed";
}
