import type { AgentEvent } from "../../core/agent/entries.ts";
import { invalidArgument } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { createAskTool } from "../../tools/ask-tool.ts";
import { removeStaleTemporaryFiles } from "../../tools/files/write-atomically.ts";
import type { Notice } from "../../view/notice.ts";
import type { Outcome } from "../../view/outcome.ts";
import type { Question } from "../../view/question.ts";
import { SHELL_NOTE, sharedText } from "../../view/session-notes.ts";
import type { SessionView, ViewChange } from "../../view/view.ts";
import { type HostView, ViewFold } from "../../view/view-fold.ts";
import type { CodingSession, SessionInfo, SessionRun } from "./coding-session.ts";
import { createPlanTool } from "./plan-tool.ts";
import { Runs } from "./runs.ts";
import type { SessionParts } from "./session-agent.ts";
import { rewindPoints, sessionInfo, sessionStats } from "./session-info.ts";
import { Listeners, listenerFailure } from "./session-notices.ts";
import type { SessionQueue } from "./session-queue.ts";

const loadRewind = () => import("./rewind-session.ts");

/** The {@link CodingSession} over a composed agent. */
export class LiveSession implements CodingSession {
  readonly queue: SessionQueue;
  readonly #parts: SessionParts;
  readonly #onListenerError = (error: unknown): void => this.#parts.notices.add(listenerFailure(error));
  readonly #events = new Listeners<[event: AgentEvent]>(this.#onListenerError);
  readonly #askTool = createAskTool();
  readonly #planTool = createPlanTool(
    () => this.#parts.current.mode,
    () => this.#parts.questions.takesValues,
    (mode) => this.setMode(mode),
  );
  readonly #runs: Runs;
  readonly #changes = new Listeners<[change: ViewChange]>(this.#onListenerError);
  /** Background commands from earlier ended with the process that started them. */
  readonly #openedAt = Date.now();
  readonly #endedJobs: HostView["endedJobs"];
  #fold: ViewFold | undefined;
  #operation: string | undefined;
  #cleanup: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { composed, current, notices, settings, telemetry } = parts;
    this.#runs = new Runs(parts, {
      beforeRun: () => {
        this.#offerQuestions();
        return current.recordMode();
      },
      onEvent: (event) => this.#onEvent(event),
      onChange: () => this.refreshView(),
      onFailure: (outcome) => this.#updateView((fold) => fold.fail(outcome)),
      isBlocked: () => this.#operation !== undefined || this.#closing !== undefined,
    });
    this.queue = this.#runs.queue;
    assertUntil(settings.config.values.until);
    this.#runs.until = settings.config.values.until;
    this.#endedJobs = composed.builtin.shell.watchJobs(() => this.refreshView());
    notices.listen((notice) => this.#updateView((fold) => fold.notice(notice)));
    if (telemetry !== undefined) this.#events.add(telemetry.observe);
  }

  /** Restores the session's model, queue and open questions. */
  async begin(): Promise<void> {
    const { composed, current, session, notices, questions } = this.#parts;
    await current.resume(notices);
    notices.add(current.notice);
    composed.hooks?.start(session.resumeFlags() === undefined ? "startup" : "resume");
    await questions.restore();
    this.queue.restore(session);
    this.#offerQuestions();
  }

  get id(): string {
    return this.#parts.current.agent.sessionId;
  }

  get info(): SessionInfo {
    return sessionInfo(this.#parts);
  }

  get notices(): readonly Notice[] {
    return this.#parts.notices.list;
  }

  get view(): SessionView {
    return this.#openFold().view;
  }

  get lastOutcome(): Outcome | undefined {
    return this.#runs.lastOutcome;
  }

  get questions(): readonly Question[] {
    return this.#parts.questions.questions;
  }

  get until(): string | undefined {
    return this.#runs.until;
  }

  readonly onNotice: CodingSession["onNotice"] = (listener) => this.#parts.notices.listen(listener);
  readonly onEvent: CodingSession["onEvent"] = (listener) => this.#events.add(listener);
  readonly onChange: CodingSession["onChange"] = (listener) => {
    this.#openFold();
    return this.#changes.add(listener);
  };
  readonly stats: CodingSession["stats"] = () => sessionStats(this.#parts);
  readonly status: CodingSession["status"] = () => this.#parts.composed.plugins.status();
  readonly rewindPoints: CodingSession["rewindPoints"] = () =>
    rewindPoints(this.#parts.session.journal.entries());
  readonly unsteer: CodingSession["unsteer"] = (id) => this.queue.unsteer(id);
  readonly stop: CodingSession["stop"] = (reason = "The run was stopped.") => this.#runs.stop(reason);
  readonly ask: CodingSession["ask"] = (question, signal) => this.#parts.questions.askValue(question, signal);
  readonly steer: CodingSession["steer"] = (input) => this.#open.queue.steer(input);
  readonly answer: CodingSession["answer"] = (id, reply) => this.#open.#parts.questions.answer(id, reply);
  readonly addTools: CodingSession["addTools"] = (tools) => this.#open.#parts.current.addTools(tools);
  readonly removeTools: CodingSession["removeTools"] = (names) => this.#parts.current.removeTools(names);
  readonly callTool: CodingSession["callTool"] = async (name, input, options) =>
    this.#open.#runs.callTool(name, input, options?.signal);

  readonly setModel: CodingSession["setModel"] = async (name) => {
    await this.#open.#parts.current.setModel(name);
    this.refreshView();
  };
  readonly setEffort: CodingSession["setEffort"] = async (effort) => {
    await this.#open.#parts.current.setEffort(effort);
    this.refreshView();
  };
  readonly setMode: CodingSession["setMode"] = async (mode) => {
    await this.#open.#parts.current.setMode(mode);
    this.refreshView();
  };
  readonly setUntil: CodingSession["setUntil"] = (command) => {
    assertUntil(command);
    this.#open.#runs.until = command;
    this.refreshView();
  };

  readonly compact: CodingSession["compact"] = (instructions) =>
    this.#exclusively("compact()", () =>
      this.#parts.current.agent.compact({
        onEvent: (event) => this.#onEvent(event),
        ...omitUndefined({ instructions }),
      }),
    );
  readonly previewCompaction: CodingSession["previewCompaction"] = () =>
    this.#exclusively("previewCompaction()", () => this.#parts.current.agent.previewCompaction());
  readonly undo: CodingSession["undo"] = (options = {}) =>
    this.#changeJournal("undo()", async () => (await loadRewind()).undoFiles(this.#parts, options));
  readonly redo: CodingSession["redo"] = (options = {}) =>
    this.#changeJournal("redo()", async () => (await loadRewind()).redoFiles(this.#parts, options));
  readonly rewind: CodingSession["rewind"] = (entryId, options = {}) =>
    this.#changeJournal("rewind()", async () =>
      (await loadRewind()).rewindSession(this.#parts, entryId, options),
    );
  readonly fork: CodingSession["fork"] = (entryId) =>
    this.#exclusively("fork()", async () => (await loadRewind()).forkSession(this.#parts, entryId));

  readonly send: CodingSession["send"] = (input, options = {}): SessionRun => {
    this.#assertIdle("send()");
    assertUntil(options.until);
    // The hold was for messages that are gone.
    if (this.queue.items.length === 0) this.queue.release();
    return this.#runs.start({ input, options }).handle;
  };

  readonly onQuestion: CodingSession["onQuestion"] = (listener, scope) => {
    const end = this.#parts.questions.onQuestion(listener, scope);
    // A run keeps the tools it started with.
    if (!this.#runs.isRunning) this.#offerQuestions();
    return end;
  };

  readonly shell: CodingSession["shell"] = async (command, options = {}) => {
    const { shared = false, signal = new AbortController().signal } = options;
    const { composed, current, settings } = this.#open.#parts;
    const outcome = await composed.builtin.shell.run(command, { cwd: settings.cwd, signal });
    const note = { command, ...outcome, shared };
    const entry = await current.agent.note(SHELL_NOTE, note);
    // During a run, the run itself publishes such notes.
    if (!this.#runs.isRunning) this.#onEvent(entry);
    if (shared) await current.agent.observe(sharedText(note));
    return outcome;
  };

  killNow(): void {
    this.#parts.composed.killNow();
    this.#runs.abandon();
    this.#closing ??= Promise.resolve();
    this.#parts.session.saved?.release();
    this.refreshView();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  refreshView(): void {
    this.#updateView((fold) => fold.host(this.#hostView()));
  }

  /** A restored question was answered. */
  resumeAnswered(): void {
    this.#runs.resumeAnswered();
  }

  /** Returns this session; throws once it is closed. */
  get #open(): this {
    if (this.#closing !== undefined) throw invalidArgument("The session is closed: open it again.");
    return this;
  }

  /** Offers the tools that ask a person if one can answer, and plans also if a plan is the run's answer. */
  #offerQuestions(): void {
    const { composed, current, questions } = this.#parts;
    const { tools } = current.agent;
    const offers = [
      [this.#askTool, questions.takesValues],
      [this.#planTool, questions.takesValues || current.mode === "plan"],
    ] as const;
    for (const [tool, isWanted] of offers) {
      const known = tools.get(tool.name);
      if (isWanted && known === undefined && !composed.gate.forbids(tool.name)) tools.add(tool);
      if (!isWanted && known === tool) tools.remove(tool.name);
    }
  }

  #onEvent(event: AgentEvent): void {
    const { composed, settings } = this.#parts;
    // Prepare for the command while the model is still writing it.
    if (event.type === "tool_call_start" && event.name === "bash")
      void Promise.all([composed.builtin.shell.prepare(), composed.checkpoints?.prepare()]);
    // During the first request, so that the start does not wait for it.
    if (event.type === "turn_start") this.#cleanup ??= removeHalfWrittenFiles(settings.cwd);
    this.#events.call(event);
    this.#updateView((fold) => {
      fold.apply(event);
      // It may have been a waiting message.
      if (event.type === "user_message") fold.host(this.#hostView());
    });
  }

  async #exclusively<T>(what: string, work: () => Promise<T>): Promise<T> {
    this.#assertIdle(what);
    this.#operation = what;
    this.refreshView();
    try {
      return await work();
    } finally {
      this.#operation = undefined;
      this.refreshView();
      this.#runs.sendWaiting();
    }
  }

  /** Does work that changes the journal without the agent, then recreates the agent. */
  #changeJournal<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { current, questions } = this.#parts;
    return this.#exclusively(what, async () => {
      try {
        return await work();
      } finally {
        await current.renew();
        questions.clear("The conversation has changed in the meantime.");
        await questions.restore();
        if (this.#fold !== undefined) {
          this.#fold = this.#buildFold([]);
          this.#changes.call({ items: [], rest: true, reset: true });
        }
      }
    });
  }

  #openFold(): ViewFold {
    return (this.#fold ??= this.#buildFold(this.notices));
  }

  #buildFold(notices: readonly Notice[]): ViewFold {
    const fold = new ViewFold(this.#hostView());
    for (const entry of this.#parts.session.journal.entries()) fold.apply(entry);
    fold.endJobs(this.#openedAt);
    if (this.#state === "idle") fold.endAbandonedRun();
    for (const notice of notices) fold.notice(notice);
    fold.take();
    return fold;
  }

  #updateView(work: (fold: ViewFold) => void): void {
    if (this.#fold === undefined) return;
    work(this.#fold);
    const change = this.#fold.take();
    if (change.items.length > 0 || change.rest) this.#changes.call(change);
  }

  #hostView(): HostView {
    const { effort, mode, view } = this.#parts.current;
    return {
      state: this.#state,
      queue: this.queue.items,
      queueHeld: this.queue.held,
      steering: this.queue.steering.map(({ id, text }) => ({ id, text })),
      questions: this.questions,
      model: view.name,
      effort,
      mode,
      until: this.until,
      windowTokens: view.windowTokens,
      endedJobs: this.#endedJobs,
    };
  }

  get #state(): SessionView["state"] {
    if (this.#closing !== undefined) return "closed";
    if (this.#runs.isStopping) return "stopping";
    if (this.questions.length > 0) return "waiting";
    return this.#runs.isRunning || this.#operation !== undefined ? "running" : "idle";
  }

  #assertIdle(what: string): void {
    const { isRunning } = this.#open.#runs;
    if (this.#operation !== undefined)
      throw invalidArgument(`${what} while ${this.#operation} is still running: wait for it.`);
    if (!isRunning) return;
    throw invalidArgument(
      `${what} while a run is in progress: steer() it, put the message into the queue, or stop() it first.`,
    );
  }

  async #close(): Promise<void> {
    const { composed, session, questions, telemetry } = this.#parts;
    await this.#runs.close("The session was closed.");
    questions.clear("The session was closed.");
    await composed.hooks?.end();
    await Promise.all([composed.dispose(), this.#cleanup]);
    await telemetry?.flush();
    await session.saved?.close();
    this.refreshView();
  }
}

/** Removes files that killed runs left half written. Bounded, since a workspace may be a whole disk. */
async function removeHalfWrittenFiles(cwd: string): Promise<void> {
  await removeStaleTemporaryFiles(cwd, { recursive: true, maxEntries: 20_000 }).catch(() => []);
}

function assertUntil(command: string | undefined): void {
  if (command === undefined || (typeof command === "string" && command.trim() !== "")) return;
  throw invalidArgument(
    `until is ${JSON.stringify(command)}: pass a shell command, such as "npm test", or leave it out.`,
  );
}
