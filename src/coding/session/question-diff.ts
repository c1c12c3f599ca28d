import { inTime, systemClock } from "../../core/base/async.ts";
import type { ToolInput } from "../../core/message/message.ts";
import { planEdit } from "../../tools/edit-tool.ts";
import type { Edit } from "../../tools/edits/plan-edits.ts";
import { FileRefusal } from "../../tools/files/file-error.ts";
import { type AgreedChanges, type FilePort, FileState } from "../../tools/files/file-state.ts";
import { encodeText } from "../../tools/files/file-text.ts";
import { type ChangeTarget, diffFile } from "../../tools/files/file-under-change.ts";
import { resolvePath } from "../../tools/resolve-path.ts";
import { planWrite } from "../../tools/write-tool.ts";
import { type FileDiff, parseUnifiedDiff } from "../../view/file-diff.ts";
import type { Settings } from "../settings/settings.ts";

export interface QuestionedCall {
  readonly tool: string;
  readonly input: ToolInput;
  /** The judged path of its file, links resolved. Default: its path, resolved now. */
  readonly place?: string | undefined;
  readonly settings: Pick<Settings, "cwd" | "paths">;
  readonly files?: FilePort | undefined;
  /** The files the conversation has read, if known: a call that cannot succeed then fails without asking. */
  readonly known?: { readonly state: FileState; readonly transcriptId: string } | undefined;
  readonly signal: AbortSignal;
}

export interface ShownChange {
  /** Absent if the file is large or not text, the edits do not fit it, or it took too long. */
  readonly diff?: FileDiff | undefined;
  /** The current file, to which an approval is bound; absent if it cannot be read. */
  readonly file?: { readonly content: Uint8Array | undefined };
  /** A sentence on what a diff cannot show: something would be replaced. */
  readonly replaces?: string;
  /** The error with which the call is certain to fail. */
  readonly fails?: string;
}

/** Milliseconds an editor has to report its version of a file. */
const READ_TIMEOUT_MS = 2_000;

/** Another process may have read the file for the session. */
const ASSUMED_READ: AgreedChanges = { isAsShown: () => true, isCarried: () => true };

/** The change that a `write` or `edit` call would make; `undefined` for other calls. Never rejects. */
export async function questionDiff(call: QuestionedCall): Promise<ShownChange | undefined> {
  const { tool, input, place, settings, files, known, signal } = call;
  const { path: shown } = input;
  if ((tool !== "write" && tool !== "edit") || typeof shown !== "string") return undefined;
  const replacing = (what: string): ShownChange =>
    tool === "write" ? { replaces: `It replaces ${what}.` } : {};
  try {
    const path = place ?? resolvePath(shown, { cwd: settings.cwd, home: settings.paths.home });
    const { state, transcriptId } = known ?? { state: new FileState(), transcriptId: "" };
    const agreed = known === undefined ? ASSUMED_READ : undefined;
    const target = { path, givenPath: shown, state, transcriptId, files, agreed, callId: "" };
    const { before, after } = await inTime((either) => plan({ tool, input }, { ...target, signal: either }), {
      ms: READ_TIMEOUT_MS,
      clock: systemClock,
      signal,
    });
    if (before === undefined)
      return { diff: await diffOf(shown, undefined, after), file: { content: undefined } };
    const content = encodeText(before.content);
    if ("missing" in content) return replacing("a file in another encoding");
    const diff = await diffOf(shown, before.content.text, after);
    return {
      diff,
      file: { content },
      ...(diff === undefined && replacing(`a file of ${before.stamp.size} bytes`)),
    };
  } catch (error) {
    if (known !== undefined && error instanceof FileRefusal) return { fails: error.message };
    return replacing("what is there, which could not be read");
  }
}

function plan({ tool, input }: Pick<QuestionedCall, "tool" | "input">, target: ChangeTarget) {
  if (tool === "edit") return planEdit(target, input["edits"] as readonly Edit[]);
  return planWrite(target, input["content"] as string);
}

async function diffOf(path: string, before: string | undefined, after: string) {
  const { diff } = await diffFile(path, before ?? "", after);
  return diff === undefined ? undefined : parseUnifiedDiff(path, diff, before === undefined);
}
