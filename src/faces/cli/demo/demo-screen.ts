import { terminalLine, terminalText } from "../../../app/safe-text.ts";
import type { Output } from "../output.ts";
import type { Style } from "../style.ts";
import type { TestReport } from "./project-tests.ts";

/** What the demo starts with. */
export interface DemoFacts {
  readonly folder: string;
  readonly prompt: string;
  /** `provider/id` of a real model; absent when it is scripted. */
  readonly model?: string | undefined;
}

/** What the demo ends with. */
export interface DemoVerdict {
  readonly report: TestReport;
  /** Test files that are not as they were. */
  readonly touchedTests: readonly string[];
}

const COMMAND = "node --test";

/** Writes what the demo itself has to say, around the run that it shows. */
export class DemoScreen {
  readonly #output: Output;
  readonly #style: Style;

  constructor(output: Output, style: Style) {
    this.#output = output;
    this.#style = style;
  }

  /** What is real and what is not, and what the agent is asked. */
  opening({ folder, prompt, model }: DemoFacts): void {
    const { bold, dim, yellow } = this.#style;
    this.#line(bold("nano-agent demo"));
    if (model === undefined) {
      this.#line(yellow("The model is scripted: its words were written beforehand. No key, no network."));
      this.#line("The rest is real: the loop, the tools, the permission check, the files and the tests.");
    } else {
      this.#line(`The model is ${terminalLine(model, 200)}, and its requests cost what its provider asks.`);
    }
    this.#line(dim(`A scratch copy of a small project with a failing test: ${folder}`));
    this.#line("");
    this.#line(`${bold(">")} ${prompt}`);
    this.#line("");
  }

  /** How the run of the agent ended, when it did not end by itself. */
  stopped(reason: string): void {
    this.#line(this.#style.red(terminalLine(reason, 1_000)));
  }

  /** What changed. */
  diff(text: string): void {
    this.#line("");
    this.#line(this.#style.bold("What changed"));
    const lines = text
      .trimEnd()
      .split("\n")
      .filter((line) => !isDecoration(line));
    for (const line of text === "" ? ["Nothing."] : lines) this.#line(this.#dressed(terminalText(line)));
  }

  /** What the tests say, and what that means. */
  verdict({ report, touchedTests }: DemoVerdict): void {
    const { bold, green, red } = this.#style;
    this.#line("");
    this.#line(bold(`The tests, run once more by the demo itself (${COMMAND})`));
    for (const { name, ok } of report.tests)
      this.#line(`${ok ? green("✓") : red("✗")} ${terminalLine(name, 200)}`);
    if (!report.ok) for (const line of tail(report.output)) this.#line(terminalText(line));
    const sum = `${report.passed} passed, ${report.failed} failed`;
    this.#line(report.ok ? green(sum) : red(sum));
    if (touchedTests.length > 0) {
      this.#line(red(`${touchedTests.join(", ")} was changed, so these results prove nothing.`));
    }
  }

  /** Where to go from here. */
  closing({
    folder,
    kept,
    scripted,
  }: {
    readonly folder: string;
    readonly kept: boolean;
    readonly scripted: boolean;
  }): void {
    const { dim } = this.#style;
    this.#line("");
    this.#line(
      kept ? `The project stays in ${folder}` : dim("The scratch copy is removed; --keep keeps it."),
    );
    if (!scripted) return;
    this.#line(dim("With a real model: nano-agent demo --model PROVIDER/ID"));
    this.#line(dim('In your own project: nano-agent --permission-mode acceptEdits -p "…"'));
  }

  #dressed(line: string): string {
    const { bold, dim, green, red } = this.#style;
    if (line.startsWith("+++") || line.startsWith("---")) return bold(line);
    if (line.startsWith("+")) return green(line);
    if (line.startsWith("-")) return red(line);
    return line.startsWith("@@") || line.startsWith("\\") ? dim(line) : line;
  }

  #line(text: string): void {
    this.#output.write(`${text}\n`);
  }
}

/** Lines a diff program writes above the names of the files. */
function isDecoration(line: string): boolean {
  return line.startsWith("Index: ") || /^=+$/.test(line);
}

function tail(output: string): readonly string[] {
  return output.trimEnd().split("\n").slice(-60);
}
