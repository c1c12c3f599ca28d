import { type Message, messageText, textOf, toolCallsOf } from "../message/message.ts";
import type { Finish } from "../tool/tool.ts";
import type { AssistantEntry, JournalEntry, RunResumeEntry, RunStartEntry, UserEntry } from "./entry.ts";

/** How far the newest run of a conversation has come: the fold of its entries. */
export class RunProgress {
  /** Answers. */
  iterations = 0;
  /** The last non-empty text the model wrote. */
  lastText = "";
  /** Times the model was told that a tool ends the run. */
  nudges = 0;
  /** Answers in a row that could not be read. */
  unreadable = 0;
  /** The words of the user: input and steering, as texts. */
  asked: string[] = [];
  /** True when there is one. */
  hasBegun = false;
  /** True when it has begun and has no end. */
  isOpen = false;
  /** The answer without calls that nothing was said behind. */
  answer: AssistantEntry | undefined;
  /** The answer of a tool that ends the run, of the newest calls. */
  finish: Finish | undefined;
  #called: string[] = [];
  #activeMs = 0;
  #activeSince = 0;
  #lastTime = 0;

  /** Milliseconds it was at work, the time in which it waited for somebody left out. */
  get activeMs(): number {
    return this.#activeMs + (this.isOpen ? Math.max(0, this.#lastTime - this.#activeSince) : 0);
  }

  /** True when the model has called a tool of this name. */
  hasCalled(name: string): boolean {
    return this.#called.includes(name);
  }

  /** Takes an entry. `wasWaiting`: calls waited for somebody before it. */
  apply(entry: JournalEntry, wasWaiting: boolean): void {
    if (entry.type === "run_start") this.#begin(entry, wasWaiting);
    else if (entry.type === "run_resume") this.#goOn(entry, wasWaiting);
    else if (entry.type === "history") this.#take(entry.messages);
    else if (entry.type === "user_message") this.#hear(entry);
    else if (entry.type === "assistant_message") this.#answer(entry);
    else if (entry.type === "tool_result" && entry.parentCallId === undefined) this.finish ??= entry.finish;
    this.#lastTime = entry.time;
    if (entry.type !== "run_end") return;
    this.#activeMs = this.activeMs;
    this.isOpen = false;
  }

  #begin(entry: RunStartEntry, wasWaiting: boolean): void {
    this.#leaveTurn();
    // The earlier question of a run that waited has no answer yet.
    if (!wasWaiting) this.asked = [];
    this.iterations = 0;
    this.lastText = "";
    this.#forgive();
    this.#called = [];
    this.isOpen = false;
    this.#activeMs = 0;
    this.#work(entry);
  }

  /** One that had ended is tried again: the model is asked anew, and has its chances to be understood. */
  #goOn(entry: RunResumeEntry, wasWaiting: boolean): void {
    if (!this.isOpen && !wasWaiting) {
      this.#leaveTurn();
      this.#forgive();
    }
    this.#work(entry);
  }

  #forgive(): void {
    this.nudges = 0;
    this.unreadable = 0;
  }

  #work(entry: RunStartEntry | RunResumeEntry): void {
    this.hasBegun = true;
    this.#activeMs = this.activeMs;
    this.#activeSince = entry.time;
    this.isOpen = true;
  }

  /** Something follows the newest answer and its calls. */
  #leaveTurn(): void {
    this.answer = undefined;
    this.finish = undefined;
  }

  #hear({ source, code, message }: UserEntry): void {
    this.#leaveTurn();
    if (source === "input" || source === "steering") this.#ask([message]);
    if (code === "nudge") this.nudges += 1;
    if (code === "unreadable") this.unreadable += 1;
  }

  #take(messages: readonly Message[]): void {
    this.#leaveTurn();
    this.#ask(messages);
  }

  /** Takes up the words behind the last answer. */
  #ask(messages: readonly Message[]): void {
    for (const message of messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)) {
      const text = messageText(message, "\n").trim();
      if (text !== "") this.asked.push(text);
    }
  }

  #answer(entry: AssistantEntry): void {
    const { message } = entry;
    const calls = toolCallsOf(message);
    this.#leaveTurn();
    if (calls.length === 0 && entry.interrupted !== true) this.answer = entry;
    if (calls.length > 0)
      this.unreadable = calls.every((call) => call.invalid_input !== undefined) ? this.unreadable + 1 : 0;
    for (const { name } of calls) if (!this.#called.includes(name)) this.#called.push(name);
    this.iterations += 1;
    const text = textOf(message.content);
    if (text !== "") this.lastText = text;
  }
}
