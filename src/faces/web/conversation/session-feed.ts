import type { JournalEntry } from "../../../core/agent/entries.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../permission/permission-mode.ts";
import type {
  PassingEvent,
  SessionDetail,
  SessionState,
  StreamItem,
  WaitingMessage,
} from "../../../server/server-api.ts";
import type { Question } from "../../../view/question.ts";
import type { SessionView } from "../../../view/view.ts";
import { type HostView, ViewFold } from "../../../view/view-fold.ts";

/** A session as far as it has been heard of. A new object after each change; the entries grow in place. */
export interface FeedState {
  readonly view: SessionView;
  readonly entries: readonly JournalEntry[];
  readonly state: SessionState;
  readonly queue: readonly WaitingMessage[];
  readonly queueHeld: boolean;
  readonly questions: readonly Question[];
  /** Undefined where nobody knows. */
  readonly mode: PermissionMode | undefined;
  /** True once everything that was there has come. */
  readonly isReady: boolean;
}

/**
 * The fold from the stream of a session to what the page shows. Feed it each item once, in order. An entry
 * that is sent again, after a connection broke, counts once.
 */
export class SessionFeed {
  #fold: ViewFold;
  #entries: JournalEntry[] = [];
  #known = new Set<string>();
  #state: SessionState = "idle";
  #queue: readonly WaitingMessage[] = [];
  #queueHeld = false;
  #questions: readonly Question[] = [];
  #model = "";
  #mode: PermissionMode | undefined;
  #isReady = false;
  #now: FeedState | undefined;

  constructor() {
    this.#fold = new ViewFold(this.#host());
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get now(): FeedState {
    return (this.#now ??= {
      view: this.#fold.view,
      entries: this.#entries,
      state: this.#state,
      queue: this.#queue,
      queueHeld: this.#queueHeld,
      questions: this.#questions,
      mode: this.#mode,
      isReady: this.#isReady,
    });
  }

  /** Takes up what the server says of the session beside its entries. */
  detail({ state, queue, queueHeld, questions, model = this.#model, permissionMode }: SessionDetail): void {
    this.#state = state;
    this.#queue = queue;
    this.#queueHeld = queueHeld;
    this.#questions = questions;
    this.#model = model;
    this.#mode = PERMISSION_MODES.find((mode) => mode === permissionMode) ?? this.#mode;
    this.#changed();
  }

  apply(item: StreamItem): void {
    if (item.type === "entry") this.#entry(item.entry);
    else this.#passing(item.passing);
  }

  #entry(entry: JournalEntry): void {
    if (this.#known.has(entry.id)) return;
    this.#known.add(entry.id);
    this.#entries.push(entry);
    this.#fold.apply(entry);
    this.#now = undefined;
    if (entry.scope !== undefined) return;
    if (entry.type === "run_start" || entry.type === "run_resume" || entry.type === "model_change") {
      this.#model = entry.model;
      this.#changed();
    } else if (entry.type === "mode_change") {
      this.#mode = PERMISSION_MODES.find((mode) => mode === entry.mode) ?? this.#mode;
      this.#changed();
    }
  }

  #passing(passing: PassingEvent): void {
    switch (passing.type) {
      case "event":
        this.#fold.apply(passing.event);
        this.#now = undefined;
        return;
      case "state":
        this.#state = passing.state;
        return this.#changed();
      case "question":
        this.#questions = [
          ...this.#questions.filter(({ id }) => id !== passing.question.id),
          passing.question,
        ];
        return this.#changed();
      case "question_closed":
        this.#questions = this.#questions.filter(({ id }) => id !== passing.id);
        return this.#changed();
      case "queue":
        this.#queue = passing.queue;
        this.#queueHeld = passing.held;
        return this.#changed();
      case "ready":
        this.#isReady = true;
        // A run without an end in a session where nothing runs was cut.
        if (this.#state === "idle") this.#fold.leaveRun();
        return this.#changed();
      case "reset":
        return this.#reset();
    }
  }

  #reset(): void {
    this.#entries = [];
    this.#known = new Set();
    this.#isReady = false;
    this.#fold = new ViewFold(this.#host());
    this.#now = undefined;
  }

  #changed(): void {
    this.#fold.host(this.#host());
    this.#now = undefined;
  }

  #host(): HostView {
    return {
      state: this.#state,
      queue: this.#queue,
      queueHeld: this.#queueHeld,
      steering: [],
      questions: this.#questions,
      model: this.#model,
      mode: this.#mode ?? "default",
      effort: undefined,
      windowTokens: undefined,
      endedJobs: new Map(),
    };
  }
}
