import { join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { openQuestions } from "../../coding/session/pending-questions.ts";
import { storedMessages } from "../../coding/session/session-queue.ts";
import type { UndoLimits } from "../../coding/settings/config-schema.ts";
import type { UserPaths } from "../../coding/settings/paths.ts";
import { checkpointsFolder } from "../../coding/setup/checkpoints.ts";
import { withRollbackPlace } from "../../coding/setup/undo-place.ts";
import type { FileVersion, JournalEntry } from "../../core/agent/entries.ts";
import { SessionState } from "../../core/agent/state.ts";
import { defined } from "../../core/base/json.ts";
import { type Redaction, shellArgument } from "../../core/base/text.ts";
import { currentEvents } from "../../server/hosted-agent.ts";
import { conflict, notFound } from "../../server/refusal.ts";
import type {
  ListedSession,
  NewMessage,
  PassingEvent,
  SessionChange,
  SessionDetail,
  SessionFileState,
  UndoRequest,
  UndoResult,
  WaitingMessage,
} from "../../server/server-api.ts";
import { changesIn, filesAt, isOfFile, kindOf, shownPath } from "../../server/session-changes.ts";
import type { EntryTail, HostedSession } from "../../server/session-host.ts";
import { JournalTail } from "../../session/journal-tail.ts";
import { readSession, type SessionContent } from "../../session/read-session.ts";
import { type SessionFile, workspaceSlug } from "../../session/session-store.ts";
import { CheckpointStore } from "../../session/undo/checkpoint-store.ts";
import { type RollbackReport, redo, undo } from "../../session/undo/rollback.ts";
import { diffFile } from "../../tools/files/file-under-change.ts";
import { type FileDiff, parseUnifiedDiff } from "../../view/file-diff.ts";
import type { Question } from "../../view/question.ts";
import type { KeptSessions } from "./kept-sessions.ts";
import { FITS_IDLE, type ServedSession } from "./served-session.ts";
import type { SessionChannel } from "./session-channel.ts";

/** The host of {@link KeptSession}: its part of all that happens here. */
export interface SessionKeeper {
  readonly kept: KeptSessions;
  readonly options: {
    readonly paths: UserPaths;
    readonly undoLimits?: UndoLimits | undefined;
    readonly readOnly: boolean;
    readonly redaction: Redaction | undefined;
    readonly session: { readonly cwd: string };
  };
  readonly listed: (file: SessionFile) => ListedSession;
  readonly stateOf: (file: SessionFile) => ListedSession["state"];
  /** Tokens of the window of a model, where that is known. */
  readonly windowOf: (model: string | undefined) => number | undefined;
  readonly channel: (file: SessionFile) => SessionChannel;
  /** The session if this process works on it. */
  readonly served: (id: string) => ServedSession | undefined;
  /** Opens a session to work on it. Throws `journal` where another process does. */
  readonly reopened: (file: SessionFile) => Promise<ServedSession>;
  /** Tells the person who serves of lines of a session file that are damaged. */
  readonly tellDamage: (file: SessionFile, damaged: SessionContent["damaged"]) => void;
  /** Remembers whose questions these are: they may be answered later. */
  readonly seen: (sessionId: string, questions: readonly Question[]) => void;
}

/** Damaged lines that are listed. */
const MAX_DAMAGED = 100;

/** A session in a file, at work here or not. */
export class KeptSession implements HostedSession {
  readonly id: string;
  readonly #host: SessionKeeper;
  readonly #file: SessionFile;

  constructor(host: SessionKeeper, file: SessionFile) {
    this.id = file.sessionId;
    this.#host = host;
    this.#file = file;
  }

  async detail(): Promise<SessionDetail> {
    const content = readSession(this.#file.path);
    const listed = this.#host.listed(this.#file);
    const folded = new SessionState();
    for (const entry of content.entries) folded.apply(entry);
    const { questions, queue, held } = await this.#waiting(content);
    const { damaged } = content;
    const served = this.#host.served(this.id);
    this.#host.tellDamage(this.#file, damaged);
    const cwd = listed.cwd === "" ? "" : ` -C ${shellArgument(listed.cwd)}`;
    return {
      ...listed,
      messages: folded.transcript.messages,
      readOnly: this.#isReadOnly,
      ...defined({ permissionMode: served?.session.view.mode ?? modeIn(content.entries) }),
      ...defined({ heldBy: served ? undefined : this.#host.kept.writer(this.#file) }),
      ...defined({ windowTokens: this.#host.windowOf(listed.model) }),
      queue,
      queueHeld: held,
      questions,
      goOn: `nano-agent${cwd} -r ${this.id}`,
      ...(damaged.length === 0 ? {} : { damaged: damaged.slice(0, MAX_DAMAGED) }),
    };
  }

  tail(after: string | undefined): EntryTail {
    return new JournalTail(this.#file.path, after);
  }

  listen(listener: (passing: PassingEvent | "entries") => void): () => void {
    return this.#host.channel(this.#file).listen(listener);
  }

  async current(): Promise<readonly PassingEvent[]> {
    const { questions, ...queue } = await this.#waiting();
    return currentEvents(this.#host.stateOf(this.#file), questions, queue);
  }

  async send(message: NewMessage): Promise<void> {
    await (await this.#host.reopened(this.#file)).send(message);
  }

  async stop(): Promise<void> {
    const served = this.#host.served(this.id);
    if (served !== undefined) return served.stop();
    if (this.#host.kept.isWritten(this.#file))
      throw conflict("Another process works on this session: stop it there.", ["fork"], "other_writer");
    throw conflict("No run is at work.", FITS_IDLE, "not_running");
  }

  async fork(from: string | undefined): Promise<string> {
    const { header, entries } = readSession(this.#file.path);
    if (from !== undefined && !entries.some(({ id }) => id === from))
      throw notFound("entry of this id in the session");
    const { store } = this.#host.kept;
    const cwd = header?.cwd ?? this.#host.options.session.cwd;
    const copy = await store.start(cwd, { copyOf: this.#file, ...defined({ copyUpTo: from }) });
    await copy.close();
    return copy.sessionId;
  }

  async undo({ to, paths = [], force = false }: UndoRequest): Promise<UndoResult> {
    const served = this.#idle("undo");
    if (served !== undefined) {
      const options = { paths, force, ...(to === undefined ? {} : { to: defined(to) as typeof to }) };
      return this.#result(await served.session.undo(options));
    }
    const { cwd } = this.#host.kept.factsOf(this.#file);
    const options = {
      paths: paths.map((path) => resolve(cwd, path)),
      force,
      ...defined({ to: to && { run: to.run, turn: to.turn ?? 0 } }),
    };
    return this.#result(await this.#rollBack((place) => undo(place, options)));
  }

  async redo(): Promise<UndoResult> {
    const served = this.#idle("redo");
    return this.#result(
      served === undefined ? await this.#rollBack((place) => redo(place)) : await served.session.redo(),
    );
  }

  async changes(): Promise<readonly SessionChange[]> {
    return keptChanges(this.#work(), this.#host.options.redaction);
  }

  async files(at: string | undefined): Promise<readonly SessionFileState[]> {
    return keptFiles(this.#work(), at, this.#host.options.redaction);
  }

  async fileText(path: string, at: string | undefined): Promise<string | undefined> {
    return keptText(this.#work(), path, at);
  }

  get #isReadOnly(): boolean {
    if (this.#host.options.readOnly) return true;
    return this.#host.served(this.id) === undefined && this.#host.kept.isWritten(this.#file);
  }

  /** The session that is open here, if so. Throws where a run is at work. */
  #idle(what: string): ServedSession | undefined {
    const served = this.#host.served(this.id);
    if (served !== undefined && served.state !== "idle")
      throw conflict(
        `${what} while a run is at work: stop it first.`,
        ["stop", "messages", "fork"],
        "running",
      );
    return served;
  }

  #rollBack(work: Parameters<typeof withRollbackPlace<RollbackReport>>[2]): Promise<RollbackReport> {
    const { paths, undoLimits } = this.#host.options;
    const { store } = this.#host.kept;
    return withRollbackPlace({ paths, store, limits: undoLimits }, this.#file, work);
  }

  #result({ status, direction, root, changes, left, failed }: RollbackReport): UndoResult {
    const { cwd } = this.#host.kept.factsOf(this.#file);
    if (status === "nothing")
      throw conflict(`There is nothing to ${direction}.`, ["messages", "fork"], `nothing_to_${direction}`);
    if (status === "refused") {
      const names = left.map(({ path }) => shownPath(path, root, cwd)).join(", ");
      const detail = `Somebody else has changed ${names} since: nothing was done.`;
      throw conflict(detail, [`${direction} with force`], "changed_since");
    }
    return {
      status,
      changes: changes.filter(isOfFile).map(({ path, before, after }) => ({
        path: shownPath(path, root, cwd),
        kind: kindOf(before, after),
      })),
      failed: failed.map(({ path }) => shownPath(path, root, cwd)),
    };
  }

  #work(): Parameters<typeof keptChanges>[0] {
    const { entries, header } = readSession(this.#file.path);
    return { entries, cwd: header?.cwd ?? "", folder: checkpointsFolder(this.#host.options.paths) };
  }

  /** The questions and messages that wait: as it is here, else as the session was left. */
  async #waiting(content?: SessionContent): Promise<{
    readonly questions: readonly Question[];
    readonly queue: readonly WaitingMessage[];
    readonly held: boolean;
  }> {
    const served = this.#host.served(this.id);
    if (served !== undefined) {
      const { questions, queue } = served.session;
      return { questions, queue: served.queue, held: queue.held };
    }
    const read = content ?? readSession(this.#file.path);
    const { entries } = read;
    const { kept, options } = this.#host;
    const isAsking = kept.factsOf(this.#file).run === "waiting";
    const questions = isAsking ? await openQuestions(read, options.paths) : [];
    // It may have been opened meanwhile, and answered.
    if (this.#host.served(this.id) !== undefined) return this.#waiting();
    this.#host.seen(this.id, questions);
    const left = entries.findLast((entry) => storedMessages(entry, this.id) !== undefined);
    const messages = left === undefined ? [] : (storedMessages(left, this.id) ?? []);
    const queue = messages.map(({ text }, at) => ({ id: String(at), text }));
    return { questions, queue, held: queue.length > 0 };
  }
}

/** The mode that was chosen last in a session; the one it began with is not among its entries. */
function modeIn(entries: SessionContent["entries"]): string | undefined {
  return entries.findLast((entry) => entry.type === "mode_change")?.mode;
}

/** The entries of a session, and where it worked. */
interface WorkOfSession {
  readonly entries: readonly JournalEntry[];
  readonly cwd: string;
  /** Where the contents of files are kept for undo. */
  readonly folder: string;
}

/**
 * The changes that calls of a session made to files, as diffs where the contents are kept. They are diffs of
 * texts without secrets: the lines of a key, each by itself, are none to a redaction.
 */
async function keptChanges(
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

/** The files that were changed by an entry, each with all its changes as one diff. */
async function keptFiles(
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
 * The text of a file as it was right after an entry, also of one that was changed only later; `undefined`
 * when it was gone, or no text is kept.
 */
function keptText(
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

/** Changes of a longer file are listed without a diff. */
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

/** The contents of files that are kept for undo. */
class KeptContents {
  readonly #folder: string;
  readonly #stores = new Map<string, CheckpointStore>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The texts of two versions without secrets; empty for a file that was not there. */
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
