import { isAbsolute } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { CodingSessionOptions } from "../../coding/session/coding-session.ts";
import { openQuestions } from "../../coding/session/pending-questions.ts";
import { createCodingSession } from "../../coding/session/prepare-coding-session.ts";
import type { UndoLimits } from "../../coding/settings/config-schema.ts";
import { existingFolder, type UserPaths } from "../../coding/settings/paths.ts";
import { sessionStore } from "../../coding/setup/open-session.ts";
import type { Clock } from "../../core/base/async.ts";
import { newUuid } from "../../core/base/ids.ts";
import { defined } from "../../core/base/json.ts";
import { counted, type Redaction, shellArgument } from "../../core/base/text.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import { knownModelInfo } from "../../providers/model-info.ts";
import { badRequest, conflict, notFound, type Refusal } from "../../server/refusal.ts";
import type {
  ListedSession,
  OpenApproval,
  QuestionAnswer,
  SessionPage,
  SessionRequest,
  SessionState,
} from "../../server/server-api.ts";
import { listedOf, type SessionFacts } from "../../server/session-facts.ts";
import type { HostedSession, ListQuery, SessionHost } from "../../server/session-host.ts";
import { type DamagedLine, readSession } from "../../session/read-session.ts";
import type { SessionFile } from "../../session/session-store.ts";
import type { Question } from "../../view/question.ts";
import { KeptSession, type SessionKeeper } from "./kept-session.ts";
import { KeptSessions } from "./kept-sessions.ts";
import { ServedSession } from "./served-session.ts";
import { SessionChannel } from "./session-channel.ts";

/** Options of a {@link CodingHost}. */
export interface CodingHostOptions {
  readonly paths: UserPaths;
  /** The options of all sessions; its folder is where sessions begin that name none. */
  readonly session: CodingSessionOptions & { readonly cwd: string };
  readonly undoLimits?: UndoLimits | undefined;
  readonly readOnly: boolean;
  readonly clock: Clock;
  readonly redaction: Redaction | undefined;
  /** Hears of sessions that could not be given back as they should. */
  readonly onError: (error: unknown) => void;
}

/**
 * The sessions of a user: those in files, whoever wrote them, and those at work here. A session is open, and
 * nobody else's to write, only as long as something happens in it.
 */
export class CodingHost implements SessionHost, SessionKeeper {
  readonly options: CodingHostOptions;
  readonly kept: KeptSessions;
  readonly #open = new Map<string, Promise<ServedSession>>();
  /** Sessions that are being given back: until then they cannot be opened anew. */
  readonly #closing = new Map<string, Promise<void>>();
  /** Those among them that have been opened. */
  readonly #ready = new Map<string, ServedSession>();
  readonly #channels = new Map<string, SessionChannel>();
  /** The options that a session was begun with, for all its runs. */
  readonly #choices = new Map<string, CodingSessionOptions>();
  /** Questions that were seen here, and whose they are: a copy of a session has those that waited in it. */
  readonly #asked = new Map<string, Set<string>>();
  /** Windows of models that were at work here: what only settings or a server of models tell. */
  readonly #windows = new Map<string, number | undefined>();
  /** Damaged lines that were told of, by the path of their file. */
  readonly #damage = new Map<string, number>();
  #isClosed = false;

  constructor(options: CodingHostOptions) {
    this.options = options;
    this.kept = new KeptSessions(sessionStore(options.paths), options.clock, options.redaction);
  }

  async list(query: ListQuery): Promise<SessionPage> {
    const { files, next, searched } = await this.kept.page(query);
    const sessions: ListedSession[] = [];
    for (const { passages, ...file } of files) {
      sessions.push({ ...this.listed(file), ...defined({ passages }) });
      await setImmediate();
    }
    return { sessions, ...defined({ next, searched }) };
  }

  listed(file: SessionFile): ListedSession {
    const facts = listedOf(this.kept.factsOf(file));
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
    const file = this.kept.file(id) ?? this.#removed(id);
    return file === undefined ? undefined : new KeptSession(this, file);
  }

  async start({ cwd, prompt, model, permissionMode, limits }: SessionRequest): Promise<string> {
    const { session } = this.options;
    if (cwd !== undefined && !isAbsolute(cwd)) throw badRequest("cwd must be an absolute path.");
    const folder = cwd === undefined ? session.cwd : existingFolder(cwd, "cwd");
    const sessionId = newUuid();
    const choice: CodingSessionOptions = {
      ...session,
      ...defined({ model, permissionMode: permissionMode as PermissionMode | undefined }),
      settings: { ...session.settings, ...limits },
    };
    const served = await this.#opening(sessionId, { ...choice, cwd: folder, sessionId });
    try {
      await served.send({ text: prompt, when: "now" });
    } catch (error) {
      // Closed with nothing in it, it leaves no file.
      await this.#release(sessionId, served);
      throw error;
    }
    this.#choices.set(sessionId, choice);
    return sessionId;
  }

  async approvals(): Promise<readonly OpenApproval[]> {
    const all: OpenApproval[] = [];
    for (const id of this.#open.keys()) {
      const questions = this.served(id)?.session.questions ?? [];
      for (const question of questions) all.push({ ...question, sessionId: id });
    }
    for await (const file of this.kept.waiting()) {
      const { sessionId } = file;
      const left = this.#open.has(sessionId) ? [] : await leftQuestions(file, this.options.paths);
      // It may have been opened meanwhile, and answered.
      if (!this.#open.has(sessionId)) for (const question of left) all.push({ ...question, sessionId });
    }
    for (const question of all) this.seen(question.sessionId, [question]);
    return all.sort((left, right) => left.time - right.time);
  }

  /** Tells of damage to a session file, once until there is more of it. */
  tellDamage({ path }: SessionFile, damaged: readonly DamagedLine[]): void {
    const [first] = damaged;
    if (first === undefined || this.#damage.get(path) === damaged.length) return;
    this.#damage.set(path, damaged.length);
    const lines = `${counted(damaged.length, "damaged line")} of ${path}`;
    const where = `line ${first.line}: ${first.reason}${damaged.length === 1 ? "" : ", …"}`;
    const message = `${lines} left out (${where}); see nano-agent sessions verify ${shellArgument(path)}`;
    this.options.session.onNotice?.({ level: "warning", code: "other", message });
  }

  /** Remembers whose questions these are: they may be answered later. */
  seen(sessionId: string, questions: readonly { readonly id: string }[]): void {
    for (const { id } of questions) this.#asked.set(id, (this.#asked.get(id) ?? new Set()).add(sessionId));
  }

  async answer(id: string, answer: QuestionAnswer): Promise<void> {
    const { sessionId: wanted } = answer;
    const isMeant = (sessionId: string): boolean => sessionId === (wanted ?? sessionId);
    await this.approvals();
    // Those that were answered count: an answer that comes twice is not meant for a copy.
    const meant = [...(this.#asked.get(id) ?? [])].filter(isMeant);
    const [sessionId] = meant;
    if (sessionId === undefined) throw notFound("open question of this id");
    if (meant.length > 1) throw ambiguous(meant);
    const file = this.kept.file(sessionId);
    const served = this.served(sessionId) ?? (file && (await this.reopened(file)));
    if (served?.answer(id, answer) !== true)
      throw conflict("The question was answered, or nobody waits any more.", [], "answered");
  }

  facts(): AsyncIterable<SessionFacts> {
    return this.kept.facts();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = [...this.#closing.values()];
    const open = [...this.#open.values()].map(async (opening) =>
      (await opening.catch(() => undefined))?.close(),
    );
    await Promise.all([...closing, ...open, this.kept.close()]);
  }

  /** The session if this process works on it. */
  served(id: string): ServedSession | undefined {
    return this.#ready.get(id);
  }

  /** Opens a session to work on it. Throws `conflict` where another process does. */
  async reopened({ sessionId, path }: SessionFile): Promise<ServedSession> {
    const known = this.#open.get(sessionId);
    if (known !== undefined) return known;
    const { cwd } = this.kept.factsOf({ sessionId, path } as SessionFile);
    if (cwd === "") throw withoutFolder(path);
    const choice = this.#choices.get(sessionId) ?? this.options.session;
    return this.#opening(sessionId, { ...choice, cwd, resume: { id: sessionId } });
  }

  windowOf(model = ""): number | undefined {
    const [, provider = "", id = ""] = /^([^/]*)\/(.*)$/.exec(model) ?? [];
    return this.#windows.get(model) ?? knownModelInfo(provider, id)?.contextWindow;
  }

  channel(file: SessionFile): SessionChannel {
    const { sessionId: id, path } = file;
    let channel = this.#channels.get(id);
    if (channel === undefined) {
      const state = (): SessionState => this.stateOf(file);
      this.#channels.set(id, (channel = new SessionChannel({ path, state, clock: this.options.clock })));
    }
    return channel;
  }

  stateOf(file: SessionFile): SessionState {
    const served = this.served(file.sessionId);
    if (served !== undefined) return served.state;
    const { run } = this.kept.factsOf(file);
    if (run === "waiting") return "waiting";
    return run === "open" && this.kept.isWritten(file) ? "running" : "idle";
  }

  /** A session at work here whose file somebody has removed: it can be stopped. */
  #removed(sessionId: string): SessionFile | undefined {
    const path = this.served(sessionId)?.session.info.path;
    return path === undefined
      ? undefined
      : { sessionId, path, bytes: 0, changedAt: this.options.clock.now() };
  }

  #opening(id: string, options: CodingSessionOptions): Promise<ServedSession> {
    if (this.#isClosed) throw conflict("The server is ending.", [], "ending");
    const opening = this.#begin(id, options);
    this.#open.set(id, opening);
    opening.catch(() => this.#open.delete(id));
    return opening;
  }

  async #begin(id: string, options: CodingSessionOptions): Promise<ServedSession> {
    await this.#closing.get(id);
    const session = await createCodingSession(options);
    const served = new ServedSession({
      session,
      clock: this.options.clock,
      redaction: this.options.redaction,
      channel: () => this.#channels.get(id),
      onQuiet: () => void this.#release(id, served),
    });
    this.#ready.set(id, served);
    const { name, windowTokens } = session.info.model;
    this.#windows.set(name, windowTokens);
    return served;
  }

  /** Gives a session back. Whoever wants it meanwhile waits, and opens it anew. */
  async #release(id: string, served: ServedSession): Promise<void> {
    this.#ready.delete(id);
    this.#open.delete(id);
    const closing = served.close().catch(this.options.onError);
    this.#closing.set(id, closing);
    await closing;
    if (this.#closing.get(id) === closing) this.#closing.delete(id);
  }
}

/** A question that copies of a session have too. */
function ambiguous(ids: readonly string[]): Refusal {
  const detail = `Several sessions have this question. Name one as sessionId: ${ids.join(", ")}.`;
  return conflict(detail, [], "ambiguous");
}

/** Of a session whose folder is not known: what can be read of it can be copied. */
function withoutFolder(path: string): Refusal {
  readSession(path);
  const detail = "Where this session works is not known: the beginning of its file is damaged.";
  return conflict(`${detail} Go on with a copy of it.`, ["fork"], "damaged");
}

/** The questions a session was left with; none where it cannot be read: others have theirs all the same. */
async function leftQuestions({ path }: SessionFile, paths: UserPaths): Promise<readonly Question[]> {
  try {
    return await openQuestions(readSession(path), paths);
  } catch {
    // Whoever opens the session is told what is wrong with it.
    return [];
  }
}
