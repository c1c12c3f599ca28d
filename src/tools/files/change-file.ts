import { constants, lstatSync, type Stats, statSync } from "node:fs";
import { open } from "node:fs/promises";
import type { ToolContext, ToolResult } from "../../core/tool/tool.ts";
import { systemCode } from "../../system/system-error.ts";
import { resolvePermittedPath } from "../resolve-path.ts";
import { answerFileErrors, FileRefusal } from "./file-error.ts";
import {
  type ApprovedChanges,
  EditorText,
  type FileContent,
  type FilePort,
  type FileStamp,
  type FileState,
  type FileToolOptions,
  isUnchanged,
  readFromPort,
  stampOf,
} from "./file-state.ts";
import { decodeFile, ENCODING_NAMES, encodeText, type FileEncoding, type FileText } from "./file-text.ts";
import { assertRegularFile, openRegularFile } from "./open-file.ts";
import { writeAtomically } from "./write-atomically.ts";

export interface ChangeTarget {
  readonly path: string;
  readonly givenPath: string;
  readonly transcriptId: string;
  readonly state: FileState;
  readonly files?: FilePort | undefined;
  readonly signal: AbortSignal;
  readonly callId: string;
  readonly agreed?: ApprovedChanges | undefined;
}

export function changeFile(
  givenPath: string,
  options: FileToolOptions & { readonly state: FileState },
  context: ToolContext,
  change: (target: ChangeTarget) => Promise<ToolResult>,
): Promise<ToolResult> {
  const { transcriptId, signal, callId } = context;
  const { files, agreed, state } = options;
  return answerFileErrors(givenPath, signal, async () => {
    const path = resolvePermittedPath(givenPath, options, context);
    return state.inTurn(path, () =>
      change({ path, givenPath, state, transcriptId, signal, callId, files, agreed }),
    );
  });
}

export interface FileBeforeChange {
  /** Absent for text that is open in an editor and not yet on disk. */
  readonly stats: Stats | undefined;
  readonly stamp: FileStamp;
  readonly content: FileText;
}

function statIfExists(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    // `throwIfNoEntry: false` would also accept a file where a folder should be.
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Refuses anything but a writable text file that the session has read and that is unchanged since. */
export async function openForChange(target: ChangeTarget): Promise<FileBeforeChange | undefined> {
  const { path, givenPath } = target;
  const stats = statIfExists(path);
  const open = await readFromPort(portOf(target), path, target.signal);
  if (stats === undefined && open === undefined) {
    assertApproved(target, undefined);
    return undefined;
  }
  if (stats !== undefined) {
    assertRegularFile(stats, givenPath);
    await assertWritable(path, givenPath, stats);
  }
  const known = lastReadStamp(target);
  const { stamp, content } = open ?? (await readFromDisk(path, givenPath));
  assertUnchanged(known, stamp, givenPath);
  assertApproved(target, content);
  return { stats, stamp, content: textOf(content, givenPath) };
}

async function readFromDisk(
  path: string,
  givenPath: string,
): Promise<{ readonly stamp: FileStamp; readonly content: Uint8Array }> {
  const file = openRegularFile(path, givenPath);
  try {
    const now = file.stat();
    if (now.size > BigInt(MAX_CHANGED_BYTES)) {
      throw new FileRefusal(
        `${givenPath} is larger than ${MAX_CHANGED_BYTES} bytes: change it with a program, or remove it first to write a new one.`,
      );
    }
    const content = await file.readAll();
    return { stamp: stampOf(now, content), content };
  } finally {
    file.close();
  }
}

/** The state of a file when the session read it; `undefined` if it did so in another process. */
function lastReadStamp({
  state,
  transcriptId,
  path,
  givenPath,
  agreed,
  callId,
}: ChangeTarget): FileStamp | undefined {
  const known = state.recall(transcriptId, path);
  if (known !== undefined || agreed?.wasAskedEarlier(callId) === true) return known;
  throw new FileRefusal(
    `${givenPath} is there already and was not read in this session. Read it first, then change it.`,
  );
}

export const MAX_CHANGED_BYTES: number = 64 * 1024 * 1024;

function textOf(bytes: Uint8Array, givenPath: string): FileText {
  const text = decodeFile(bytes);
  if (text !== undefined) return text;
  throw new FileRefusal(
    `${givenPath} is binary, or UTF-8 with damaged bytes: changing it as text would lose some. Change it with a program, or remove it first to write a new one.`,
  );
}

/** Another call of the same answer may have changed the file after a person agreed to this one. */
function assertApproved({ agreed, callId, givenPath }: ChangeTarget, content: FileContent): void {
  if (agreed?.isApprovedContent(callId, content) !== false) return;
  throw new FileRefusal(
    `${givenPath} has changed since the person was asked about this call, so it was left alone. Make the call again.`,
  );
}

function assertUnchanged(known: FileStamp | undefined, now: FileStamp, givenPath: string): void {
  if (known === undefined || isUnchanged(known, now)) return;
  throw new FileRefusal(
    `${givenPath} was changed since it was read in this session. Read it again, then change it.`,
  );
}

/** Keeps the encoding; new files are UTF-8. Refuses text that the encoding cannot express. */
export async function commitChange(
  target: ChangeTarget,
  change: { readonly before: FileBeforeChange | undefined; readonly text: string },
): Promise<void> {
  const { before, text } = change;
  const port = portOf(target);
  if (port !== undefined) {
    await writeToPort(target, port, change);
    return;
  }
  const data = bytesOf(text, before?.content.encoding ?? "utf-8", target.givenPath);
  const stats = await writeAtomically(target.path, data, {
    replaced: before?.stats,
    givenPath: target.givenPath,
    beforeRename: async (currentPath) => {
      target.signal.throwIfAborted();
      assertNotReplaced(target, before, currentPath);
    },
  });
  target.state.remember(target.transcriptId, target.path, stampOf(stats, data));
}

function bytesOf(text: string, encoding: FileEncoding, givenPath: string): Buffer {
  const bytes = encodeText({ text, encoding });
  if (bytes instanceof Uint8Array) return bytes;
  const { missing } = bytes;
  const line = text.slice(0, text.indexOf(missing)).split("\n").length;
  const code = (missing.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  throw new FileRefusal(
    `${givenPath} was not changed: it is ${ENCODING_NAMES[encoding]}, which has no "${missing}" (U+${code}, line ${line} of the new text). Use other characters, or convert the file first.`,
  );
}

/** A port for changes: it must also read, or an editor's unsaved text would be lost. */
function portOf({ files }: ChangeTarget): Required<FilePort> | undefined {
  if (files?.readText === undefined || files.writeText === undefined) return undefined;
  return files as Required<FilePort>;
}

async function writeToPort(
  { path, givenPath, signal, state, transcriptId }: ChangeTarget,
  port: Required<FilePort>,
  { before, text }: { readonly before: FileBeforeChange | undefined; readonly text: string },
): Promise<void> {
  const now = await readFromPort(port, path, signal);
  const isSameText =
    now === undefined
      ? before === undefined || before.stats !== undefined
      : before?.stamp.sha256 === now.stamp.sha256;
  if (!isSameText) throw concurrentChangeError(givenPath);
  await port.writeText(path, text, { signal });
  state.remember(transcriptId, path, new EditorText(text).stamp);
}

function concurrentChangeError(givenPath: string): FileRefusal {
  return new FileRefusal(
    `${givenPath} was changed by someone else at this moment. Read it again, then change it.`,
  );
}

/** Replacing needs no write permission, so it is tested by opening; a write bit must be set too. */
async function assertWritable(path: string, givenPath: string, stats: Stats): Promise<void> {
  if ((stats.mode & 0o222) === 0)
    throw new FileRefusal(`${givenPath} is read-only (no write bit): it is left as it is.`);
  const file = await open(
    path,
    constants.O_WRONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0),
  );
  await file.close();
}

/** `currentPath` leads to the file even if its folders have been moved. */
function assertNotReplaced(
  target: ChangeTarget,
  before: FileBeforeChange | undefined,
  currentPath: string,
): void {
  const now = lstatSync(currentPath, { bigint: true, throwIfNoEntry: false });
  if (before === undefined || now === undefined) {
    if ((before ?? now) === undefined) return;
  } else if (isUnchanged(before.stamp, stampOf(now))) return;
  throw concurrentChangeError(target.givenPath);
}

/** Differences between two versions of a file. */
export interface FileDiff {
  /** Unified diff with three lines of context; absent if it would be too large or take too long. */
  readonly diff?: string;
  readonly additions?: number;
  readonly deletions?: number;
}

/** Compares two texts within limits of size and time (2 MB together, 200 ms, 200 KB of diff). */
export async function diffFile(path: string, before: string, after: string): Promise<FileDiff> {
  if (before.length + after.length > MAX_COMPARED_CHARS) return {};
  const { formatPatch, structuredPatch } = await import("diff");
  // Escaped as git does: a line feed in a name must not begin a line of the diff.
  const name = /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
  const patch = structuredPatch(name, name, before, after, undefined, undefined, {
    context: 3,
    timeout: TIMEOUT_MS,
  });
  if (patch === undefined) return {};
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const additions = lines.filter((line) => line.startsWith("+")).length;
  const deletions = lines.filter((line) => line.startsWith("-")).length;
  const diff = formatPatch(patch);
  if (diff.length > MAX_DIFF_CHARS) return { additions, deletions };
  return { diff, additions, deletions };
}

const MAX_COMPARED_CHARS = 2_000_000;
const MAX_DIFF_CHARS = 200_000;
const TIMEOUT_MS = 200;
