import { terminalLine } from "../../view/safe-text.ts";
import type { SessionView } from "../../view/view.ts";
import { PHASES, retryText } from "../../view/words.ts";
import { fitColumns } from "../text/columns.ts";
import type { Output, Style } from "./command-context.ts";

/** Waits shorter than this are not told, in milliseconds. */
const QUIET_MS = 1_000;
/** Characters of what is waited for: the time stands behind it. */
const MAX_WHAT = 60;

/**
 * One line on a terminal that says what a run waits for and for how long. It is drawn over itself with each
 * {@link draw}, and taken away before anything else is written through {@link over}.
 */
export class WaitingLine {
  readonly #output: Output;
  readonly #dim: Style["dim"];
  readonly #width: () => number;
  readonly #now: () => number;
  #what = "";
  #since = 0;
  #isDrawn = false;
  #view: SessionView | undefined;

  constructor(
    output: Output,
    { dim }: Pick<Style, "dim">,
    width: () => number,
    now: () => number = () => performance.now(),
  ) {
    this.#output = output;
    this.#dim = dim;
    this.#width = width;
    this.#now = now;
  }

  /** Takes from a session what its run waits for; the same as before goes on counting. */
  follow(view: SessionView): void {
    this.#view = view;
    const what = waitOf(view, Number.POSITIVE_INFINITY);
    if (what === this.#what) return;
    this.clear();
    this.#what = what;
    this.#since = this.#now();
  }

  draw(): void {
    const waitedMs = this.#now() - this.#since;
    if (this.#view === undefined || this.#what === "" || waitedMs < QUIET_MS) return;
    const what = terminalLine(waitOf(this.#view, Date.now()), MAX_WHAT);
    const text = fitColumns(`… ${what} · ${Math.floor(waitedMs / 1_000)} s`, Math.max(1, this.#width() - 1));
    this.#output.write(`\r\u001B[K${this.#dim(text)}`);
    this.#isDrawn = true;
  }

  /** Takes the line away until it is drawn again. */
  clear(): void {
    if (this.#isDrawn) this.#output.write("\r\u001B[K");
    this.#isDrawn = false;
  }

  /** An output on the same terminal that takes the line away before it writes. */
  over(output: Output): Output {
    if (!output.isTerminal) return output;
    const write = (text: string): void => {
      this.clear();
      output.write(text);
    };
    const { drain, onBroken } = output;
    return {
      isTerminal: true,
      isFull: false,
      write,
      drain: drain.bind(output),
      onBroken: onBroken.bind(output),
    };
  }
}

/** The thing that a run waits for; empty while a person is asked, or nothing runs. */
function waitOf({ run, state, items }: SessionView, now: number): string {
  if (run === undefined || state === "waiting") return "";
  if (run.retry !== undefined) return retryText(run.retry, now);
  const [first, ...more] = items.filter((item) => item.type === "tool" && item.state === "running");
  if (run.phase !== "tools" || first?.type !== "tool") return PHASES[run.phase];
  return more.length > 0 ? `running ${more.length + 1} calls` : `running ${first.name} ${first.title}`.trim();
}
