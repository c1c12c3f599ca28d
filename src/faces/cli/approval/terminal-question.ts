import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { Question, QuestionReply } from "../../../view/question.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { columnsOf, lastColumns } from "../../text/columns.ts";
import type { Output } from "../standard-output.ts";
import type { Style } from "../style.ts";
import { CTRL_C, type OpenKeys, type TerminalKeys } from "./terminal-keys.ts";
import { keyLine, offersOf, questionLines } from "./terminal-question-lines.ts";

export { terminalKeys } from "./terminal-keys.ts";

/** Options of {@link TerminalQuestion}. */
export interface TerminalQuestionOptions {
  readonly keys: TerminalKeys;
  readonly output: Output;
  readonly style: Style;
  readonly width: () => number;
  /** Called before a question is written; nothing else is written until the function returned is called. */
  readonly hold: () => () => void;
  /** Ctrl-C was pressed: the run is to end. The terminal has been given back. */
  readonly onInterrupt: () => void;
  /** Ctrl-Z: stops the process and calls back when it goes on. The terminal has been given back. */
  readonly onSuspend?: (resumed: () => void) => void;
  /** Quiet milliseconds before a key counts, so that nothing typed before is an answer. Default 200. */
  readonly quietMs?: number;
}

const CTRL_D = "\u0004";
const CTRL_Z = "\u001A";
const ESCAPE = "\u001B";
const REFUSED: QuestionReply = { choice: "no" };
const REASON_LABEL = "  No: ";
const MAX_REASON = 2_000;

/**
 * A question on a terminal: one key answers, and a no may say why. What was typed before the question stood
 * there, and whatever comes faster than a key at a time, is no answer. A terminal that cannot be had
 * rejects, one that goes away refuses.
 */
export class TerminalQuestion {
  readonly #question: Question;
  readonly #signal: AbortSignal;
  readonly #options: TerminalQuestionOptions;
  readonly #answer = Promise.withResolvers<QuestionReply>();
  #keys: OpenKeys | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #hears = false;
  #reason: string | undefined;
  /** The question stood there whole. */
  #isSeen = false;

  constructor(question: Question, signal: AbortSignal, options: TerminalQuestionOptions) {
    this.#question = question;
    this.#signal = signal;
    this.#options = options;
  }

  /** Resolves to the answer; rejects with the signal's reason when it aborts. */
  async ask(): Promise<QuestionReply> {
    // One key is no value that a server or a tool asks for.
    if (this.#question.type !== "permission") return REFUSED;
    const signal = this.#signal;
    signal.throwIfAborted();
    const onAbort = (): void => this.#answer.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const release = this.#options.hold();
    // While the terminal is given back (Ctrl-Z, Ctrl-C), nothing else may keep the process alive.
    const alive = setInterval(() => undefined, 60_000);
    try {
      this.#put();
      const reply = await this.#answer.promise;
      this.#give();
      this.#say(answerText(reply));
      return reply;
    } catch (error) {
      this.#give();
      if (signal.aborted) this.#say("not answered: the run ended");
      throw error;
    } finally {
      clearInterval(alive);
      signal.removeEventListener("abort", onAbort);
      release();
    }
  }

  #put(): void {
    this.#keys = this.#options.keys.open({
      onKeys: (keys) => this.#onKeys(keys),
      onEnd: () => this.#answer.resolve({ choice: "no", reason: "the terminal is gone" }),
    });
    this.#write({ whole: false });
    this.#hears = false;
    this.#wait();
    this.#keys.start();
  }

  #give(): void {
    clearTimeout(this.#quiet);
    this.#keys?.close();
    this.#keys = undefined;
  }

  #write({ whole }: { readonly whole: boolean }): void {
    const lines = this.#lines(whole);
    this.#isSeen ||= whole || !this.#isLong();
    this.#options.output.write(`${lines.join("\n")}\n${this.#keyLine()}\n`);
  }

  #lines(whole: boolean): readonly string[] {
    const { style, width } = this.#options;
    return questionLines(this.#question, { style, width: width(), whole });
  }

  #keyLine(): string {
    const { style, width } = this.#options;
    return keyLine(this.#question, { style, width: width(), whole: !this.#isLong() });
  }

  /** True when something is left out that a key shows. */
  #isLong(): boolean {
    return this.#lines(false).join("\n") !== this.#lines(true).join("\n");
  }

  /** Once it has been quiet for a moment, a key is an answer. */
  #wait(): void {
    clearTimeout(this.#quiet);
    const { quietMs = 200 } = this.#options;
    const hear = (): void => {
      this.#hears = true;
    };
    if (quietMs === 0) hear();
    else this.#quiet = setTimeout(hear, quietMs);
  }

  #onKeys(keys: string): void {
    if (keys.includes(CTRL_C)) {
      this.#give();
      this.#options.onInterrupt();
    } else if (this.#reason !== undefined) this.#onReason(keys);
    else if (!this.#hears) this.#wait();
    else this.#onKey(keys.toLowerCase());
  }

  #onKey(key: string): void {
    const offer = offersOf(this.#question).find((each) => each.key === key);
    // A yes is for what was seen whole.
    const isNo = offer !== undefined && "choice" in offer.reply && offer.reply.choice === "no";
    const isUnseen = !this.#isSeen && offer !== undefined && !isNo;
    if (key === "v" || isUnseen) {
      this.#write({ whole: true });
      // The same key again, as of a key that is held, is none for what stands there now.
      this.#hears = false;
      this.#wait();
    } else if (isNo) this.#showReason("");
    else if (offer !== undefined) this.#answer.resolve(offer.reply);
    else if (key === ESCAPE) this.#answer.resolve({ choice: "stop" });
    else if (key === CTRL_D) this.#answer.resolve(REFUSED);
    else if (key === CTRL_Z) this.#suspend();
  }

  /** Keys while a reason is typed: on one row of the terminal, whatever its length and width. */
  #onReason(keys: string): void {
    const { output } = this.#options;
    if (keys === ESCAPE || keys === CTRL_D) {
      this.#reason = undefined;
      output.write(`\n${this.#keyLine()}\n`);
      return;
    }
    // Arrow keys and their like move nothing here.
    if (keys.startsWith(ESCAPE)) return;
    const isDone = /[\r\n]$/.test(keys);
    const reason = [...(isDone ? keys.slice(0, -1) : keys)].reduce(withKey, this.#reason ?? "");
    this.#showReason(reason);
    if (!isDone) return;
    output.write("\n");
    this.#answer.resolve({ choice: "no", reason });
  }

  #showReason(text: string): void {
    this.#reason = text;
    const { output, style, width } = this.#options;
    const room = Math.max(8, width() - columnsOf(REASON_LABEL) - 2);
    output.write(`\r\u001B[K${style.bold(REASON_LABEL)}${lastColumns(withHiddenShown(text), room)}`);
  }

  #suspend(): void {
    const { onSuspend } = this.#options;
    if (onSuspend === undefined) return;
    this.#give();
    onSuspend(() => {
      if (this.#signal.aborted) return;
      try {
        this.#put();
      } catch (error) {
        this.#answer.reject(error);
      }
    });
  }

  #say(message: string): void {
    const { output, style } = this.#options;
    output.write(`${style.dim(`  ${terminalLine(withHiddenShown(message), 2_000)}`)}\n`);
  }
}

/** A line that is typed, after one more key. */
function withKey(text: string, key: string): string {
  if (key === "\u007F" || key === "\b") return [...text].slice(0, -1).join("");
  if (key === "\u0015") return "";
  if (text.length >= MAX_REASON) return text;
  return text + (/[\p{Cc}\p{Cf}]/u.test(key) ? " " : key);
}

function answerText(reply: QuestionReply): string {
  if (!("choice" in reply)) return "answered";
  const { choice, rule = "", reason = "" } = reply;
  if (choice === "once") return "allowed once";
  if (choice === "edits") return "all edits in this session are allowed";
  if (choice === "always") return `always allowed here: ${rule}`;
  if (choice === "stop") return "refused, and the run ends";
  return reason === "" ? "refused" : `refused: ${reason}`;
}
