import type { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { parseDuration } from "../coding/settings/setting.ts";
import type { JournalEntry } from "../core/agent/entries.ts";
import { type Journal, MemoryJournal } from "../core/agent/journal.ts";
import type { Clock } from "../core/base/async.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { newUuid } from "../core/base/ids.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { Redaction } from "../core/base/text.ts";
import { HostedAgent, WatchedJournal } from "./hosted-agent.ts";
import { badRequest, conflict, notFound } from "./refusal.ts";
import type {
  ListedSession,
  OpenApproval,
  QuestionAnswer,
  SessionPage,
  SessionRequest,
} from "./server-api.ts";
import { type SessionFacts, sliceAfter } from "./session-facts.ts";
import type { HostedSession, ListQuery, SessionHost } from "./session-host.ts";

/** The session that an agent is made for. */
export interface AgentSeat {
  readonly id: string;
  /** As given in the request. */
  readonly cwd: string | undefined;
  readonly permissionMode: string | undefined;
  /**
   * Put these into the agent's options, after everything else: the journal, and the request's model and
   * limits.
   */
  readonly options: Pick<AgentOptions, "maxIterations" | "budget"> & {
    readonly journal: Journal;
    readonly model?: string;
  };
}

/** Makes the agent of a session: `({ options }) => new Agent({ model, tools, ...options })`. */
export type AgentMaker = (seat: AgentSeat) => Agent | Promise<Agent>;

/** Stores the journals of sessions. */
export interface AgentStore {
  /** Ids of all sessions. */
  list(): Promise<readonly string[]> | readonly string[];
  /** The journal of a session; `undefined` if there is none with this id. */
  open(id: string): Promise<Journal | undefined> | Journal | undefined;
  /** A new journal; for a copy it begins with `entries`, whose ids stay unchanged. */
  create(id: string, entries: readonly JournalEntry[]): Promise<Journal> | Journal;
}

class MemoryStore implements AgentStore {
  readonly #journals = new Map<string, Journal>();

  list(): readonly string[] {
    return [...this.#journals.keys()];
  }

  open(id: string): Journal | undefined {
    return this.#journals.get(id);
  }

  create(id: string, entries: readonly JournalEntry[]): Journal {
    const journal = new MemoryJournal({ sessionId: id, entries });
    this.#journals.set(id, journal);
    return journal;
  }
}

/** Sessions with agents made by the caller. */
export class AgentSessions implements SessionHost {
  readonly #make: AgentMaker;
  readonly #store: AgentStore;
  readonly #clock: Clock;
  readonly #redaction: Redaction | undefined;
  readonly #onError: ((error: unknown) => void) | undefined;
  readonly #open = new Map<string, Promise<HostedAgent | undefined>>();
  readonly #answered = new Set<string>();
  /** Journals of the opened sessions. Of shared entries, the first session opened counts them. */
  readonly #journals: WatchedJournal[] = [];

  /** `onError` receives errors from making a session's agent, and from runs that reject. */
  constructor(
    make: AgentMaker,
    store: AgentStore = new MemoryStore(),
    clock: Clock,
    redaction?: Redaction,
    onError?: (error: unknown) => void,
  ) {
    this.#make = make;
    this.#store = store;
    this.#clock = clock;
    this.#redaction = redaction;
    this.#onError = onError;
  }

  async list({ cwd, q, limit, before }: ListQuery): Promise<SessionPage> {
    const sessions: ListedSession[] = [];
    for await (const hosted of this.#opened(await this.#store.list())) {
      const listed = hosted.listed();
      if (cwd !== undefined && listed.cwd !== cwd) continue;
      const passages = q === undefined ? undefined : hosted.passages(q);
      if (passages === undefined) sessions.push(listed);
      else if (passages.length > 0) sessions.push({ ...listed, passages });
    }
    const { page, next } = sliceAfter(sessions, { limit, before });
    return { sessions: page, ...omitUndefined({ next }) };
  }

  async find(id: string): Promise<HostedSession | undefined> {
    return this.#opening(id);
  }

  async start(session: SessionRequest): Promise<string> {
    const id = newUuid();
    const journal = WatchedJournal.lazy(id, () => this.#store.create(id, []));
    const hosted = await this.#host(id, journal, session);
    // A request refused before this leaves no session behind.
    await journal.ensureCreated();
    this.#open.set(id, Promise.resolve(hosted));
    await hosted.send({ text: session.prompt, when: "now" });
    return id;
  }

  async approvals(): Promise<readonly OpenApproval[]> {
    const open: OpenApproval[] = [];
    for await (const hosted of this.#opened(this.#open.keys()))
      for (const question of hosted.questions) open.push({ ...question, sessionId: hosted.id });
    return open.sort((left, right) => left.time - right.time);
  }

  async answer(id: string, answer: QuestionAnswer): Promise<void> {
    for await (const hosted of this.#opened(this.#open.keys()))
      if (hosted.id === (answer.sessionId ?? hosted.id) && hosted.answer(id, answer)) {
        this.#answered.add(id);
        return;
      }
    if (this.#answered.has(id)) throw conflict("The question was answered.", [], "answered");
    throw notFound("open question of this id");
  }

  async *facts(): AsyncIterable<SessionFacts> {
    for await (const hosted of this.#opened(await this.#store.list())) yield hosted.facts();
  }

  async close(): Promise<void> {
    for await (const hosted of this.#opened(this.#open.keys())) await hosted.close();
  }

  /** The sessions with these ids. Reports and skips a session whose agent cannot be made. */
  async *#opened(ids: Iterable<string>): AsyncIterable<HostedAgent> {
    for (const id of ids) {
      const hosted = await this.#opening(id).catch((error: unknown) => {
        this.#onError?.(error);
        return undefined;
      });
      if (hosted !== undefined) yield hosted;
    }
  }

  #opening(id: string): Promise<HostedAgent | undefined> {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const opening = this.#reopen(id);
    this.#open.set(id, opening);
    const forget = (): boolean => this.#open.delete(id);
    opening.then((hosted) => hosted ?? forget(), forget);
    return opening;
  }

  async #reopen(id: string): Promise<HostedAgent | undefined> {
    const journal = await this.#store.open(id);
    return journal === undefined ? undefined : this.#host(id, await WatchedJournal.wrap(journal), undefined);
  }

  async #host(
    id: string,
    journal: WatchedJournal,
    session: SessionRequest | undefined,
  ): Promise<HostedAgent> {
    const { cwd, model, permissionMode } = session ?? {};
    const own = { journal, ...omitUndefined({ model }), ...limitsOf(session) };
    const agent = await this.#make({ id, cwd, permissionMode, options: own });
    if (agent.sessionId !== journal.sessionId)
      throw invalidArgument("The agent has its own journal: put the session options into its options.");
    await agent.ready();
    const copy = async (entries: readonly JournalEntry[]): Promise<string> => {
      const copyId = newUuid();
      await this.#store.create(copyId, entries);
      return copyId;
    };
    const copied = this.#sharedEntries(journal.entries());
    this.#journals.push(journal);
    const [clock, redaction, onError] = [this.#clock, this.#redaction, this.#onError];
    const of = { id, cwd: cwd ?? "", agent, journal };
    return new HostedAgent({ ...of, copied, copy, clock, redaction, onError });
  }

  /** Ids of the entries shared with a session that is already open, whichever of the two is the copy. */
  #sharedEntries(entries: readonly JournalEntry[]): ReadonlySet<string> {
    const count = Math.max(0, ...this.#journals.map((other) => commonLength(entries, other.entries())));
    return new Set(entries.slice(0, count).map(({ id }) => id));
  }
}

function commonLength(one: readonly JournalEntry[], other: readonly JournalEntry[]): number {
  const firstDifferent = one.findIndex(
    ({ id, time }, at) => id !== other[at]?.id || time !== other[at]?.time,
  );
  return firstDifferent === -1 ? one.length : firstDifferent;
}

function limitsOf(session: SessionRequest | undefined): Pick<AgentOptions, "maxIterations" | "budget"> {
  const { maxTurns, maxBudgetUsd, maxWallTime } = session?.limits ?? {};
  const wallTimeMs = maxWallTime === undefined ? undefined : parseDuration(maxWallTime);
  if (maxWallTime !== undefined && wallTimeMs === undefined)
    throw badRequest(
      `limits.maxWallTime ${JSON.stringify(maxWallTime)}: write a time such as "90s" or "10m".`,
    );
  const budget = omitUndefined({ usd: maxBudgetUsd, wallTimeMs });
  return {
    ...omitUndefined({ maxIterations: maxTurns }),
    ...(Object.keys(budget).length > 0 ? { budget } : {}),
  };
}
