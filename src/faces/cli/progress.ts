import type { AgentEvent } from "../../core/agent/entries.ts";
import { textOf, toolCallsOf } from "../../core/message/message.ts";
import { terminalText } from "../../view/safe-text.ts";
import type { DressedAnswer } from "../text/dressed-answer.ts";
import { callLine, resultLines } from "./call-lines.ts";
import { noteLine, noteOf } from "./note-lines.ts";
import type { Output } from "./standard-output.ts";
import type { Style } from "./style.ts";
import type { WaitingLine } from "./waiting-line.ts";

/** Options of {@link Progress}. */
export interface ProgressOptions {
  readonly stderr: Output;
  readonly style: Style;
  /** Gets the text of answers as it comes, when a person watches standard output too. */
  readonly liveText: Output | undefined;
  /** Dresses an answer that goes there; undefined, or left out: it is shown as it is written. */
  readonly dress?: () => DressedAnswer | undefined;
  /** Told of every event, and drawn by {@link Progress.draw}. */
  readonly waiting?: WaitingLine | undefined;
}

/**
 * Shows a person what a run does: reasoning (dim), each call with its arguments on one line, what came of it
 * and how long it took, retries. Where nobody looks it tells what went wrong, and no more.
 */
export class Progress {
  readonly #options: ProgressOptions;
  /** Reasoning or answer text without a line end yet, which the cursor stands behind. */
  #open: "thinking" | "text" | undefined;
  #lastChar = "\n";
  /** The answer that is being shown, where it is dressed. */
  #answer: DressedAnswer | undefined;
  /** The call whose line was written last: its result needs no name. */
  #lastCall: string | undefined;
  #held: AgentEvent[] | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  /** Leaves the terminal to somebody else until the function it returns is called; events are shown then. */
  hold(): () => void {
    this.closeLine();
    this.#held ??= [];
    return () => {
      const events = this.#held ?? [];
      this.#held = undefined;
      for (const event of events) this.show(event);
    };
  }

  show(event: AgentEvent): void {
    const { stderr, style, liveText, waiting } = this.#options;
    if (this.#held !== undefined) {
      this.#held.push(event);
      return;
    }
    waiting?.follow(event);
    if (!stderr.isTerminal) {
      const note = noteOf(event);
      if (note !== undefined) stderr.write(`nano-agent: ${note}\n`);
      return;
    }
    switch (event.type) {
      case "thinking_delta":
        this.#switchTo("thinking");
        this.#write(stderr, event.text, style.dim);
        return;
      case "text_delta":
        if (liveText !== undefined) this.#text(event.text, liveText);
        return;
      case "assistant_message":
        this.closeLine();
        // Text beside tool calls is no answer: where answers are piped on, it is shown here.
        if (liveText === undefined && toolCallsOf(event.message).length > 0)
          this.#line(terminalText(textOf(event.message.content).trim()));
        return;
      case "tool_intent":
        this.#line(callLine(event, style));
        this.#lastCall = event.callId;
        return;
      case "tool_result": {
        const named = event.callId !== this.#lastCall;
        this.#lastCall = undefined;
        this.#line(resultLines(event, { style, named }).join("\n"));
        return;
      }
      default:
        this.#line(noteLine(event, style) ?? "");
    }
  }

  /** Shows what is waited for and how long, unless the cursor stands in a line of something else. */
  draw(): void {
    if (this.#held === undefined && this.#lastChar === "\n") this.#options.waiting?.draw();
  }

  closeLine(): void {
    if (this.#open === undefined) return;
    const { liveText, stderr } = this.#options;
    liveText?.write(this.#answer?.end() ?? "");
    this.#answer = undefined;
    if (this.#lastChar !== "\n") (this.#open === "text" ? liveText : stderr)?.write("\n");
    this.#open = undefined;
    this.#lastChar = "\n";
  }

  #text(text: string, output: Output): void {
    this.#switchTo("text");
    this.#answer ??= this.#options.dress?.();
    if (this.#answer !== undefined) output.write(this.#answer.push(text));
    else this.#write(output, text, (plain) => plain);
  }

  #write(output: Output, text: string, dress: (text: string) => string): void {
    output.write(dress(terminalText(text)));
    this.#lastChar = text.at(-1) ?? this.#lastChar;
  }

  #switchTo(kind: "thinking" | "text"): void {
    if (this.#open !== kind) this.closeLine();
    this.#open = kind;
  }

  #line(text: string): void {
    if (text === "") return;
    this.closeLine();
    this.#options.stderr.write(`${text}\n`);
  }
}
