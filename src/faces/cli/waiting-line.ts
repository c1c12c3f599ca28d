import type { AgentEvent } from "../../core/agent/entries.ts";
import { fitColumns } from "../text/columns.ts";
import type { CommandContext } from "./command-context.ts";
import type { Output } from "./standard-output.ts";
import { type Style, styleFor } from "./style.ts";

/** Options of {@link WaitingLine}. */
export interface WaitingLineOptions {
  readonly output: Output;
  readonly style: Style;
  readonly width: () => number;
  /** Milliseconds, for measuring. Default `performance.now`. */
  readonly now?: () => number;
}

/** The context of a command, with the line that says what it waits for. */
export interface WaitingContext extends CommandContext {
  readonly waiting: WaitingLine | undefined;
}

/** A context whose outputs stand aside for a waiting line, where a terminal can take one back. */
export function withWaitingLine(context: CommandContext): WaitingContext {
  const { stdout, stderr, environment } = context;
  if (!stderr.isTerminal || environment["TERM"] === "dumb") return { ...context, waiting: undefined };
  const waiting = new WaitingLine({
    output: stderr,
    style: styleFor(true, environment),
    width: () => process.stderr.columns || 80,
  });
  return { ...context, stdout: waiting.over(stdout), stderr: waiting.over(stderr), waiting };
}

/** Waits shorter than this are not told, in milliseconds. */
const QUIET_MS = 1_000;

/** The wait that follows an event, unless calls are at work; events that are not here change nothing. */
const WAITS: ReadonlyMap<AgentEvent["type"], string> = new Map([
  ["turn_start", "waiting for the model"],
  ["thinking_delta", "the model is writing"],
  ["text_delta", "the model is writing"],
  ["tool_call_start", "the model is writing"],
  ["retry", "waiting for the next attempt"],
  ["compaction_start", "making room in the conversation"],
  ["compaction", ""],
  ["approval_request", ""],
  ["tool_intent", ""],
  ["tool_result", ""],
  ["done", ""],
]);

/**
 * One line on a terminal that says what a run waits for and for how long. It is drawn over itself with each
 * {@link draw}, and taken away before anything else is written through {@link over}.
 */
export class WaitingLine {
  readonly #options: WaitingLineOptions;
  #what = "";
  #since = 0;
  #isDrawn = false;
  /** Names of the calls at work, by call id. */
  readonly #calls = new Map<string, string>();

  constructor(options: WaitingLineOptions) {
    this.#options = options;
  }

  /** Takes from an event what the run waits for next. */
  follow(event: AgentEvent): void {
    if (event.type === "tool_intent") this.#calls.set(event.callId, event.name);
    else if (event.type === "tool_result") this.#calls.delete(event.callId);
    else if (event.type === "done") this.#calls.clear();
    const what = WAITS.get(event.type);
    if (what === undefined) return;
    const [name, ...others] = this.#calls.values();
    const calls =
      name === undefined ? "" : `running ${others.length === 0 ? name : `${others.length + 1} calls`}`;
    this.#set(calls === "" ? what : calls);
  }

  draw(): void {
    const waitedMs = this.#now() - this.#since;
    if (this.#what === "" || waitedMs < QUIET_MS) return;
    const { output, style, width } = this.#options;
    const text = fitColumns(`… ${this.#what} · ${Math.floor(waitedMs / 1_000)} s`, Math.max(1, width() - 1));
    output.write(`\r\u001B[K${style.dim(text)}`);
    this.#isDrawn = true;
  }

  /** Takes the line away until it is drawn again. */
  clear(): void {
    if (this.#isDrawn) this.#options.output.write("\r\u001B[K");
    this.#isDrawn = false;
  }

  /** An output on the same terminal that takes the line away before it writes. */
  over(output: Output): Output {
    if (!output.isTerminal) return output;
    return {
      isTerminal: true,
      write: (text) => {
        this.clear();
        output.write(text);
      },
      isFull: false,
      drain: () => output.drain(),
      onBroken: (listener) => output.onBroken(listener),
    };
  }

  /** The same as before goes on counting. */
  #set(what: string): void {
    if (what === this.#what) return;
    this.clear();
    this.#what = what;
    this.#since = this.#now();
  }

  #now(): number {
    return (this.#options.now ?? ((): number => performance.now()))();
  }
}
