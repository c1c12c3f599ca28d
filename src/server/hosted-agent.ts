import type { Agent } from "../agent/agent.ts";
import type { AgentEvent, JournalEntry, NewEntry } from "../core/agent/entries.ts";
import type { Journal, LocalJournal } from "../core/agent/journal.ts";
import type { ApprovalRequest, ApprovalAnswer as GateAnswer } from "../core/agent/ports.ts";
import type { Clock } from "../core/base/async.ts";
import { newId } from "../core/base/ids.ts";
import { omitUndefined } from "../core/base/json.ts";
import { isNormalEnd } from "../core/base/stop-reason.ts";
import type { Redaction } from "../core/base/text.ts";
import { messageText } from "../core/message/message.ts";
import { excerptOf } from "../session/search/search-words.ts";
import type { Question } from "../view/question.ts";
import { StreamRedactor } from "./presenter.ts";
import { badRequest, conflict, notFound } from "./refusal.ts";
import type {
  ListedSession,
  NewMessage,
  PassingEvent,
  QuestionAnswer,
  SessionChange,
  SessionDetail,
  SessionFileState,
  SessionState,
  UndoResult,
  WaitingMessage,
} from "./server-api.ts";
import { changesIn, filesAt } from "./session-changes.ts";
import { FactsFold, listedOf, type SessionFacts } from "./session-facts.ts";
import type { EntryTail, HostedSession } from "./session-host.ts";

export interface HostedAgentOptions {
  readonly id: string;
  readonly cwd: string;
  readonly agent: Agent;
  readonly journal: WatchedJournal;
  /** Ids of the entries counted by another session. */
  readonly copied: ReadonlySet<string>;
  readonly copy: (entries: readonly JournalEntry[]) => Promise<string>;
  readonly clock: Clock;
  readonly redaction: Redaction | undefined;
  readonly onError: ((error: unknown) => void) | undefined;
}

interface PendingQuestion {
  readonly question: Question;
  readonly reply: (answer: GateAnswer) => void;
}

export class HostedAgent implements HostedSession {
  readonly id: string;
  readonly #options: HostedAgentOptions;
  readonly #fold: FactsFold;
  readonly #pieces: StreamRedactor;
  readonly #listeners = new Set<(passing: PassingEvent | "entries") => void>();
  readonly #pending = new Map<string, PendingQuestion>();
  #queue: readonly WaitingMessage[] = [];
  /** Texts that were sent but are not in the journal yet, by steering id; `""`: the input. */
  readonly #sent = new Map<string, string>();
  #isQueueHeld = false;
  #running: Promise<void> | undefined;
  #state: SessionState = "idle";

  constructor(options: HostedAgentOptions) {
    const { id, journal, copied } = options;
    this.id = id;
    this.#options = options;
    const { redaction } = options;
    this.#fold = new FactsFold(redaction, (entry) => copied.has(entry.id));
    this.#pieces = new StreamRedactor(redaction);
    for (const entry of journal.entries()) this.#fold.apply(entry);
    journal.onEntry = (entry) => {
      this.#fold.apply(entry);
      if (entry.type === "user_message" && entry.scope === undefined && RECEIVED_SOURCES.has(entry.source))
        this.#sent.delete(entry.steeringId ?? "");
      this.#tell("entries");
    };
  }

  get questions(): readonly Question[] {
    return [...this.#pending.values()].map(({ question }) => question);
  }

  facts(): SessionFacts {
    return this.#fold.facts(this.#options.cwd);
  }

  listed(): ListedSession {
    return { id: this.id, state: this.#state, ...listedOf(this.facts()) };
  }

  /** Excerpts around a text. Parts of secrets never match, so that a search cannot confirm a guess. */
  passages(wanted: string): readonly string[] {
    const { journal, redaction } = this.#options;
    const found: string[] = [];
    for (const entry of journal.entries()) {
      if (found.length === MAX_PASSAGES) break;
      if (entry.type !== "user_message" && entry.type !== "assistant_message") continue;
      const text = messageText(entry.message, "\n");
      if (!containsText(text, wanted)) continue;
      const shown = redaction?.text(text) ?? text;
      if (containsText(shown, wanted)) found.push(excerptOf(shown, wanted, undefined));
    }
    return found;
  }

  async detail(): Promise<SessionDetail> {
    const { agent } = this.#options;
    return {
      ...this.listed(),
      messages: agent.getState().messages,
      ...omitUndefined({ windowTokens: agent.model.info?.contextWindow }),
      readOnly: false,
      queue: this.#queue,
      queueHeld: this.#isQueueHeld,
      questions: this.questions,
    };
  }

  tail(after: string | undefined): EntryTail {
    const entries = this.#options.journal.entries();
    let next = after === undefined ? 0 : entries.findIndex(({ id }) => id === after) + 1;
    let isLost = after !== undefined && next === 0;
    return {
      *read() {
        if (isLost) yield "reset";
        isLost = false;
        for (let entry = entries[next]; entry !== undefined; entry = entries[next]) {
          next++;
          yield entry;
        }
      },
    };
  }

  listen(listener: (passing: PassingEvent | "entries") => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  async current(): Promise<readonly PassingEvent[]> {
    return currentEvents(this.#state, this.questions, { queue: this.#queue, held: this.#isQueueHeld });
  }

  async send({ text, when }: NewMessage): Promise<void> {
    const { agent } = this.#options;
    if (this.#running === undefined && when === "now") this.#run(text);
    else if (when === "now") this.#sent.set(agent.steer(text), text);
    else {
      // No run is in progress to wait for, so held messages go out with this one.
      if (this.#running === undefined) this.#isQueueHeld = false;
      this.#setQueue([...this.#queue, { id: newId("message"), text }]);
      if (this.#running === undefined) this.#sendQueue();
    }
  }

  async stop(): Promise<void> {
    if (this.#running === undefined)
      throw conflict("No run is in progress.", ["messages", "fork"], "not_running");
    this.#isQueueHeld = true;
    this.#setQueue(this.#queue);
    this.#options.agent.stop("The run was stopped.");
  }

  async fork(from: string | undefined): Promise<string> {
    const entries = this.#options.journal.entries();
    const end = from === undefined ? entries.length : entries.findIndex(({ id }) => id === from) + 1;
    if (end === 0) throw notFound("entry of this id in the session");
    return this.#options.copy(entries.slice(0, end));
  }

  async undo(): Promise<UndoResult> {
    throw conflict("Nothing is kept for undo in this session.", ["messages", "fork"], "no_undo");
  }

  redo(): Promise<UndoResult> {
    return this.undo();
  }

  async changes(): Promise<readonly SessionChange[]> {
    const { journal, cwd } = this.#options;
    return changesIn(journal.entries(), cwd).map(({ change }) => change);
  }

  async files(at: string | undefined): Promise<readonly SessionFileState[]> {
    const { journal, cwd } = this.#options;
    return [...filesAt(journal.entries(), cwd, at).values()].map(({ path, kind }) => ({ path, kind }));
  }

  async fileText(): Promise<string | undefined> {
    return undefined;
  }

  answer(id: string, { choice, reason, rule, value }: QuestionAnswer): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    if (!pending.question.choices.some((each) => each.choice === choice))
      throw badRequest(`${choice} is not offered. Choose once, no or stop.`);
    if (rule !== undefined || value !== undefined)
      throw badRequest("The question offers no rule and asks for no value: leave rule and value out.");
    this.#close(id);
    pending.reply({
      approved: choice === "once",
      ...omitUndefined({ reason }),
      ...(choice === "stop" ? { stop: true } : {}),
    });
    return true;
  }

  async close(): Promise<void> {
    this.#isQueueHeld = true;
    this.#options.agent.stop("The server ends.");
    await this.#running;
  }

  #run(text: string | undefined): void {
    this.#running = this.#perform(text);
    this.#updateState();
  }

  async #perform(text: string | undefined): Promise<void> {
    const { agent, onError } = this.#options;
    let isContinuation = false;
    if (text !== undefined) this.#sent.set("", text);
    try {
      const { stopReason } = await agent.run(text, {
        approve: (request) => this.#ask(request),
        onEvent: (event) => this.#onEvent(event),
      });
      isContinuation = isNormalEnd(stopReason);
    } catch (error) {
      onError?.(error);
      this.#tell({ type: "event", event: { type: "warning", message: String(error) } });
    }
    this.#running = undefined;
    this.#requeueUnreceived();
    if (!isContinuation) this.#isQueueHeld ||= this.#queue.length > 0;
    if (agent.pendingSteering.length > 0 && isContinuation) this.#run(undefined);
    else this.#sendQueue();
    this.#updateState();
  }

  /** Requeues accepted messages that reached no journal, so that none is lost. */
  #requeueUnreceived(): void {
    const steering = new Set(this.#options.agent.pendingSteering.map(({ id }) => id));
    const unreceived = [...this.#sent].filter(([id]) => !steering.has(id));
    if (unreceived.length === 0) return;
    for (const [id] of unreceived) this.#sent.delete(id);
    this.#isQueueHeld = true;
    this.#setQueue([...unreceived.map(([, text]) => ({ id: newId("message"), text })), ...this.#queue]);
  }

  #sendQueue(): void {
    if (this.#queue.length === 0 || this.#isQueueHeld) return;
    const text = this.#queue.map((message) => message.text).join("\n\n");
    this.#setQueue([]);
    this.#run(text);
  }

  #onEvent(event: AgentEvent): void {
    // Entries come from the journal, and the result repeats the whole conversation.
    const shown = this.#pieces.event(event);
    if (shown !== undefined && !("parent" in event) && event.type !== "done")
      this.#tell({ type: "event", event: shown });
  }

  #ask(request: ApprovalRequest): Promise<GateAnswer> {
    const { callId, agent, name: tool, input, decision, signal } = request;
    const question: Question = {
      id: newId("question"),
      type: "permission",
      time: this.#options.clock.now(),
      callId,
      tool,
      input,
      reason: decision.reason ?? "This call needs a yes.",
      choices: [{ choice: "once" }, { choice: "no" }, { choice: "stop" }],
      ...omitUndefined({ agent, runs: decision.runs }),
    };
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#close(question.id);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      const reply = (answer: GateAnswer): void => {
        signal.removeEventListener("abort", onAbort);
        resolve(answer);
      };
      this.#pending.set(question.id, { question, reply });
      this.#tell({ type: "question", question });
      this.#updateState();
    });
  }

  #close(id: string): void {
    if (!this.#pending.delete(id)) return;
    this.#tell({ type: "question_closed", id });
    this.#updateState();
  }

  #setQueue(queue: readonly WaitingMessage[]): void {
    this.#queue = queue;
    this.#tell({ type: "queue", queue, held: this.#isQueueHeld });
  }

  #updateState(): void {
    const state = this.#running === undefined ? "idle" : this.#pending.size > 0 ? "waiting" : "running";
    if (state === this.#state) return;
    this.#state = state;
    this.#tell({ type: "state", state });
  }

  #tell(passing: PassingEvent | "entries"): void {
    for (const listener of this.#listeners) listener(passing);
  }
}

const MAX_PASSAGES = 5;
const RECEIVED_SOURCES: ReadonlySet<string> = new Set(["input", "steering"]);

/** The events that tell a newly connected reader the current state. */
export function currentEvents(
  state: SessionState,
  questions: readonly Question[],
  queue: { readonly queue: readonly WaitingMessage[]; readonly held: boolean },
): readonly PassingEvent[] {
  return [
    { type: "state", state },
    { type: "queue", ...queue },
    ...questions.map((question): PassingEvent => ({ type: "question", question })),
  ];
}

function containsText(text: string, wanted: string): boolean {
  return text.toLowerCase().includes(wanted.toLowerCase());
}

/** A journal that reports each entry, and keeps all of them in memory. */
export class WatchedJournal implements LocalJournal {
  readonly sessionId: string;
  readonly #create: () => Journal | Promise<Journal>;
  readonly #entries: JournalEntry[] = [];
  #journal: Journal | Promise<Journal> | undefined;
  onEntry: (entry: JournalEntry) => void = () => undefined;

  private constructor(sessionId: string, create: () => Journal | Promise<Journal>) {
    this.sessionId = sessionId;
    this.#create = create;
  }

  static async wrap(journal: Journal): Promise<WatchedJournal> {
    const watched = new WatchedJournal(journal.sessionId, () => journal);
    for await (const entry of journal.entries()) watched.#entries.push(entry);
    await watched.ensureCreated();
    return watched;
  }

  /** A new journal, created with its first entry or by {@link ensureCreated}. */
  static lazy(sessionId: string, create: () => Journal | Promise<Journal>): WatchedJournal {
    return new WatchedJournal(sessionId, create);
  }

  /** Creates it unless that has happened already. Rejects if that fails. */
  async ensureCreated(): Promise<void> {
    this.#journal = await this.#created();
  }

  get file(): string | undefined {
    return this.#journal instanceof Promise ? undefined : this.#journal?.file;
  }

  entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  append(entry: NewEntry): JournalEntry | Promise<JournalEntry> {
    const journal = this.#created();
    const stored =
      journal instanceof Promise ? journal.then((kept) => kept.append(entry)) : journal.append(entry);
    if (stored instanceof Promise) return stored.then((each) => this.#tell(each));
    return this.#tell(stored);
  }

  async flush(): Promise<void> {
    await (await this.#journal)?.flush?.();
  }

  #created(): Journal | Promise<Journal> {
    return (this.#journal ??= this.#create());
  }

  #tell(entry: JournalEntry): JournalEntry {
    this.#entries.push(entry);
    this.onEntry(entry);
    return entry;
  }
}
