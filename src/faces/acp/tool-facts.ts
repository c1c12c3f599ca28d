import { resolve } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolCallStatus, ToolKind } from "@agentclientprotocol/sdk";
import type { ToolItem } from "../../app/coding-session/view.ts";
import { isRecord, ownValue } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/block.ts";

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
    locations: isPlace ? [{ path: resolve(cwd, path), ...line }] : [],
  };
}

/** The change of a call in files: each edit by itself, a written file as a whole. */
export function diffContent(name: string, input: ToolInput, cwd: string): ToolCallContent[] {
  const { path, content, edits } = input;
  if (typeof path !== "string") return [];
  const place = { type: "diff", path: resolve(cwd, path) } as const;
  if (name === "write" && typeof content === "string") return [{ ...place, newText: content }];
  if (name !== "edit" || !Array.isArray(edits)) return [];
  return (edits as readonly unknown[]).flatMap((edit): ToolCallContent[] => {
    const { old_string: oldText, new_string: newText } = (edit ?? {}) as { readonly [key: string]: unknown };
    return typeof oldText === "string" && typeof newText === "string" ? [{ ...place, oldText, newText }] : [];
  });
}

/** Whether {@link diffContent} shows all of an argument. An edit of every place says so in words only. */
export function isShownAsDiff(tool: string, argument: string, value: unknown): boolean {
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
