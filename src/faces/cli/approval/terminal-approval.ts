import { terminalLine } from "../../../app/safe-text.ts";
import type { ApprovalPrompt, ApprovalQuestion, ApprovalReply } from "../../../permission/approval-prompt.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { Output } from "../output.ts";
import type { Style } from "../style.ts";
import { keyLine, questionLines } from "./question-lines.ts";
import { ReasonLine } from "./reason-line.ts";
import { CTRL_C, type OpenKeys, type TerminalKeys } from "./terminal-keys.ts";

/** What a {@link TerminalApproval} works with. */
export interface TerminalApprovalOptions {
  readonly keys: TerminalKeys;
  /** Where the question is written. */
  readonly output: Output;
  readonly style: Style;
  /** Columns of the terminal now. */
  readonly width: () => number;
  /**
   * Called before a question is written, and the function it returns when it is answered: nothing else may be
   * written meanwhile.
   */
  readonly hold: () => () => void;
  /** Ctrl-C was pressed: the run is to end. The terminal has been given back. */
  readonly onInterrupt: () => void;
  /**
   * Ctrl-Z was pressed: stops the process, and calls back when it goes on. The terminal has been given back.
   */
  readonly onSuspend?: (resumed: () => void) => void;
  /**
   * Milliseconds without a key that must pass before a key counts, so that nothing typed for something else
   * is an answer. Default 200.
   */
  readonly quietMs?: number;
}

/**
 * Asks on a terminal: one key answers. What was typed before the question stood there, and whatever comes
 * faster than a key at a time, is no answer. A terminal that cannot be had, or goes away, refuses.
 */
export class TerminalApproval implements ApprovalPrompt {
  readonly #options: TerminalApprovalOptions;

  constructor(options: TerminalApprovalOptions) {
    this.#options = options;
  }

  ask(question: ApprovalQuestion): Promise<ApprovalReply> {
    return new Question(question, this.#options).ask();
  }

  tell(message: string): void {
    const { output, style } = this.#options;
    output.write(`${style.dim(`  ${terminalLine(withHiddenShown(message), 2_000)}`)}\n`);
  }
}

const CTRL_D = "\u0004";
const CTRL_Z = "\u001A";
const ESCAPE = "\u001B";

class Question {
  readonly #question: ApprovalQuestion;
  readonly #options: TerminalApprovalOptions;
  readonly #answer = Promise.withResolvers<ApprovalReply>();
  #keys: OpenKeys | undefined;
  #release: (() => void) | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #hears = false;
  #reason: ReasonLine | undefined;
  /** The question stood there whole. */
  #isSeen = false;

  constructor(question: ApprovalQuestion, options: TerminalApprovalOptions) {
    this.#question = question;
    this.#options = options;
  }

  async ask(): Promise<ApprovalReply> {
    const { signal } = this.#question;
    signal.throwIfAborted();
    const onAbort = (): void => this.#answer.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#release = this.#options.hold();
    // While the terminal is given back (Ctrl-Z, Ctrl-C) nothing else may be left that keeps the process
    // alive.
    const alive = setInterval(() => undefined, 60_000);
    try {
      this.#take();
      this.#write({ whole: false });
      this.#listen();
      const reply = await this.#answer.promise;
      this.#give();
      this.#say(told(reply, this.#question));
      return reply;
    } catch (error) {
      this.#give();
      if (signal.aborted) this.#say("not answered: the run ended");
      throw error;
    } finally {
      clearInterval(alive);
      signal.removeEventListener("abort", onAbort);
      this.#release();
    }
  }

  #take(): void {
    this.#keys = this.#options.keys.open({
      onKeys: (keys) => this.#onKeys(keys),
      onEnd: () => this.#answer.resolve({ choice: "no", reason: "the terminal is gone" }),
    });
  }

  #give(): void {
    clearTimeout(this.#quiet);
    this.#keys?.close();
    this.#keys = undefined;
  }

  #write({ whole }: { readonly whole: boolean }): void {
    const { style, width, output } = this.#options;
    const lines = questionLines(this.#question, { style, width: width(), whole });
    this.#isSeen ||= whole || !this.#isLong();
    output.write(`${lines.join("\n")}\n${this.#keyLine()}\n`);
  }

  #keyLine(): string {
    const { style, width } = this.#options;
    return keyLine(this.#question, { style, width: width(), whole: !this.#isLong() });
  }

  /** Whether something is left out that a key shows. */
  #isLong(): boolean {
    const look = { style: this.#options.style, width: this.#options.width() };
    const [short, long] = [false, true].map((whole) => questionLines(this.#question, { ...look, whole }));
    return short?.length !== long?.length;
  }

  /** From now on, once it has been quiet for a moment, a key is an answer. */
  #listen(): void {
    this.#hears = false;
    this.#wait();
    this.#keys?.start();
  }

  #wait(): void {
    clearTimeout(this.#quiet);
    const { quietMs = 200 } = this.#options;
    if (quietMs === 0) this.#hears = true;
    else
      this.#quiet = setTimeout(() => {
        this.#hears = true;
      }, quietMs);
  }

  #onKeys(keys: string): void {
    if (keys.includes(CTRL_C)) {
      this.#give();
      this.#options.onInterrupt();
      return;
    }
    if (this.#reason !== undefined) this.#onReason(this.#reason, keys);
    else if (!this.#hears) this.#wait();
    else if (keys === "w" || keys === "W") this.#onWider(keys);
    else this.#onKey(keys.toLowerCase());
  }

  #onWider(key: "w" | "W"): void {
    const { wider, canAlways } = this.#question;
    if (wider === undefined || (key === "W" && !canAlways)) return;
    this.#answer.resolve({ choice: key === "w" ? "session" : "always", wider: true });
  }

  #onKey(key: string): void {
    const { rule, canAlways } = this.#question;
    // A yes is for what was seen whole.
    if (!this.#isSeen && /^[ysa]$/.test(key)) {
      this.#write({ whole: true });
      return;
    }
    switch (key) {
      case "y":
        this.#answer.resolve({ choice: "once" });
        return;
      case "s":
        if (rule !== undefined) this.#answer.resolve({ choice: "session" });
        return;
      case "a":
        if (canAlways) this.#answer.resolve({ choice: "always" });
        return;
      case "n":
      case ESCAPE:
      case CTRL_D:
        this.#answer.resolve({ choice: "no" });
        return;
      case "r":
        this.#reason = new ReasonLine(this.#options);
        this.#reason.show();
        return;
      case "v":
        this.#write({ whole: true });
        return;
      case CTRL_Z:
        this.#suspend();
        return;
      default:
        return;
    }
  }

  #onReason(line: ReasonLine, keys: string): void {
    const end = line.type(keys);
    if (end === undefined) return;
    this.#reason = undefined;
    this.#options.output.write("\n");
    if (end === "submit") this.#answer.resolve({ choice: "no", reason: line.text });
    else this.#options.output.write(`${this.#keyLine()}\n`);
  }

  #suspend(): void {
    const { onSuspend } = this.#options;
    if (onSuspend === undefined) return;
    this.#give();
    onSuspend(() => {
      if (this.#question.signal.aborted) return;
      try {
        this.#take();
      } catch (error) {
        this.#answer.reject(error);
        return;
      }
      this.#write({ whole: false });
      this.#listen();
    });
  }

  #say(message: string): void {
    const { output, style } = this.#options;
    output.write(`${style.dim(`  ${terminalLine(withHiddenShown(message), 2_000)}`)}\n`);
  }
}

function told(reply: ApprovalReply, question: ApprovalQuestion): string {
  const isWider = "wider" in reply && reply.wider === true;
  const rule = (isWider ? question.wider : question.rule) ?? "";
  switch (reply.choice) {
    case "once":
      return "allowed once";
    case "session":
      return `allowed for this session: ${rule}`;
    case "always":
      return `allowed from now on: ${rule}`;
    case "no":
    case "stop":
      return reply.reason === undefined || reply.reason === "" ? "refused" : `refused: ${reply.reason}`;
  }
}
