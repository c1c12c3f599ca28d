import { systemClock, withTimeout } from "../../core/base/async.ts";
import type { ToolInput } from "../../core/message/message.ts";
import { planEdit } from "../../tools/edit-tool.ts";
import type { Edit } from "../../tools/edits/plan-edits.ts";
import { type ChangeTarget, diffFile } from "../../tools/files/change-file.ts";
import { FileRefusal } from "../../tools/files/file-error.ts";
import { type ApprovedChanges, type FilePort, FileState } from "../../tools/files/file-state.ts";
import { encodeText } from "../../tools/files/file-text.ts";
import { resolvePath } from "../../tools/resolve-path.ts";
import { planWrite } from "../../tools/write-tool.ts";
import { type FileDiff, parseUnifiedDiff } from "../../view/file-diff.ts";
import type { Settings } from "../settings/settings.ts";

export interface PreviewedCall {
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

export interface ChangePreview {
  /** Absent if the file is large or not text, the edits do not fit it, or it took too long. */
  readonly diff?: FileDiff | undefined;
  /** The current file, to which an approval is bound; absent if it cannot be read. */
  readonly file?: { readonly content: Uint8Array | undefined };
  /** A sentence on what a diff cannot show: something would be replaced. */
  readonly replaces?: string;
  /** The error with which the call is certain to fail. */
  readonly error?: string;
}

/** Milliseconds an editor has to report its version of a file. */
const READ_TIMEOUT_MS = 2_000;

/** Another process may have read the file for the session. */
const ASSUMED_READ: ApprovedChanges = { isApprovedContent: () => true, wasAskedEarlier: () => true };

/** The change that a `write` or `edit` call would make; `undefined` for other calls. Never rejects. */
export async function previewChange(call: PreviewedCall): Promise<ChangePreview | undefined> {
  const { tool, input, place, settings, files, known, signal } = call;
  const { path: shown } = input;
  if ((tool !== "write" && tool !== "edit") || typeof shown !== "string") return undefined;
  const replacing = (what: string): ChangePreview =>
    tool === "write" ? { replaces: `It replaces ${what}.` } : {};
  try {
    const path = place ?? resolvePath(shown, { cwd: settings.cwd, home: settings.paths.home });
    const { state, transcriptId } = known ?? { state: new FileState(), transcriptId: "" };
    const agreed = known === undefined ? ASSUMED_READ : undefined;
    const target = { path, givenPath: shown, state, transcriptId, files, agreed, callId: "" };
    const { before, after } = await withTimeout(
      (either) => plan({ tool, input }, { ...target, signal: either }),
      {
        ms: READ_TIMEOUT_MS,
        clock: systemClock,
        signal,
      },
    );
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
    if (known !== undefined && error instanceof FileRefusal) return { error: error.message };
    return replacing("what is there, which could not be read");
  }
}

function plan({ tool, input }: Pick<PreviewedCall, "tool" | "input">, target: ChangeTarget) {
  if (tool === "edit") return planEdit(target, input["edits"] as readonly Edit[]);
  return planWrite(target, input["content"] as string);
}

async function diffOf(path: string, before: string | undefined, after: string) {
  const { diff } = await diffFile(path, before ?? "", after);
  return diff === undefined ? undefined : parseUnifiedDiff(path, diff, before === undefined);
}
