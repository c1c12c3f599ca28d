import { basename } from "node:path";
import { errorMessage } from "../../../core/base/errors.ts";
import { counted, shellArgument } from "../../../core/base/text.ts";
import type { EvaluationEnd, EvaluationEvent } from "../../../evaluation/evaluate.ts";
import { evaluationPage } from "../../../evaluation/evaluation-page.ts";
import type { ResultsFolder, RunRecord } from "../../../evaluation/results-folder.ts";
import { compareModels, counts, dollars, summarize } from "../../../evaluation/summarize.ts";
import type { Task } from "../../../evaluation/task.ts";
import { describeDuration } from "../../../tools/shell/report.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { type CommandContext, say } from "../command-context.ts";
import { type Style, styleFor } from "../style.ts";
import { comparisonText, summaryText, taskText } from "./results-text.ts";

/** The results of an evaluation, for people and for programs. */
export interface EvaluationReport {
  readonly json: object;
  readonly text: string;
  /** True when every run of these models solved its task. */
  readonly areAllSolved: (asked: { readonly models: readonly string[]; readonly repeats: number }) => boolean;
}

/** Tells a person what happens in an evaluation, and what came out. */
export class EvaluationTeller {
  readonly #context: CommandContext;
  readonly #folder: ResultsFolder;
  readonly #tasks: readonly Task[];
  readonly #style: Style;
  #hasPage = false;

  constructor(
    context: CommandContext,
    { folder, tasks }: { readonly folder: ResultsFolder; readonly tasks: readonly Task[] },
  ) {
    this.#context = context;
    this.#folder = folder;
    this.#tasks = tasks;
    this.#style = styleFor(context.stderr.isTerminal, context.environment);
  }

  say(message: string): void {
    say(this.#context, message);
  }

  event(event: EvaluationEvent): void {
    if (event.type === "run") return this.#run(event.record, `${event.done}/${event.total}`);
    const { open, done, damaged, changed } = event;
    this.say(
      done === 0
        ? `${counted(open, "run")} to make; results go to ${this.#folder.path}.`
        : `${counted(done, "run")} made before, ${open} to make; results are in ${this.#folder.path}.`,
    );
    if (damaged.length > 0)
      this.say(
        `Lines of ${this.#folder.results} that cannot be read: ${damaged.join(", ")}. Their runs are made again.`,
      );
    if (changed.length > 0)
      this.say(
        `Changed since: ${changed.join(", ")}. What was found out about them does not count, and they are run again.`,
      );
  }

  #run({ task, model, repeat, solved, error, reason, ...facts }: RunRecord, place: string): void {
    const { green, red, yellow, dim } = this.#style;
    const word = error !== undefined ? yellow("failed") : solved ? green("solved") : red("not solved");
    const figures = `${counted(facts.turns, "turn")}, ${facts.costUsd === null ? "cost unknown" : dollars(facts.costUsd)}, ${describeDuration(facts.ms)}`;
    const name = `${terminalLine(task, 80)} · ${terminalLine(model, 80)} · ${repeat}`;
    const why = solved ? "" : ` · ${terminalLine(reason, 200)}`;
    this.#context.stderr.write(`${dim(`[${place}]`)} ${name} · ${word}${why} · ${dim(figures)}\n`);
  }

  /**
   * Writes the page, and puts together what is said about the results. Where the page cannot be written, they
   * are told all the same.
   */
  report({ records, open, spentUsd }: EvaluationEnd): EvaluationReport {
    const summaries = summarize(records);
    const comparisons = compareModels(records);
    const titles = new Map(this.#tasks.map(({ name, title }) => [name, title]));
    const title = `Evaluation ${basename(this.#folder.path)}`;
    try {
      this.#folder.writePage(evaluationPage({ title, records, summaries, comparisons, titles, open }));
      this.#hasPage = true;
    } catch (error) {
      this.say(errorMessage(error));
    }
    const style = styleFor(this.#context.stdout.isTerminal, this.#context.environment);
    const parts = [
      taskText(records, style),
      summaryText(summaries, style),
      ...comparisons.map((each) => comparisonText(each, style)),
    ];
    return {
      json: {
        folder: this.#folder.path,
        page: this.#hasPage ? this.#folder.page : null,
        open,
        spentUsd,
        models: summaries,
        comparisons,
      },
      text: parts.filter((part) => part !== "").join("\n"),
      areAllSolved: ({ models, repeats }) =>
        records
          .filter(({ model, repeat }) => models.includes(model) && repeat <= repeats)
          .every((record) => counts(record) && record.solved),
    };
  }

  /** Says what to do next. */
  advise({ records, open, isShort }: EvaluationEnd): void {
    const { path, page } = this.#folder;
    const goOn = `the same command with -o ${shellArgument(path)}`;
    if (isShort && open > 0)
      this.say(
        `The money is used up: ${counted(open, "run")} still to be made. Go on with ${goOn} and a higher --max-budget-usd.`,
      );
    else if (open > 0) this.say(`${counted(open, "run")} still to be made. Go on with ${goOn}.`);
    const failed = records.filter((record) => !counts(record)).length;
    if (failed > 0)
      this.say(
        `${counted(failed, "run")} failed for reasons that say nothing about the model, and count for nothing. To make them again: ${goOn}.`,
      );
    const refused = records.reduce((sum, record) => sum + record.refused, 0);
    if (refused > 0)
      this.say(
        `${counted(refused, "tool call")} refused, by a rule or because nobody could be asked. Allow what the tasks need, with --permission-mode acceptEdits, --allowed-tools or --yolo, and another -o.`,
      );
    this.say(
      `${this.#hasPage ? `Page: ${page}. ` : ""}What happened in a run: XDG_STATE_HOME=${shellArgument(path)} nano-agent sessions show ID (or serve --read-only).`,
    );
  }
}
