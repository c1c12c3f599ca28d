import { readFileSync, statSync } from "node:fs";
import { isRecord } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/block.ts";
import { applyEdits } from "../../tools/apply-edits.ts";
import type { FilePort } from "../../tools/files/file-port.ts";
import { diffFile } from "../../tools/files/file-under-change.ts";
import { resolvePath } from "../../tools/resolve-path.ts";
import type { Settings } from "../settings.ts";
import { type FileDiff, parseUnifiedDiff } from "./file-diff.ts";

/** The call a person is asked about. */
export interface QuestionedCall {
  readonly tool: string;
  readonly input: ToolInput;
  readonly settings: Pick<Settings, "cwd" | "paths">;
  readonly files?: FilePort | undefined;
}

/** A change as a person is shown it. */
export interface ShownChange {
  readonly diff: FileDiff;
  /** The text the change is made in; `undefined` for a new file. */
  readonly before: string | undefined;
}

/** Larger files are asked about without a diff. */
const MAX_BYTES = 1_000_000;

/**
 * The changes a call of `write` or `edit` would make, for the person who is asked about it; `undefined` for
 * other calls, for files that are large or no text, and where it cannot be told. Never rejects: the question
 * comes without it.
 */
export async function questionDiff(call: QuestionedCall): Promise<ShownChange | undefined> {
  const { tool, input, settings } = call;
  const { path } = input;
  if ((tool !== "write" && tool !== "edit") || typeof path !== "string") return undefined;
  try {
    const place = resolvePath(path, { cwd: settings.cwd, home: settings.paths.home });
    const before = await textAt(place, call.files);
    const after = tool === "write" ? input["content"] : edited(before, input["edits"]);
    if (typeof after !== "string") return undefined;
    const { diff: text } = await diffFile(path, before ?? "", after);
    const diff = text === undefined ? undefined : parseUnifiedDiff(path, text, before === undefined);
    return diff && { diff, before };
  } catch {
    // Whatever keeps the file from being read will be told by the call itself.
    return undefined;
  }
}

async function textAt(place: string, files: FilePort | undefined): Promise<string | undefined> {
  const open = await files?.readText?.(place, { signal: new AbortController().signal });
  if (open !== undefined) return open;
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error("no text to compare");
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(place));
}

function edited(before: string | undefined, edits: unknown): string | undefined {
  if (before === undefined || !Array.isArray(edits)) return undefined;
  const wanted = edits.flatMap((edit: unknown) => {
    if (!isRecord(edit)) return [];
    const { old_string: old, new_string: replacement, replace_all: all } = edit;
    if (typeof old !== "string" || typeof replacement !== "string") return [];
    return [{ old_string: old, new_string: replacement, ...(all === true ? { replace_all: true } : {}) }];
  });
  const result = applyEdits(before, wanted);
  return "after" in result ? result.after : undefined;
}
