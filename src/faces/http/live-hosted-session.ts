import type { CodingSession } from "../../coding/session/coding-session.ts";
import type { AgentEvent } from "../../core/agent/entries.ts";
import { type Clock, startTimer } from "../../core/base/async.ts";
import type { Redaction } from "../../core/base/text.ts";
import { StreamRedactor } from "../../server/presenter.ts";
import { conflict, Refusal } from "../../server/refusal.ts";
import type {
  NewMessage,
  PassingEvent,
  QuestionAnswer,
  SessionState,
  WaitingMessage,
} from "../../server/server-api.ts";
import type { Question } from "../../view/question.ts";

/** How long an inactive session stays open and locked. */
const IDLE_CLOSE_MS = 2_000;

/** A coding session run by this process, with the events its followers receive. */
export class LiveHostedSession {
  readonly session: CodingSession;
  readonly #clock: Clock;
  readonly #channel: () => SessionChannel | undefined;
  readonly #onIdle: () => void;
  readonly #pieces: StreamRedactor;
  #reported: readonly Question[] = [];
  #reportedQueue = "";
  #stopTimer: () => void = () => undefined;

  constructor(
    session: CodingSession,
    clock: Clock,
    redaction: Redaction | undefined,
    channel: () => SessionChannel | undefined,
    onIdle: () => void,
  ) {
    this.session = session;
    this.#clock = clock;
    this.#channel = channel;
    this.#onIdle = onIdle;
    this.#pieces = new StreamRedactor(redaction);
    session.onEvent((event) => this.#onEvent(event));
    session.onQuestion(() => this.#onChange());
    session.onChange(() => this.#onChange());
    this.#onChange();
  }

  get state(): SessionState {
    const { state } = this.session.view;
    if (state === "waiting") return "waiting";
    return state === "running" || state === "stopping" ? "running" : "idle";
  }

  get queue(): readonly WaitingMessage[] {
    return this.session.queue.items.map(({ id, text }) => ({ id, text }));
  }

  /**
   * Sends a message; resolves when it is stored or queued. Throws if it cannot be sent, such as an unknown
   * command.
   */
  async send({ text, when }: NewMessage): Promise<void> {
    const { session } = this;
    const { state } = session.view;
    if (state === "stopping")
      throw conflict("The run is being stopped: send it when that is done.", ["fork"], "stopping");
    if (when === "after") {
      await this.#queueUp(text, state === "idle");
    } else if (state === "idle") await this.#startRun(text);
    else session.steer(text);
  }

  stop(): void {
    if (this.state === "idle") throw conflict("No run is in progress.", IDLE_ACTIONS, "not_running");
    void this.session.stop();
  }

  answer(id: string, { value, sessionId: _, ...answer }: QuestionAnswer): boolean {
    if (!this.session.questions.some((question) => question.id === id)) return false;
    const isValue = value !== undefined && answer.choice === "once";
    this.session.answer(id, isValue ? { value } : answer);
    return true;
  }

  async close(): Promise<void> {
    this.#stopTimer();
    await this.session.close();
  }

  async #startRun(text: string): Promise<void> {
    const stored = Promise.withResolvers<undefined>();
    const stop = this.session.onEvent(({ type }) => {
      if (type === "user_message") stored.resolve(undefined);
    });
    const outcome = await Promise.race([stored.promise, this.session.send(text)]).finally(stop);
    if (outcome === undefined || outcome.code === "success") return;
    if (outcome.error?.code === "journal") throw outcome.error;
    throw conflict(outcome.advice?.text ?? outcome.text, IDLE_ACTIONS, "not_sent");
  }

  /** Queues a message; if nothing is running it is sent together with messages held before. */
  async #queueUp(text: string, isIdle: boolean): Promise<void> {
    const { queue } = this.session;
    if (isIdle && queue.items.length === 0) return this.#startRun(text);
    const id = queue.add(text);
    if (isIdle) queue.release();
    if (await queue.isStored()) return;
    if (queue.items.some((item) => item.id === id)) queue.remove(id);
    throw new Refusal(
      507,
      "journal",
      "The message could not be stored, and would be lost: make room on the disk.",
    );
  }

  #onEvent(event: AgentEvent): void {
    const channel = this.#channel();
    const shown = this.#pieces.event(event);
    if ("parent" in event) channel?.emit("entries");
    // The result contains the whole conversation again.
    else if (shown !== undefined && event.type !== "done") channel?.emit({ type: "event", event: shown });
  }

  #onChange(): void {
    const { session } = this;
    const channel = this.#channel();
    const { questions } = session;
    for (const question of questions)
      if (!this.#reported.some(({ id }) => id === question.id)) channel?.emit({ type: "question", question });
    for (const { id } of this.#reported)
      if (!questions.some((question) => question.id === id)) channel?.emit({ type: "question_closed", id });
    this.#reported = questions;
    const { queue } = this;
    const { held } = session.queue;
    const text = JSON.stringify([queue, held]);
    if (text !== this.#reportedQueue) channel?.emit({ type: "queue", queue, held });
    this.#reportedQueue = text;
    channel?.emitState();
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    this.#stopTimer();
    if (this.session.view.state === "closed" || this.#isBusy) return;
    this.#stopTimer = startTimer(this.#clock, IDLE_CLOSE_MS, this.#onIdle);
  }

  get #isBusy(): boolean {
    const { view, queue, questions } = this.session;
    const hasJobs = view.jobs.some(({ state }) => state === "running");
    return (
      view.state !== "idle" || questions.length > 0 || hasJobs || (queue.items.length > 0 && !queue.held)
    );
  }
}

export const IDLE_ACTIONS: readonly string[] = ["messages", "fork", "undo", "redo"];

type Listener = (passing: PassingEvent | "entries") => void;

/** Interval for checking whether another process has written to the file. */
const WATCH_MS = 250;

/**
 * The followers of one session, whether this process runs it or another. The file is watched while anyone
 * follows.
 */
export class SessionChannel {
  readonly #clock: Clock;
  readonly #stateOf: () => SessionState;
  readonly #listeners = new Set<Listener>();
  #stopTimer: () => void = () => undefined;
  #state: SessionState | undefined;

  constructor(clock: Clock, stateOf: () => SessionState) {
    this.#clock = clock;
    this.#stateOf = stateOf;
  }

  listen(listener: Listener): () => void {
    const own: Listener = (passing) => listener(passing);
    this.#listeners.add(own);
    if (this.#listeners.size === 1) {
      this.#state = this.#stateOf();
      this.#watch();
    }
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#stopTimer();
    };
  }

  emit(passing: PassingEvent | "entries"): void {
    for (const listener of this.#listeners) listener(passing);
  }

  /** Reports the state if it has changed since the last report. */
  emitState(): void {
    if (this.#listeners.size === 0) return;
    const state = this.#stateOf();
    if (state === this.#state) return;
    this.#state = state;
    this.emit({ type: "state", state });
  }

  #watch(): void {
    this.#stopTimer = startTimer(this.#clock, WATCH_MS, () => {
      this.emit("entries");
      this.emitState();
      if (this.#listeners.size > 0) this.#watch();
    });
  }
}
