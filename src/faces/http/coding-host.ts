import { isAbsolute, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { CodingSessionOptions } from "../../coding/session/coding-session.ts";
import { openQuestions } from "../../coding/session/pending-questions.ts";
import { createCodingSession } from "../../coding/session/prepare-coding-session.ts";
import { storedMessages } from "../../coding/session/session-queue.ts";
import type { UndoLimits } from "../../coding/settings/config-schema.ts";
import { existingFolder, type UserPaths } from "../../coding/settings/paths.ts";
import { checkpointsFolder } from "../../coding/setup/checkpoints.ts";
import { sessionStore } from "../../coding/setup/open-session.ts";
import { withRollbackTarget } from "../../coding/setup/undo-target.ts";
import { SessionState as Fold } from "../../core/agent/state.ts";
import type { Clock } from "../../core/base/async.ts";
import { newUuid } from "../../core/base/ids.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { pluralize, quoteShellArgument, type Redaction } from "../../core/base/text.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import { knownModelInfo } from "../../providers/model-info.ts";
import { currentEvents } from "../../server/hosted-agent.ts";
import { badRequest, conflict, notFound, type Refusal } from "../../server/refusal.ts";
import type {
  ListedSession,
  NewMessage,
  OpenApproval,
  PassingEvent,
  QuestionAnswer,
  SessionChange,
  SessionDetail,
  SessionFileState,
  SessionPage,
  SessionRequest,
  SessionState,
  UndoRequest,
  UndoResult,
  WaitingMessage,
} from "../../server/server-api.ts";
import { isOfFile, kindOf, shownPath } from "../../server/session-changes.ts";
import { listedOf, type SessionFacts } from "../../server/session-facts.ts";
import type { EntryTail, HostedSession, ListQuery, SessionHost } from "../../server/session-host.ts";
import { JournalTail } from "../../session/journal-tail.ts";
import { type DamagedLine, readSession, type SessionContent } from "../../session/read-session.ts";
import { isSessionInUse, sessionUser } from "../../session/session-lock.ts";
import type { SessionFile } from "../../session/session-store.ts";
import { type RollbackReport, redo, undo } from "../../session/undo/rollback.ts";
import type { Question } from "../../view/question.ts";
import { IDLE_ACTIONS, LiveHostedSession, SessionChannel } from "./live-hosted-session.ts";
import { storedChanges, storedFiles, storedText } from "./stored-files.ts";
import { StoredSessions } from "./stored-sessions.ts";

export interface CodingHostOptions {
  readonly paths: UserPaths;
  /** The options of all sessions; its folder is the default working directory. */
  readonly session: CodingSessionOptions & { readonly cwd: string };
  readonly undoLimits?: UndoLimits | undefined;
  readonly readOnly: boolean;
  readonly clock: Clock;
  readonly redaction: Redaction | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * A user's sessions: stored ones, whichever process wrote them, and those running here. A session is open,
 * and locked against other writers, only while something happens in it.
 */
export class CodingHost implements SessionHost {
  readonly options: CodingHostOptions;
  readonly stored: StoredSessions;
  readonly #open = new Map<string, Promise<LiveHostedSession>>();
  /** Sessions being released: until that is done they cannot be reopened. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #ready = new Map<string, LiveHostedSession>();
  readonly #channels = new Map<string, SessionChannel>();
  readonly #choices = new Map<string, CodingSessionOptions>();
  /** Question ids with their sessions: a copy of a session has the same pending questions. */
  readonly #seenQuestions = new Map<string, Set<string>>();
  /** Context windows of models used here, known only from settings or a model server. */
  readonly #windows = new Map<string, number | undefined>();
  readonly #reportedDamage = new Map<string, number>();
  #isClosed = false;

  constructor(options: CodingHostOptions) {
    this.options = options;
    this.stored = new StoredSessions(sessionStore(options.paths), options.clock, options.redaction);
  }

  async list(query: ListQuery): Promise<SessionPage> {
    const { files, next, searched } = await this.stored.page(query);
    const sessions: ListedSession[] = [];
    for (const { passages, ...file } of files) {
      sessions.push({ ...this.listed(file), ...omitUndefined({ passages }) });
      await setImmediate();
    }
    return { sessions, ...omitUndefined({ next, searched }) };
  }

  listed(file: SessionFile): ListedSession {
    const facts = listedOf(this.stored.factsOf(file));
    const { createdAt } = facts;
    return {
      ...facts,
      id: file.sessionId,
      state: this.stateOf(file),
      createdAt: createdAt === 0 ? file.changedAt : createdAt,
      updatedAt: file.changedAt,
    };
  }

  async find(id: string): Promise<HostedSession | undefined> {
    const file = this.stored.file(id) ?? this.#deletedButRunning(id);
    return file === undefined ? undefined : new StoredSession(this, file);
  }

  async start({ cwd, prompt, model, permissionMode, limits }: SessionRequest): Promise<string> {
    const { session } = this.options;
    if (cwd !== undefined && !isAbsolute(cwd)) throw badRequest("cwd must be an absolute path.");
    const folder = cwd === undefined ? session.cwd : existingFolder(cwd, "cwd");
    const sessionId = newUuid();
    const choice: CodingSessionOptions = {
      ...session,
      ...omitUndefined({ model, permissionMode: permissionMode as PermissionMode | undefined }),
      settings: { ...session.settings, ...limits },
    };
    const served = await this.#opening(sessionId, { ...choice, cwd: folder, sessionId });
    try {
      await served.send({ text: prompt, when: "now" });
    } catch (error) {
      // An empty session leaves no file when closed.
      await this.#release(sessionId, served);
      throw error;
    }
    this.#choices.set(sessionId, choice);
    return sessionId;
  }

  async approvals(): Promise<readonly OpenApproval[]> {
    const all: OpenApproval[] = [];
    for (const id of this.#open.keys()) {
      const questions = this.live(id)?.session.questions ?? [];
      for (const question of questions) all.push({ ...question, sessionId: id });
    }
    for await (const file of this.stored.waiting()) {
      const { sessionId } = file;
      const left = this.#open.has(sessionId) ? [] : await storedQuestions(file, this.options.paths);
      // It may have been opened and answered meanwhile.
      if (!this.#open.has(sessionId)) for (const question of left) all.push({ ...question, sessionId });
    }
    for (const question of all) this.noteQuestions(question.sessionId, [question]);
    return all.sort((left, right) => left.time - right.time);
  }

  /** Reports damage to a session file, again only when it grows. */
  reportDamage({ path }: SessionFile, damaged: readonly DamagedLine[]): void {
    const [first] = damaged;
    if (first === undefined || this.#reportedDamage.get(path) === damaged.length) return;
    this.#reportedDamage.set(path, damaged.length);
    const lines = `${pluralize(damaged.length, "damaged line")} of ${path}`;
    const where = `line ${first.line}: ${first.reason}${damaged.length === 1 ? "" : ", …"}`;
    const message = `${lines} left out (${where}); see nano-agent sessions verify ${quoteShellArgument(path)}`;
    this.options.session.onNotice?.({ level: "warning", code: "other", message });
  }

  noteQuestions(sessionId: string, questions: readonly { readonly id: string }[]): void {
    for (const { id } of questions)
      this.#seenQuestions.set(id, (this.#seenQuestions.get(id) ?? new Set()).add(sessionId));
  }

  async answer(id: string, answer: QuestionAnswer): Promise<void> {
    const { sessionId: wanted } = answer;
    const isRequested = (sessionId: string): boolean => sessionId === (wanted ?? sessionId);
    await this.approvals();
    // Answered ones count too: an answer sent twice is not meant for a copy.
    const requested = [...(this.#seenQuestions.get(id) ?? [])].filter(isRequested);
    const [sessionId] = requested;
    if (sessionId === undefined) throw notFound("open question of this id");
    if (requested.length > 1) throw ambiguousQuestion(requested);
    const file = this.stored.file(sessionId);
    const served = this.live(sessionId) ?? (file && (await this.reopen(file)));
    if (served?.answer(id, answer) !== true)
      throw conflict("The question was answered or withdrawn.", [], "answered");
  }

  facts(): AsyncIterable<SessionFacts> {
    return this.stored.facts();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = [...this.#closing.values()];
    const open = [...this.#open.values()].map(async (opening) =>
      (await opening.catch(() => undefined))?.close(),
    );
    await Promise.all([...closing, ...open, this.stored.close()]);
  }

  live(id: string): LiveHostedSession | undefined {
    return this.#ready.get(id);
  }

  /** Opens a session to run it. Throws `conflict` if another process has it. */
  async reopen({ sessionId, path }: SessionFile): Promise<LiveHostedSession> {
    const known = this.#open.get(sessionId);
    if (known !== undefined) return known;
    const { cwd } = this.stored.factsOf({ sessionId, path } as SessionFile);
    if (cwd === "") throw unknownFolder(path);
    const choice = this.#choices.get(sessionId) ?? this.options.session;
    return this.#opening(sessionId, { ...choice, cwd, resume: { id: sessionId } });
  }

  windowOf(model = ""): number | undefined {
    const [, provider = "", id = ""] = /^([^/]*)\/(.*)$/.exec(model) ?? [];
    return this.#windows.get(model) ?? knownModelInfo(provider, id)?.contextWindow;
  }

  channel(file: SessionFile): SessionChannel {
    const { sessionId: id } = file;
    const channel =
      this.#channels.get(id) ?? new SessionChannel(this.options.clock, () => this.stateOf(file));
    this.#channels.set(id, channel);
    return channel;
  }

  stateOf(file: SessionFile): SessionState {
    const served = this.live(file.sessionId);
    if (served !== undefined) return served.state;
    const { run } = this.stored.factsOf(file);
    if (run === "waiting") return "waiting";
    return run === "open" && isSessionInUse(file.path) ? "running" : "idle";
  }

  /** A session running here whose file was deleted: it can still be stopped. */
  #deletedButRunning(sessionId: string): SessionFile | undefined {
    const path = this.live(sessionId)?.session.info.path;
    return path === undefined
      ? undefined
      : { sessionId, path, bytes: 0, changedAt: this.options.clock.now() };
  }

  #opening(id: string, options: CodingSessionOptions): Promise<LiveHostedSession> {
    if (this.#isClosed) throw conflict("The server is ending.", [], "ending");
    const opening = this.#begin(id, options);
    this.#open.set(id, opening);
    opening.catch(() => this.#open.delete(id));
    return opening;
  }

  async #begin(id: string, options: CodingSessionOptions): Promise<LiveHostedSession> {
    await this.#closing.get(id);
    const session = await createCodingSession(options);
    const { clock, redaction } = this.options;
    const onQuiet = (): void => void this.#release(id, served);
    const channel = (): SessionChannel | undefined => this.#channels.get(id);
    const served = new LiveHostedSession(session, clock, redaction, channel, onQuiet);
    this.#ready.set(id, served);
    const { name, windowTokens } = session.info.model;
    this.#windows.set(name, windowTokens);
    return served;
  }

  /** Releases a session. Requests arriving meanwhile wait and reopen it. */
  async #release(id: string, served: LiveHostedSession): Promise<void> {
    this.#ready.delete(id);
    this.#open.delete(id);
    const closing = served.close().catch(this.options.onError);
    this.#closing.set(id, closing);
    await closing;
    if (this.#closing.get(id) === closing) this.#closing.delete(id);
  }
}

const MAX_DAMAGED = 100;

export class StoredSession implements HostedSession {
  readonly id: string;
  readonly #host: CodingHost;
  readonly #file: SessionFile;

  constructor(host: CodingHost, file: SessionFile) {
    this.id = file.sessionId;
    this.#host = host;
    this.#file = file;
  }

  async detail(): Promise<SessionDetail> {
    const content = readSession(this.#file.path);
    const listed = this.#host.listed(this.#file);
    const folded = new Fold();
    for (const entry of content.entries) folded.apply(entry);
    const { questions, queue, held } = await this.#pendingWork(content);
    const { damaged } = content;
    const served = this.#host.live(this.id);
    this.#host.reportDamage(this.#file, damaged);
    const cwd = listed.cwd === "" ? "" : ` -C ${quoteShellArgument(listed.cwd)}`;
    return {
      ...listed,
      messages: folded.transcript.messages,
      readOnly: this.#isReadOnly,
      ...omitUndefined({ permissionMode: served?.session.view.mode ?? modeIn(content.entries) }),
      ...omitUndefined({ heldBy: served ? undefined : sessionUser(this.#file.path) }),
      ...omitUndefined({ windowTokens: this.#host.windowOf(listed.model) }),
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
    const { questions, ...queue } = await this.#pendingWork();
    return currentEvents(this.#host.stateOf(this.#file), questions, queue);
  }

  async send(message: NewMessage): Promise<void> {
    await (await this.#host.reopen(this.#file)).send(message);
  }

  async stop(): Promise<void> {
    const served = this.#host.live(this.id);
    if (served !== undefined) return served.stop();
    if (isSessionInUse(this.#file.path))
      throw conflict("Another process works on this session: stop it there.", ["fork"], "other_writer");
    throw conflict("No run is in progress.", IDLE_ACTIONS, "not_running");
  }

  async fork(from: string | undefined): Promise<string> {
    const { header, entries } = readSession(this.#file.path);
    if (from !== undefined && !entries.some(({ id }) => id === from))
      throw notFound("entry of this id in the session");
    const { store } = this.#host.stored;
    const cwd = header?.cwd ?? this.#host.options.session.cwd;
    const copy = await store.start(cwd, { copyOf: this.#file, ...omitUndefined({ copyUpTo: from }) });
    await copy.close();
    return copy.sessionId;
  }

  async undo({ to, paths = [], force = false }: UndoRequest): Promise<UndoResult> {
    const served = this.#idle("undo");
    if (served !== undefined) {
      const options = { paths, force, ...(to === undefined ? {} : { to: omitUndefined(to) as typeof to }) };
      return this.#result(await served.session.undo(options));
    }
    const { cwd } = this.#host.stored.factsOf(this.#file);
    const options = {
      paths: paths.map((path) => resolve(cwd, path)),
      force,
      ...omitUndefined({ to: to && { run: to.run, turn: to.turn ?? 0 } }),
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
    return storedChanges(this.#work(), this.#host.options.redaction);
  }

  async files(at: string | undefined): Promise<readonly SessionFileState[]> {
    return storedFiles(this.#work(), at, this.#host.options.redaction);
  }

  async fileText(path: string, at: string | undefined): Promise<string | undefined> {
    return storedText(this.#work(), path, at);
  }

  get #isReadOnly(): boolean {
    if (this.#host.options.readOnly) return true;
    return this.#host.live(this.id) === undefined && isSessionInUse(this.#file.path);
  }

  /** The session if it is open here. Throws while a run is in progress. */
  #idle(what: string): LiveHostedSession | undefined {
    const served = this.#host.live(this.id);
    if (served !== undefined && served.state !== "idle")
      throw conflict(
        `${what} while a run is in progress: stop it first.`,
        ["stop", "messages", "fork"],
        "running",
      );
    return served;
  }

  #rollBack(work: Parameters<typeof withRollbackTarget<RollbackReport>>[2]): Promise<RollbackReport> {
    const { paths, undoLimits } = this.#host.options;
    const { store } = this.#host.stored;
    return withRollbackTarget({ paths, store, limits: undoLimits }, this.#file, work);
  }

  #result({ status, direction, root, changes, left, failed }: RollbackReport): UndoResult {
    const { cwd } = this.#host.stored.factsOf(this.#file);
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

  #work(): Parameters<typeof storedChanges>[0] {
    const { entries, header } = readSession(this.#file.path);
    return { entries, cwd: header?.cwd ?? "", folder: checkpointsFolder(this.#host.options.paths) };
  }

  /** The pending questions and messages: live if open here, else as the session was left. */
  async #pendingWork(content?: SessionContent): Promise<{
    readonly questions: readonly Question[];
    readonly queue: readonly WaitingMessage[];
    readonly held: boolean;
  }> {
    const served = this.#host.live(this.id);
    if (served !== undefined) {
      const { questions, queue } = served.session;
      return { questions, queue: served.queue, held: queue.held };
    }
    const read = content ?? readSession(this.#file.path);
    const { entries } = read;
    const { stored, options } = this.#host;
    const isAsking = stored.factsOf(this.#file).run === "waiting";
    const questions = isAsking ? await openQuestions(read, options.paths) : [];
    // It may have been opened and answered meanwhile.
    if (this.#host.live(this.id) !== undefined) return this.#pendingWork();
    this.#host.noteQuestions(this.id, questions);
    const left = entries.findLast((entry) => storedMessages(entry, this.id) !== undefined);
    const messages = left === undefined ? [] : (storedMessages(left, this.id) ?? []);
    const queue = messages.map(({ text }, at) => ({ id: String(at), text }));
    return { questions, queue, held: queue.length > 0 };
  }
}

function modeIn(entries: SessionContent["entries"]): string | undefined {
  return entries.findLast((entry) => entry.type === "mode_change")?.mode;
}

/** The error for a question that copies of the session also have. */
function ambiguousQuestion(ids: readonly string[]): Refusal {
  const detail = `Several sessions have this question. Name one as sessionId: ${ids.join(", ")}.`;
  return conflict(detail, [], "ambiguous");
}

/** The error for a session whose folder is unknown: its readable part can be copied. */
function unknownFolder(path: string): Refusal {
  readSession(path);
  const detail = "Where this session works is not known: the beginning of its file is damaged.";
  return conflict(`${detail} Go on with a copy of it.`, ["fork"], "damaged");
}

/** The pending questions of a session; none if it is unreadable, so that other sessions still show theirs. */
async function storedQuestions({ path }: SessionFile, paths: UserPaths): Promise<readonly Question[]> {
  try {
    return await openQuestions(readSession(path), paths);
  } catch {
    // Opening the session reports the problem.
    return [];
  }
}
