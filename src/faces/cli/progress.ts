import { terminalLine, terminalText } from "../../app/safe-text.ts";
import type { CompactionEntry } from "../../core/agent/entry.ts";
import type { AgentEvent, PhaseEvent } from "../../core/agent/event.ts";
import { textOf, toolCallsOf } from "../../core/message/message.ts";
import { circleText } from "../../plugins/loop-guard-plugin.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import type { DressedAnswer } from "../terminal/dressed-answer.ts";
import { callLine, MAX_COLUMNS, resultLines } from "./call-lines.ts";
import type { Output } from "./output.ts";
import type { Style } from "./style.ts";
import { subagentLine } from "./subagent-line.ts";
import type { WaitingLine } from "./waiting-line.ts";

/** What {@link Progress} writes to, and how much. */
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
 * Shows a person what a run does: reasoning (dim), each call with its arguments on one line, what came of it and how long it took,
 * retries. Writes nothing where nobody looks.
 */
export class Progress {
  readonly #options: ProgressOptions;
  /** What the cursor stands behind: reasoning or answer text that has no line end yet. */
  #open: "thinking" | "text" | undefined;
  #lastChar = "\n";
  /** The answer that is being shown, where it is dressed. */
  #answer: DressedAnswer | undefined;
  /** The call whose line was written last: its result needs no name. */
  #lastCall: string | undefined;
  /** Events that wait until somebody else has finished writing. */
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

  /** Shows one event. */
  show(event: AgentEvent): void {
    if (this.#held !== undefined) {
      this.#held.push(event);
      return;
    }
    const { stderr, waiting } = this.#options;
    waiting?.follow(event);
    if (!stderr.isTerminal) {
      if (event.type === "warning") stderr.write(`nano-agent: ${terminalLine(event.message, 500)}\n`);
      if (event.type === "compaction") stderr.write(`nano-agent: ${compactionLine(event)}\n`);
      const circling = circlingLine(event);
      if (circling !== undefined) stderr.write(`nano-agent: ${terminalLine(circling, 500)}\n`);
      return;
    }
    switch (event.type) {
      case "thinking_delta":
        this.#thinking(event.text);
        return;
      case "text_delta":
        this.#text(event.text);
        return;
      case "assistant_message":
        this.closeLine();
        this.#narration(event);
        return;
      case "tool_intent":
        this.#line(callLine(event, this.#options.style));
        this.#lastCall = event.callId;
        return;
      case "tool_result":
        this.#line(
          resultLines(event, {
            style: this.#options.style,
            named: event.callId !== this.#lastCall,
          }).join("\n"),
        );
        this.#lastCall = undefined;
        return;
      case "retry":
        this.#retry(event);
        return;
      default: {
        const note = noteLine(event, this.#options.style);
        if (note !== undefined) this.#line(note);
      }
    }
  }

  /** Shows what is waited for and how long, unless the cursor stands in a line of something else. */
  draw(): void {
    if (this.#held === undefined && this.#lastChar === "\n") this.#options.waiting?.draw();
  }

  /** Ends the line the cursor is in, if it is in one. */
  closeLine(): void {
    if (this.#open === undefined) return;
    const rest = this.#answer?.end() ?? "";
    this.#answer = undefined;
    this.#options.liveText?.write(rest);
    const output = this.#open === "text" ? this.#options.liveText : this.#options.stderr;
    if (this.#lastChar !== "\n") output?.write("\n");
    this.#open = undefined;
    this.#lastChar = "\n";
  }

  #thinking(text: string): void {
    this.#switchTo("thinking");
    this.#write(this.#options.stderr, text, this.#options.style.dim);
  }

  #text(text: string): void {
    const { liveText, dress } = this.#options;
    if (liveText === undefined) return;
    this.#switchTo("text");
    this.#answer ??= dress?.();
    if (this.#answer !== undefined) liveText.write(this.#answer.push(text));
    else this.#write(liveText, text, (plain) => plain);
  }

  #write(output: Output, text: string, dress: (text: string) => string): void {
    if (text === "") return;
    output.write(dress(terminalText(text)));
    this.#lastChar = text.at(-1) ?? "\n";
  }

  #switchTo(kind: "thinking" | "text"): void {
    if (this.#open === kind) return;
    this.closeLine();
    this.#open = kind;
  }

  /** Text beside tool calls is no answer: where answers are piped on, it is shown here. */
  #narration(event: Extract<AgentEvent, { type: "assistant_message" }>): void {
    if (this.#options.liveText !== undefined || toolCallsOf(event.message).length === 0) return;
    const text = textOf(event.message.content).trim();
    if (text !== "") this.#line(terminalText(text));
  }

  #retry(event: Extract<AgentEvent, { type: "retry" }>): void {
    const { style } = this.#options;
    const wait = event.delayMs < 50 ? "now" : `in ${describeDuration(event.delayMs)}`;
    this.#line(style.yellow(`↻ attempt ${event.attempt} ${wait}: ${terminalLine(event.error.message, 300)}`));
  }

  #line(text: string): void {
    this.closeLine();
    this.#options.stderr.write(`${text}\n`);
  }
}

/** What stands on a line of its own, whatever is shown around it. */
function noteLine(event: AgentEvent, style: Style): string | undefined {
  switch (event.type) {
    case "subagent":
      return subagentLine(event, style);
    case "phase":
      return style.dim(phaseLine(event));
    case "compaction_start":
      return style.dim("⇣ making room in the conversation");
    case "compaction":
      return style.dim(`⇣ ${compactionLine(event)}`);
    case "warning":
      return style.yellow(terminalLine(event.message, 500));
    case "user_message": {
      const circling = circlingLine(event);
      return circling === undefined ? undefined : style.yellow(terminalLine(circling, 500));
    }
    default:
      return undefined;
  }
}

/** That the model was told that it goes in circles; undefined for any other event. */
export function circlingLine(event: AgentEvent): string | undefined {
  if (event.type !== "user_message" || event.circle === undefined) return undefined;
  return `The model is repeating itself and has been warned. ${circleText(event.circle)}`;
}

const METHODS: { readonly [M in CompactionEntry["method"]]: string } = {
  summary: "the older part was summarised",
  shortening: "old results were shortened",
  truncation: "older messages were left out",
};

/** What was done to a conversation to make it fit, in one line. */
export function compactionLine({
  method,
  tokensBefore,
  tokensAfter,
}: Pick<CompactionEntry, "method" | "tokensBefore" | "tokensAfter">): string {
  const thousands = (tokens: number): string => `${(tokens / 1_000).toFixed(1)}k`;
  return `the conversation was compacted from about ${thousands(tokensBefore)} to ${thousands(tokensAfter)} tokens: ${METHODS[method]}`;
}

function phaseLine({ phase, round, step, plan }: PhaseEvent): string {
  const name = phase.replace("_", " ");
  if (step === undefined) return `── ${name}${round === undefined || round === 1 ? "" : ` ${round}`}`;
  const text = plan?.[step - 1] ?? "";
  return `── step ${step} of ${plan?.length ?? step}: ${terminalLine(text, MAX_COLUMNS)}`;
}
