import { dirname, join } from "node:path";
import type { CheckpointedCall, Checkpointer } from "../../core/agent/checkpointer.ts";
import type { NewEntry } from "../../core/agent/entry.ts";
import type { LocalJournal } from "../../core/agent/journal.ts";
import { defined } from "../../core/base/defined.ts";
import { isFolder } from "../session-file.ts";
import { workspaceSlug } from "../session-store.ts";
import { type CheckpointLimits, DEFAULT_LIMITS } from "./checkpoint-limits.ts";
import { collectUnused } from "./collect-unused.ts";
import { FileCheckpointer } from "./file-checkpointer.ts";
import type { RollbackPlace } from "./rollback.ts";
import { Workspace, type WorkspaceOptions } from "./workspace.ts";

/** Options of {@link SessionCheckpoints}. */
export interface SessionCheckpointsOptions {
  /** Folder that holds one folder for each workspace. */
  readonly folder: string;
  /** The folders looked after: absolute, links resolved. One that stands in another counts as a part of it. */
  readonly roots: readonly string[];
  readonly sessionId: string;
  /** File of the session's journal. */
  readonly journalPath: string;
  readonly limits?: Partial<CheckpointLimits>;
  /** The call that was cut when the session ended last. */
  readonly interrupted?: { readonly callId: string; readonly name: string } | undefined;
  readonly onNotice?: (message: string) => void;
  /** Milliseconds, for measuring how long a call waits. Default `performance.now`. */
  readonly now?: () => number;
}

/** Share of the space from which the end of a run cleans up. */
const CLEAN_UP_FROM = 0.75;

/** The checkpoints of one session while it is at work: keeps what its calls change, below a folder of the user's own. */
export class SessionCheckpoints implements Checkpointer {
  readonly #options: SessionCheckpointsOptions;
  readonly #limits: CheckpointLimits;
  readonly #workspaces: readonly Workspace[];
  readonly #files: FileCheckpointer;
  #isUser = false;

  constructor(options: SessionCheckpointsOptions) {
    const { folder, roots, sessionId, interrupted, onNotice } = options;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#workspaces = outermost(roots).map((root) =>
      openWorkspace(root, { folder, sessionId, limits: this.#limits, onNotice }),
    );
    const isOwn = this.#workspaces.some(({ lastSeenBy }) => lastSeenBy === sessionId);
    this.#files = new FileCheckpointer({
      workspaces: this.#workspaces,
      interrupted: isOwn ? interrupted : undefined,
      maxWaitMs: this.#limits.maxWaitMs,
      ...(options.now === undefined ? {} : { now: options.now }),
      ...defined({ onNotice }),
      onFirstUse: () => {
        this.#isUser = true;
        for (const { store } of this.#workspaces)
          if (isFolder(store.folder)) store.addUser(options.journalPath);
      },
    });
  }

  /** Looks at everything ahead of the first call that needs it. Never rejects. */
  prepare(): Promise<void> {
    return this.#files.prepare();
  }

  before(call: CheckpointedCall): Promise<void> {
    return this.#files.before(call);
  }

  after(call: CheckpointedCall): Promise<readonly NewEntry[]> {
    return this.#files.after(call);
  }

  /** Stores what is known of the workspaces and keeps their folders within the limit. Throws `checkpoint` for what the system refuses. */
  async close(): Promise<void> {
    await this.#files.close();
    const { maxStoreBytes } = this.#limits;
    for (const workspace of this.#workspaces) {
      if (this.#isUser && workspace.store.bytes >= maxStoreBytes * CLEAN_UP_FROM)
        await collectUnused({ workspace, own: this.#options.journalPath, maxBytes: maxStoreBytes });
      workspace.store.close();
    }
  }
}

/** Options of {@link rollbackPlace}. */
export interface RollbackPlaceOptions {
  /** The folder the checkpoints of the session were kept in. */
  readonly folder: string;
  /** The journal of the session, open for writing; no run is at work on it. */
  readonly journal: LocalJournal;
  /** The working folder of the session: absolute, links resolved. */
  readonly cwd: string;
  readonly limits?: Partial<CheckpointLimits>;
}

/** Where `undo` and `redo` put files back. */
export function rollbackPlace({ folder, journal, cwd, limits }: RollbackPlaceOptions): RollbackPlace {
  const opened = new Map<string, Workspace>();
  const settings = { folder, sessionId: journal.sessionId, limits: { ...DEFAULT_LIMITS, ...limits } };
  return {
    journal,
    cwd,
    openWorkspace: (root) => {
      const workspace = opened.get(root) ?? openWorkspace(root, settings);
      opened.set(root, workspace);
      return workspace;
    },
    [Symbol.dispose]: () => {
      for (const { store } of opened.values()) store.close();
    },
  };
}

/** Opens what is kept of a workspace below `folder`, which holds one folder for each. */
export function openWorkspace(
  root: string,
  {
    folder,
    sessionId,
    limits = DEFAULT_LIMITS,
    onNotice,
  }: Pick<WorkspaceOptions, "folder" | "sessionId" | "onNotice"> & { readonly limits?: CheckpointLimits },
): Workspace {
  return new Workspace({
    root,
    folder: join(folder, workspaceSlug(root)),
    sessionId,
    limits,
    onNotice,
    exclude: [folder, dirname(folder)],
  });
}

function outermost(roots: readonly string[]): readonly string[] {
  const isBelow = (path: string, other: string): boolean =>
    path !== other && path.startsWith(other.endsWith("/") ? other : `${other}/`);
  return [...new Set(roots)].filter((root) => !roots.some((other) => isBelow(root, other)));
}
