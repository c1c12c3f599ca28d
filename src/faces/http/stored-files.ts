import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { FileVersion, JournalEntry } from "../../core/agent/entries.ts";
import { type Redaction } from "../../core/base/text.ts";
import type { SessionChange, SessionFileState } from "../../server/server-api.ts";
import { changesIn, filesAt } from "../../server/session-changes.ts";
import { workspaceSlug } from "../../session/session-store.ts";
import { CheckpointStore } from "../../session/undo/checkpoint-store.ts";
import { diffFile } from "../../tools/files/change-file.ts";
import { type FileDiff, parseUnifiedDiff } from "../../view/file-diff.ts";

interface WorkOfSession {
  readonly entries: readonly JournalEntry[];
  readonly cwd: string;
  readonly folder: string;
}

/**
 * The changes a session's calls made to files, as diffs if the contents are kept. The diffs are of redacted
 * texts, because a redaction does not recognize the separate lines of a key.
 */
export async function storedChanges(
  { entries, cwd, folder }: WorkOfSession,
  redaction: Redaction | undefined,
): Promise<readonly SessionChange[]> {
  using contents = new KeptContents(folder);
  const changes: SessionChange[] = [];
  for (const { root, before, after, change } of changesIn(entries, cwd)) {
    const [old, now] = contents.shown(root, [before, after], redaction);
    changes.push(await withDiff(change, old, now));
    await setImmediate();
  }
  return changes;
}

export async function storedFiles(
  { entries, cwd, folder }: WorkOfSession,
  at: string | undefined,
  redaction: Redaction | undefined,
): Promise<readonly SessionFileState[]> {
  using contents = new KeptContents(folder);
  const files: SessionFileState[] = [];
  for (const { root, path, kind, origin, version } of filesAt(entries, cwd, at).values()) {
    const [old, now] = contents.shown(root, [origin, version], redaction);
    const diff = old === undefined || now === undefined ? undefined : await diffOf({ path, kind }, old, now);
    files.push({ path, kind, ...(diff && { diff, added: diff.added, removed: diff.removed }) });
    await setImmediate();
  }
  return files;
}

/**
 * The text of a file right after an entry, even if it was changed only later; `undefined` if the file was
 * gone or no text is kept.
 */
export function storedText(
  { entries, cwd, folder }: WorkOfSession,
  path: string,
  at: string | undefined,
): string | undefined {
  const then = filesAt(entries, cwd, at).get(path);
  const file = then ?? filesAt(entries, cwd, undefined).get(path);
  const version = then === undefined ? file?.origin : then.version;
  if (file === undefined || version === undefined || version === null) return undefined;
  using contents = new KeptContents(folder);
  return contents.text(file.root, version);
}

/** Changes of larger files are listed without a diff. */
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
  { path, kind }: Pick<SessionChange, "path" | "kind">,
  before: string,
  after: string,
): Promise<FileDiff | undefined> {
  const { diff } = await diffFile(path, before, after);
  return diff === undefined ? undefined : parseUnifiedDiff(path, diff, kind === "created");
}

class KeptContents {
  readonly #folder: string;
  readonly #stores = new Map<string, CheckpointStore>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The redacted texts of two versions; empty for a missing file. */
  shown(
    root: string,
    versions: readonly [before: FileVersion | null, after: FileVersion | null],
    redaction: Redaction | undefined,
  ): readonly (string | undefined)[] {
    return versions.map((version) => {
      const text = version === null ? "" : this.text(root, version);
      return text && (redaction?.text(text) ?? text);
    });
  }

  text(root: string, version: FileVersion): string | undefined {
    if (version.type === "link") return version.target;
    if (version.type !== "file" || version.size > MAX_BYTES) return undefined;
    const bytes = this.#storeOf(root).get(version.hash);
    if (bytes === undefined || bytes.includes(0)) return undefined;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      // Not UTF-8, so not readable.
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
