import type { CodingSession, SessionInfo } from "../../src/app/coding-session/coding-session.ts";
import type { QueuedMessage } from "../../src/app/coding-session/message-queue.ts";
import type { Outcome } from "../../src/app/coding-session/outcome.ts";
import type { Question, QuestionListener, QuestionReply } from "../../src/app/coding-session/question.ts";
import type { SessionView, ToolItem, ViewChange, ViewItem } from "../../src/app/coding-session/view.ts";

/** What a run of the double does, step by step; it says "done" when nothing else is left. */
export type Script = (double: SessionDouble, text: string) => Promise<void>;

type NewItem = ViewItem extends infer I
  ? I extends ViewItem
    ? Omit<I, "id" | "version" | "time">
    : never
  : never;

/** A coding session without model, tools and files: what its runs do is a function. */
export class SessionDouble implements CodingSession {
  readonly id = "double";
  readonly notices: CodingSession["notices"] = [];
  readonly items: ViewItem[] = [];
  readonly answers: QuestionReply[] = [];
  readonly #script: Script;
  readonly #changes = new Set<(change: ViewChange) => void>();
  readonly #asked = new Set<QuestionListener>();
  readonly #waiting = new Map<string, (reply: QuestionReply) => void>();
  #rest: Omit<SessionView, "items"> = {
    state: "idle",
    queue: [],
    queueHeld: false,
    steering: [],
    questions: [],
    todo: [],
    jobs: [],
    model: "demo/model",
    mode: "default",
    context: { usedTokens: 24_000, windowTokens: 200_000 },
    usage: { inputTokens: 0, outputTokens: 0 },
    costUsd: 0.12,
  };
  #controller = new AbortController();
  #number = 0;

  constructor(script: Script) {
    this.#script = script;
  }

  get view(): SessionView {
    return { ...this.#rest, items: this.items };
  }

  get info(): SessionInfo {
    const { mode } = this.#rest;
    const lists = { tools: [], agents: [], skills: [], commands: [], mcpServers: [] };
    return {
      cwd: process.cwd(),
      model: { name: "demo/model", why: "flag" },
      mode,
      ...lists,
      sandbox: "off",
      goOn: "-c",
    };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Changes what is beside the items. */
  set(rest: Partial<Omit<SessionView, "items">>): void {
    this.#rest = { ...this.#rest, ...rest };
    this.#tell({ items: [], rest: true });
  }

  /** Adds an item and returns its place. */
  add(item: NewItem): number {
    this.items.push({ id: `i${++this.#number}`, version: 1, time: Date.now(), ...item });
    this.#tell({ items: [this.items.length - 1], rest: false });
    return this.items.length - 1;
  }

  change(at: number, item: Partial<ToolItem> | { readonly text?: string; readonly state?: string }): void {
    const old = this.items[at];
    if (old === undefined) return;
    this.items[at] = { ...old, ...item, version: old.version + 1 } as ViewItem;
    this.#tell({ items: [at], rest: false });
  }

  /** Writes an answer, piece by piece; `pause` is waited for between them. */
  async stream(pieces: Iterable<string>, pause: () => Promise<void>): Promise<void> {
    const at = this.add({ type: "answer", text: "", state: "streaming" });
    let text = "";
    for (const piece of pieces) {
      if (this.signal.aborted) break;
      text += piece;
      this.change(at, { text });
      await pause();
    }
    this.change(at, { state: this.signal.aborted ? "interrupted" : "done" });
  }

  ask(question: Omit<Question, "id" | "time">): Promise<QuestionReply> {
    const asked: Question = { id: `q${++this.#number}`, time: Date.now(), ...question };
    this.set({ state: "waiting", questions: [...this.#rest.questions, asked] });
    for (const listener of this.#asked) void listener(asked, this.signal);
    return new Promise((resolve) => this.#waiting.set(asked.id, resolve));
  }

  answer(id: string, reply: QuestionReply): void {
    this.answers.push(reply);
    const questions = this.#rest.questions.filter((each) => each.id !== id);
    this.set({ questions, state: questions.length === 0 ? "running" : "waiting" });
    this.#waiting.get(id)?.(reply);
  }

  send(input: unknown): ReturnType<CodingSession["send"]> {
    const text = typeof input === "string" ? input : "(blocks)";
    this.add({ type: "user", text, images: 0, source: "input" });
    const startedAt = Date.now();
    this.#controller = new AbortController();
    this.set({ state: "running", run: { startedAt, turn: 1, outputTokens: 0, phase: "waiting" } });
    const outcome = this.#script(this, text).then((): Outcome => {
      const isStopped = this.signal.aborted;
      const { run: _run, ...rest } = this.#rest;
      this.#rest = { ...rest, state: "idle", questions: [] };
      this.add({
        type: "run_end",
        stopReason: isStopped ? "aborted" : "completed",
        durationMs: Date.now() - startedAt,
        costUsd: 0.01,
      });
      this.set({});
      this.#next();
      return { exitCode: isStopped ? 130 : 0 } as Outcome;
    });
    return outcome as unknown as ReturnType<CodingSession["send"]>;
  }

  steer(input: unknown): string {
    const id = `s${++this.#number}`;
    this.set({ steering: [...this.#rest.steering, { id, text: String(input) }] });
    return id;
  }

  unsteer(id: string): string | undefined {
    const found = this.#rest.steering.find((each) => each.id === id);
    this.set({ steering: this.#rest.steering.filter((each) => each.id !== id) });
    return found?.text;
  }

  readonly queue: CodingSession["queue"] = queueOf(this);

  async stop(): Promise<void> {
    this.set({ state: "stopping", queueHeld: this.#rest.queue.length > 0 });
    this.#controller.abort();
    for (const resolve of this.#waiting.values()) resolve({ choice: "no" });
    while (this.view.run !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  onChange(listener: (change: ViewChange) => void): () => void {
    this.#changes.add(listener);
    return () => void this.#changes.delete(listener);
  }

  onQuestion(listener: QuestionListener): () => void {
    this.#asked.add(listener);
    return () => void this.#asked.delete(listener);
  }

  onNotice: () => () => void = () => () => undefined;
  onEvent: () => () => void = () => () => undefined;
  get questions(): readonly Question[] {
    return this.#rest.questions;
  }

  async setModel(model: string): Promise<void> {
    this.set({ model });
  }
  async setMode(mode: SessionView["mode"]): Promise<void> {
    this.set({ mode });
  }
  async shell(
    command: string,
    { shared }: { readonly shared: boolean },
  ): Promise<{ output: string; exitCode: number }> {
    this.add({ type: "shell", command, output: `${command} says hello\n`, exitCode: 0, shared });
    return { output: "", exitCode: 0 };
  }
  setEffort: () => never = unavailable;
  addTools: () => never = unavailable;
  removeTools: () => never = unavailable;
  compact: () => never = unavailable;
  undo: () => never = unavailable;
  redo: () => never = unavailable;
  rewindPoints: () => readonly never[] = () => [];
  rewind: () => never = unavailable;
  fork: () => never = unavailable;
  callTool: () => never = unavailable;
  stats: () => never = unavailable;
  killNow: () => void = () => undefined;
  close: () => Promise<void> = async () => undefined;
  [Symbol.asyncDispose]: () => Promise<void> = this.close;

  #next(): void {
    const [first] = this.#rest.queue;
    if (first === undefined || this.#rest.queueHeld) return;
    this.set({ queue: this.#rest.queue.slice(1) });
    void this.send(first.text);
  }

  #tell(change: ViewChange): void {
    for (const listener of this.#changes) listener(change);
  }
}

function unavailable(): never {
  throw new Error("the double has none");
}

function queueOf(double: SessionDouble): CodingSession["queue"] {
  let number = 0;
  const items = (): readonly QueuedMessage[] => double.view.queue;
  return {
    get items() {
      return items();
    },
    get held() {
      return double.view.queueHeld;
    },
    add: (text) => {
      const id = `m${++number}`;
      if (double.view.run === undefined && !double.view.queueHeld) void double.send(text);
      else double.set({ queue: [...items(), { id, text }] });
      return id;
    },
    edit: (id, text) => double.set({ queue: items().map((each) => (each.id === id ? { id, text } : each)) }),
    move: (id, index) => {
      const moved = items().filter((each) => each.id === id);
      const others = items().filter((each) => each.id !== id);
      double.set({ queue: [...others.slice(0, index), ...moved, ...others.slice(index)] });
    },
    remove: (id) => {
      const found = items().find((each) => each.id === id);
      double.set({ queue: items().filter((each) => each.id !== id) });
      return found?.text ?? "";
    },
    hold: () => double.set({ queueHeld: true }),
    release: () => double.set({ queueHeld: false }),
    sendNow: (id) => {
      const found = items().find((each) => each.id === id);
      double.set({ queue: items().filter((each) => each.id !== id) });
      if (found !== undefined) double.steer(found.text);
    },
  };
}
