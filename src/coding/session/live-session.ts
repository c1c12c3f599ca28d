import type { Agent } from "../../agent/agent.ts";
import type { AgentEvent, JournalEntry } from "../../core/agent/entries.ts";
import { type Json, misuse } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import type { Input } from "../../core/message/input.ts";
import type { ToolInput } from "../../core/message/message.ts";
import type { Effort } from "../../core/model/model.ts";
import type { Tool, ToolResult } from "../../core/tool/tool.ts";
import type { CompactionPreview } from "../../memory/context/compactor.ts";
import { assertPermissionMode, type PermissionMode } from "../../permission/permission-mode.ts";
import { createAskTool } from "../../tools/ask-tool.ts";
import { removeStaleTemporaryFiles } from "../../tools/files/temporary-file.ts";
import type { Notice, OnNotice } from "../../view/notice.ts";
import type { Outcome } from "../../view/outcome.ts";
import type {
  NewQuestion,
  Question,
  QuestionListener,
  QuestionReply,
  QuestionScope,
} from "../../view/question.ts";
import { SHELL_NOTE, sharedText } from "../../view/until-note.ts";
import type { SessionView, ViewChange } from "../../view/view.ts";
import { type HostView, ViewFold } from "../../view/view-fold.ts";
import type {
  CodingSession,
  CompactionResult,
  RewindOptions,
  RewindPoint,
  RewindReport,
  SendOptions,
  SessionInfo,
  SessionRun,
  SessionStats,
  ShellOutcome,
  UndoOptions,
  UndoReport,
} from "./coding-session.ts";
import { commandIn } from "./intake.ts";
import { ModelControl } from "./model-control.ts";
import { fault, Listeners } from "./notice-board.ts";
import { createPlanTool } from "./plan-tool.ts";
import { RunControl } from "./run-control.ts";
import { rewindPoints, sessionInfo, sessionStats } from "./session-info.ts";
import type { SessionParts } from "./session-parts.ts";
import type { SessionQueue } from "./session-queue.ts";

type Abortable = { readonly signal?: AbortSignal };

/** The {@link CodingSession} over a composed agent. */
export class LiveSession implements CodingSession {
  readonly queue: SessionQueue;
  readonly #parts: SessionParts;
  readonly #models: ModelControl;
  readonly #onFault = (error: unknown): void => this.#parts.notices.add(fault(error));
  readonly #events = new Listeners<[event: AgentEvent]>(this.#onFault);
  readonly #lateTools = new Map<string, Tool>();
  readonly #askTool = createAskTool();
  readonly #planTool = createPlanTool({
    mode: () => this.#mode,
    isAttended: () => this.#parts.desk.takesValues,
    setMode: (mode) => this.setMode(mode),
  });
  readonly #runs: RunControl;
  #agent: Agent;
  #mode: PermissionMode;
  /** A mode that was chosen before there was a conversation to record it in. */
  #unrecordedMode: PermissionMode | undefined;
  readonly #view: LiveView;
  readonly #endedJobs: HostView["endedJobs"];
  /** Other work at hand that a run must not overlap with. */
  #aside: string | undefined;
  #tidied: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#agent = parts.composed.agent;
    this.#mode = parts.settings.config.values.permissionMode ?? "default";
    this.#models = new ModelControl(parts.composed, () => this.#agent);
    this.#runs = new RunControl({
      parts,
      agent: () => this.#agent,
      beforeRun: () => {
        this.#offerQuestions();
        return this.#recordMode();
      },
      onEvent: (event) => this.#onEvent(event),
      onChange: () => this.changed(),
      onFailure: (outcome) => this.#view.failed(outcome),
      isBlocked: () => this.#aside !== undefined || this.#closing !== undefined,
      lendModel: (name) => this.#models.lend(name),
      isCommand: (text) => commandIn(text, parts.composed.commands()) !== undefined,
    });
    this.queue = this.#runs.queue;
    assertUntil(parts.settings.config.values.until);
    this.#runs.until = parts.settings.config.values.until;
    this.#endedJobs = parts.composed.builtin.watchJobs(() => this.changed());
    this.#view = new LiveView({
      entries: () => parts.session.journal.entries(),
      host: () => this.#hostView(),
      notices: () => this.notices,
      onFault: this.#onFault,
    });
    parts.notices.listen((notice) => this.#view.notice(notice));
    if (parts.telemetry !== undefined) this.#events.add(parts.telemetry.observe);
  }

  /** Takes up what the session was left with: its model, and questions that nobody has answered. */
  async begin(): Promise<void> {
    const { composed, session, notices } = this.#parts;
    if (await this.#models.resume(session, notices)) await this.#renew();
    notices.add(this.#models.notice);
    composed.hooks?.start(session.goOn() === undefined ? "startup" : "resume");
    await this.#parts.desk.restore();
    this.queue.restore(session);
    this.#offerQuestions();
  }

  get id(): string {
    return this.#agent.sessionId;
  }

  get info(): SessionInfo {
    const { view: model, effort } = this.#models;
    return sessionInfo(this.#parts, this.#agent, model, effort, this.#mode);
  }

  get notices(): readonly Notice[] {
    return this.#parts.notices.list;
  }

  onNotice(listener: OnNotice): () => void {
    return this.#parts.notices.listen(listener);
  }

  get view(): SessionView {
    return this.#view.view;
  }

  onChange(listener: (change: ViewChange) => void): () => void {
    return this.#view.listen(listener);
  }

  onEvent(listener: (event: AgentEvent) => void): () => void {
    return this.#events.add(listener);
  }

  send(input?: Input, options: SendOptions = {}): SessionRun {
    this.#assertIdle("send()");
    assertUntil(options.until);
    return this.#runs.start({ input, options }).handle;
  }

  steer(input: Input): string {
    this.#assertOpen();
    return this.queue.steer(input);
  }

  unsteer(id: string): string | undefined {
    return this.queue.unsteer(id);
  }

  get lastOutcome(): Outcome | undefined {
    return this.#runs.lastOutcome;
  }

  stop(reason = "The run was stopped."): Promise<void> {
    return this.#runs.stop(reason);
  }

  get questions(): readonly Question[] {
    return this.#parts.desk.questions;
  }

  onQuestion(listener: QuestionListener, scope?: QuestionScope): () => void {
    const end = this.#parts.desk.onQuestion(listener, scope);
    // The tools of a run stay as they are.
    if (!this.#runs.isRunning) this.#offerQuestions();
    return end;
  }

  answer(id: string, reply: QuestionReply): void {
    this.#assertOpen();
    this.#parts.desk.answer(id, reply);
  }

  ask(question: NewQuestion, signal: AbortSignal): Promise<Json | undefined> {
    return this.#parts.desk.askValue(question, signal);
  }

  async setModel(name: string): Promise<void> {
    this.#assertOpen();
    await this.#models.setModel(name);
    this.changed();
  }

  async setEffort(effort: Effort | undefined): Promise<void> {
    this.#assertOpen();
    await this.#models.setEffort(effort);
    this.changed();
  }

  async setMode(mode: PermissionMode): Promise<void> {
    this.#assertOpen();
    assertPermissionMode(mode);
    this.#parts.composed.permission.gate.setMode(mode);
    this.#mode = mode;
    if (this.#agent.getState().messages.length > 0) await this.#agent.setMode(mode);
    else this.#unrecordedMode = mode;
    this.changed();
  }

  get until(): string | undefined {
    return this.#runs.until;
  }

  setUntil(command: string | undefined): void {
    this.#assertOpen();
    assertUntil(command);
    this.#runs.until = command;
    this.changed();
  }

  addTools(tools: readonly Tool[]): void {
    this.#assertOpen();
    for (const tool of tools) {
      this.#agent.tools.add(tool);
      this.#lateTools.set(tool.name, tool);
    }
  }

  removeTools(names: readonly string[]): void {
    for (const name of names) {
      this.#agent.tools.remove(name);
      this.#lateTools.delete(name);
    }
  }

  compact(instructions?: string): Promise<CompactionResult> {
    return this.#beside("compact()", () =>
      this.#agent.compact({
        onEvent: (event) => this.#onEvent(event),
        ...defined({ instructions }),
      }),
    );
  }

  previewCompaction(): Promise<CompactionPreview> {
    return this.#beside("previewCompaction()", () => this.#agent.previewCompaction());
  }

  undo(options: UndoOptions = {}): Promise<UndoReport> {
    return this.#changing("undo()", async () =>
      (await import("./rewind-session.ts")).undoFiles(this.#parts, options),
    );
  }

  redo(options: { readonly force?: boolean } = {}): Promise<UndoReport> {
    return this.#changing("redo()", async () =>
      (await import("./rewind-session.ts")).redoFiles(this.#parts, options),
    );
  }

  rewindPoints(): readonly RewindPoint[] {
    return rewindPoints(this.#parts.session.journal.entries());
  }

  rewind(entryId: string, options: RewindOptions = {}): Promise<RewindReport> {
    return this.#changing("rewind()", async () =>
      (await import("./rewind-session.ts")).rewindSession(this.#parts, entryId, options),
    );
  }

  fork(entryId?: string): Promise<CodingSession> {
    return this.#beside("fork()", async () =>
      (await import("./rewind-session.ts")).forkSession(this.#parts, this.id, entryId, this.#mode),
    );
  }

  async callTool(name: string, input: ToolInput, options: Abortable = {}): Promise<ToolResult> {
    this.#assertOpen();
    return this.#runs.callTool(name, input, options.signal);
  }

  async shell(
    command: string,
    { shared = false, signal = new AbortController().signal }: Abortable & { readonly shared?: boolean } = {},
  ): Promise<ShellOutcome> {
    this.#assertOpen();
    const { composed, settings } = this.#parts;
    const outcome = await composed.builtin.runShell(command, { cwd: settings.cwd, signal });
    const note = { command, ...outcome, shared };
    const entry = await this.#agent.note(SHELL_NOTE, note);
    // A running run publishes what is noted outside of it.
    if (!this.#runs.isRunning) this.#onEvent(entry);
    if (shared) await this.#agent.observe(sharedText(note));
    return outcome;
  }

  status(): readonly string[] {
    return this.#parts.composed.plugins.status();
  }

  stats(): SessionStats {
    return sessionStats(this.#parts, this.#agent, this.#models.view.windowTokens);
  }

  killNow(): void {
    this.#parts.composed.killNow();
    this.#runs.giveUp();
    this.#closing ??= Promise.resolve();
    this.#parts.session.kept?.release();
    this.changed();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  changed(): void {
    this.#view.changed();
  }

  /** Offers what asks a person where one can answer, and plans where they are the answer of the run. */
  #offerQuestions(): void {
    const { composed, desk } = this.#parts;
    const { tools } = this.#agent;
    const offers = [
      [this.#askTool, desk.takesValues],
      [this.#planTool, desk.takesValues || this.#mode === "plan"],
    ] as const;
    for (const [tool, isWanted] of offers) {
      const known = tools.get(tool.name);
      if (isWanted && known === undefined && !composed.permission.gate.forbids(tool.name)) tools.add(tool);
      if (!isWanted && known === tool) tools.remove(tool.name);
    }
  }

  /** A restored question was answered. */
  answered(): void {
    this.#runs.resumeAnswered();
  }

  async #recordMode(): Promise<void> {
    if (this.#unrecordedMode !== undefined) await this.#agent.setMode(this.#unrecordedMode);
    this.#unrecordedMode = undefined;
  }

  #onEvent(event: AgentEvent): void {
    // While the model still writes the command, what it needs can be made ready.
    if (event.type === "tool_call_start" && event.name === "bash") {
      const { builtin, checkpoints } = this.#parts.composed;
      void Promise.all([builtin.prepare(), checkpoints?.prepare()]);
    }
    // With the first turn, while the request is under way: a start need not wait for it.
    if (event.type === "turn_start") this.#tidied ??= tidy(this.#parts.settings.cwd);
    this.#events.call(event);
    this.#view.apply(event);
  }

  async #beside<T>(what: string, work: () => Promise<T>): Promise<T> {
    this.#assertIdle(what);
    this.#aside = what;
    this.changed();
    try {
      return await work();
    } finally {
      this.#aside = undefined;
      this.changed();
      this.#runs.sendWaiting();
    }
  }

  /** Does work that changes the journal beside the agent. */
  #changing<T>(what: string, work: () => Promise<T>): Promise<T> {
    return this.#beside(what, async () => {
      try {
        return await work();
      } finally {
        await this.#renew();
      }
    });
  }

  /** The conversation as the journal has it now, with a new agent: the old one knows what it was told. */
  async #renew(): Promise<void> {
    const { composed, desk } = this.#parts;
    this.#agent = await composed.renew(this.#models.choice);
    for (const tool of this.#lateTools.values()) this.#agent.tools.add(tool);
    desk.clear("The conversation was changed meanwhile.");
    await desk.restore();
    this.#view.reset();
  }

  #hostView(): HostView {
    const { effort, view } = this.#models;
    return {
      state: this.#state,
      queue: this.queue.items,
      queueHeld: this.queue.held,
      steering: this.queue.steering.map(({ id, text }) => ({ id, text })),
      questions: this.questions,
      model: view.name,
      effort,
      mode: this.#mode,
      until: this.#runs.until,
      windowTokens: view.windowTokens,
      endedJobs: this.#endedJobs,
    };
  }

  get #state(): SessionView["state"] {
    if (this.#closing !== undefined) return "closed";
    if (this.#runs.isStopping) return "stopping";
    if (this.questions.length > 0) return "waiting";
    return this.#runs.isRunning || this.#aside !== undefined ? "running" : "idle";
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw misuse("The session is closed: open it again.");
  }

  #assertIdle(what: string): void {
    this.#assertOpen();
    if (this.#aside !== undefined) throw misuse(`${what} while ${this.#aside} is at work: wait for it.`);
    if (!this.#runs.isRunning) return;
    throw misuse(
      `${what} while a run is at work: steer() it, put the message into the queue, or stop() it first.`,
    );
  }

  async #close(): Promise<void> {
    const { composed, session, desk, telemetry } = this.#parts;
    await this.#runs.close("The session was closed.");
    desk.clear("The session was closed.");
    await composed.hooks?.end();
    await Promise.all([composed.dispose(), this.#tidied]);
    await telemetry?.flush();
    await session.kept?.close();
    this.changed();
  }
}

/** Removes what killed runs left half written. Bounded, for a workspace may be a whole disk. */
async function tidy(cwd: string): Promise<void> {
  await removeStaleTemporaryFiles(cwd, { recursive: true, maxEntries: 20_000 }).catch(() => []);
}

function assertUntil(command: string | undefined): void {
  if (command === undefined || (typeof command === "string" && command.trim() !== "")) return;
  throw misuse(
    `until is ${JSON.stringify(command)}: pass a shell command, such as "npm test", or leave it out.`,
  );
}

interface ViewSource {
  readonly entries: () => Iterable<JournalEntry>;
  readonly host: () => HostView;
  readonly notices: () => readonly Notice[];
  readonly onFault: (error: unknown) => void;
}

/** The view of a live session, built when it is first read. */
class LiveView {
  readonly #source: ViewSource;
  readonly #listeners: Listeners<[change: ViewChange]>;
  /** Background commands that were started before ended with the process that started them. */
  readonly #since = Date.now();
  #fold: ViewFold | undefined;

  constructor(source: ViewSource) {
    this.#source = source;
    this.#listeners = new Listeners(source.onFault);
  }

  get view(): SessionView {
    return this.#opened().view;
  }

  listen(listener: (change: ViewChange) => void): () => void {
    this.#opened();
    return this.#listeners.add(listener);
  }

  apply(event: AgentEvent): void {
    this.#change((fold) => {
      fold.apply(event);
      // It may have been a message that waited until now.
      if (event.type === "user_message") fold.host(this.#source.host());
    });
  }

  notice(notice: Notice): void {
    this.#change((fold) => fold.notice(notice));
  }

  /** Something beside events changed. */
  changed(): void {
    this.#change((fold) => fold.host(this.#source.host()));
  }

  /** A run ended, and no event will say so. */
  failed(outcome: Outcome): void {
    this.#change((fold) => fold.fail(outcome));
  }

  reset(): void {
    if (this.#fold === undefined) return;
    this.#fold = this.#folded([]);
    this.#listeners.call({ items: [], rest: true, reset: true });
  }

  #opened(): ViewFold {
    return (this.#fold ??= this.#folded(this.#source.notices()));
  }

  #folded(notices: readonly Notice[]): ViewFold {
    const { entries, host } = this.#source;
    const fold = new ViewFold(host());
    for (const entry of entries()) fold.apply(entry);
    fold.endJobs(this.#since);
    if (host().state === "idle") fold.leaveRun();
    for (const notice of notices) fold.notice(notice);
    fold.take();
    return fold;
  }

  #change(work: (fold: ViewFold) => void): void {
    if (this.#fold === undefined) return;
    work(this.#fold);
    const change = this.#fold.take();
    if (change.items.length > 0 || change.rest) this.#listeners.call(change);
  }
}
