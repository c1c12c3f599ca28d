import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { FileVersion, JournalEntry } from "../../core/agent/entries.ts";
import type { Redaction } from "../../core/base/redaction.ts";
import type { SessionChange } from "../../server/server-api.ts";
import { changesIn, filesAt } from "../../server/session-changes.ts";
import { workspaceSlug } from "../../session/session-store.ts";
import { CheckpointStore } from "../../session/undo/checkpoint-store.ts";
import { diffFile } from "../../tools/files/file-under-change.ts";
import { type FileDiff, parseUnifiedDiff } from "../../view/file-diff.ts";

/** The entries of a session, and where it worked. */
export interface WorkOfSession {
  readonly entries: readonly JournalEntry[];
  readonly cwd: string;
  /** Where the contents of files are kept for undo. */
  readonly folder: string;
}

/**
 * The changes that calls of a session made to files, as diffs where the contents are kept. They are diffs of
 * texts without secrets: the lines of a key, each by itself, are none to a redaction.
 */
export async function keptChanges(
  { entries, cwd, folder }: WorkOfSession,
  redaction: Redaction | undefined,
): Promise<readonly SessionChange[]> {
  using contents = new KeptContents(folder);
  const changes: SessionChange[] = [];
  for (const { root, before, after, change } of changesIn(entries, cwd)) {
    const [old, now] = [before, after].map((version) => {
      const text = version === null ? "" : contents.text(root, version);
      return text && (redaction?.text(text) ?? text);
    });
    changes.push(await withDiff(change, old, now));
    await setImmediate();
  }
  return changes;
}

/** The text of a file as it was right after an entry; `undefined` where it was gone, or no text is kept. */
export function keptText(
  { entries, cwd, folder }: WorkOfSession,
  path: string,
  at: string | undefined,
): string | undefined {
  const file = filesAt(entries, cwd, at).get(path);
  if (file === undefined || file.version === null) return undefined;
  using contents = new KeptContents(folder);
  return contents.text(file.root, file.version);
}

/** A file longer than this is told as changed, without how. */
const MAX_BYTES = 1_000_000;

async function withDiff(
  change: SessionChange,
  old: string | undefined,
  now: string | undefined,
): Promise<SessionChange> {
  if (old === undefined || now === undefined) return { ...change, binary: true };
  const diff = await diffOf(change, old, now);
  return diff === undefined ? change : { ...change, diff, added: diff.added, removed: diff.removed };
}

async function diffOf(
  { path, kind }: SessionChange,
  before: string,
  after: string,
): Promise<FileDiff | undefined> {
  const { diff } = await diffFile(path, before, after);
  return diff === undefined ? undefined : parseUnifiedDiff(path, diff, kind === "created");
}

/** The contents of files that are kept for undo. */
class KeptContents {
  readonly #folder: string;
  readonly #stores = new Map<string, CheckpointStore>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The text of a version; `undefined` where it is not kept or is not text. */
  text(root: string, version: FileVersion): string | undefined {
    if (version.type === "link") return version.target;
    if (version.type !== "file" || version.size > MAX_BYTES) return undefined;
    const bytes = this.#storeOf(root).get(version.hash);
    if (bytes === undefined || bytes.includes(0)) return undefined;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      // Not UTF-8: nothing a person could read.
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    for (const store of this.#stores.values()) store.close();
  }

  #storeOf(root: string): CheckpointStore {
    let store = this.#stores.get(root);
    if (store === undefined)
      this.#stores.set(root, (store = new CheckpointStore(join(this.#folder, workspaceSlug(root)))));
    return store;
  }
}
