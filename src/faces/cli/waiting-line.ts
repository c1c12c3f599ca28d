import { terminalLine } from "../../view/safe-text.ts";
import type { SessionView, ToolItem } from "../../view/view.ts";
import { PHASES, retryText } from "../../view/words.ts";
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
/** Characters of what is waited for: the time stands behind it. */
const MAX_WHAT = 60;

/**
 * One line on a terminal that says what a run waits for and for how long. It is drawn over itself with each
 * {@link draw}, and taken away before anything else is written through {@link over}.
 */
export class WaitingLine {
  readonly #options: WaitingLineOptions;
  #what = "";
  #since = 0;
  #isDrawn = false;
  #view: SessionView | undefined;

  constructor(options: WaitingLineOptions) {
    this.#options = options;
  }

  /** Takes from a session what its run waits for. */
  follow(view: SessionView): void {
    this.#view = view;
    this.#set(waitOf(view, Number.POSITIVE_INFINITY));
  }

  draw(): void {
    const waitedMs = this.#now() - this.#since;
    if (this.#view === undefined || this.#what === "" || waitedMs < QUIET_MS) return;
    const { output, style, width } = this.#options;
    const what = terminalLine(waitOf(this.#view, Date.now()), MAX_WHAT);
    const text = fitColumns(`… ${what} · ${Math.floor(waitedMs / 1_000)} s`, Math.max(1, width() - 1));
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

/** The thing that a run waits for; empty while a person is asked, or nothing runs. */
function waitOf({ run, state, items }: SessionView, now: number): string {
  if (run === undefined || state === "waiting") return "";
  if (run.retry !== undefined) return retryText(run.retry, now);
  if (run.phase !== "tools") return PHASES[run.phase];
  const running = items.filter((item) => item.type === "tool" && item.state === "running");
  const [first] = running as readonly ToolItem[];
  if (first === undefined) return PHASES[run.phase];
  return `running ${running.length === 1 ? `${first.name} ${first.title}`.trim() : `${running.length} calls`}`;
}
