import { readFileSync, statSync } from "node:fs";
import { systemClock } from "../../core/base/clock.ts";
import { inTime } from "../../core/base/in-time.ts";
import { isRecord } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/block.ts";
import { applyEdits } from "../../tools/apply-edits.ts";
import type { FilePort } from "../../tools/files/file-port.ts";
import { decodeFile } from "../../tools/files/file-text.ts";
import { diffFile, MAX_BOUND_BYTES } from "../../tools/files/file-under-change.ts";
import { inFormOf } from "../../tools/files/text-form.ts";
import { resolvePath } from "../../tools/resolve-path.ts";
import type { Settings } from "../settings.ts";
import { type FileDiff, parseUnifiedDiff } from "./file-diff.ts";

/** The call a person is asked about. */
export interface QuestionedCall {
  readonly tool: string;
  readonly input: ToolInput;
  readonly settings: Pick<Settings, "cwd" | "paths">;
  readonly files?: FilePort | undefined;
  /** Aborted when nobody is to be asked any more. */
  readonly signal: AbortSignal;
}

/** A change as a person is shown it. */
export interface ShownChange {
  /** Absent where the file is large or no text, where the edits do not fit it, and where it took too long. */
  readonly diff?: FileDiff | undefined;
  /** The file as it is now, which a yes is bound to; absent where nobody can say. */
  readonly file?: { readonly content: Uint8Array | undefined };
  /** A sentence about what no diff says: that something is there which would go. */
  readonly replaces?: string;
}

/** Larger files are asked about without a diff. */
const MAX_BYTES = 1_000_000;
/** How long an editor has to say what it has of a file, in milliseconds. */
const PATIENCE_MS = 2_000;

/**
 * The changes a call of `write` or `edit` would make, for the person who is asked about it; `undefined` for
 * other calls. Never rejects: the question comes without a diff.
 */
export async function questionDiff(call: QuestionedCall): Promise<ShownChange | undefined> {
  const { tool, input, settings } = call;
  const { path } = input;
  if ((tool !== "write" && tool !== "edit") || typeof path !== "string") return undefined;
  const gone = (what: string): Pick<ShownChange, "replaces"> =>
    tool === "write" ? { replaces: `It replaces ${what}.` } : {};
  try {
    const place = resolvePath(path, { cwd: settings.cwd, home: settings.paths.home });
    const content = await contentAt(place, call);
    if (typeof content === "number") return gone(`a file of ${content} bytes`);
    const diff = await diffOf(call, path, content);
    const isSaid = diff !== undefined || content === undefined;
    return { diff, file: { content }, ...(isSaid ? {} : gone(`a file of ${content.length} bytes`)) };
  } catch {
    return gone("what is there, which could not be read");
  }
}

async function diffOf(
  { tool, input }: QuestionedCall,
  path: string,
  bytes: Uint8Array | undefined,
): Promise<FileDiff | undefined> {
  if ((bytes?.length ?? 0) > MAX_BYTES) return undefined;
  const before = bytes && decodeFile(bytes)?.text;
  if (bytes !== undefined && before === undefined) return undefined;
  const after = tool === "write" ? await written(before, input["content"]) : edited(before, input["edits"]);
  if (after === undefined) return undefined;
  const { diff } = await diffFile(path, before ?? "", after);
  return diff === undefined ? undefined : parseUnifiedDiff(path, diff, before === undefined);
}

/** The content of a file, or its size where that is too much to read; `undefined`: there is none. */
async function contentAt(
  place: string,
  { files, signal }: QuestionedCall,
): Promise<Uint8Array | number | undefined> {
  const bound = { ms: PATIENCE_MS, clock: systemClock, signal };
  const open = await inTime((either) => files?.readText?.(place, { signal: either }), bound);
  if (open !== undefined) return Buffer.from(open);
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw new Error("no file to compare");
  return stats.size > MAX_BOUND_BYTES ? stats.size : readFileSync(place);
}

async function written(before: string | undefined, content: unknown): Promise<string | undefined> {
  if (typeof content !== "string") return undefined;
  return before === undefined ? content : inFormOf(before, content);
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
