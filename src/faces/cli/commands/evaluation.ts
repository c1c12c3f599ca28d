import { tmpdir } from "node:os";
import { basename, resolve } from "node:path";
import type { ConfigFile } from "../../../coding/settings/config-schema.ts";
import { currentFolder, existingFolder } from "../../../coding/settings/paths.ts";
import { loadSettings, type McpSources, type Settings } from "../../../coding/settings/settings.ts";
import { commandVariables } from "../../../coding/setup/confine.ts";
import { openModel } from "../../../coding/setup/open-model.ts";
import {
  errorMessage,
  invalidArgument,
  isNanoAgentError,
  NanoAgentError,
} from "../../../core/base/errors.ts";
import { pluralize, quoteShellArgument } from "../../../core/base/text.ts";
import {
  type EvaluationEvent,
  type EvaluationOptions,
  type EvaluationResult,
  evaluate,
} from "../../../evaluation/evaluate.ts";
import { type TaskValidation, validateTask } from "../../../evaluation/judge.ts";
import { assertNoOverlap, readSuites, type SuiteTasks } from "../../../evaluation/read-suites.ts";
import {
  latestOfEach,
  ResultsFolder,
  type RunRecord,
  runSettingsOf,
} from "../../../evaluation/results-folder.ts";
import {
  type Comparison,
  changeText,
  compareModels,
  compareSides,
  comparisonVerdict,
  dollars,
  isCounted,
  type ModelSummary,
  modelsOf,
  ratioText,
  SUMMARY_COLUMNS,
  shareText,
  summarize,
  summaryCells,
} from "../../../evaluation/summarize.ts";
import type { InvalidTask, Task } from "../../../evaluation/task.ts";
import type { TaskScratch } from "../../../evaluation/task-scratch.ts";
import { chooseModel, resolveLocalName } from "../../../providers/model-choice.ts";
import { createProcessWatcher } from "../../../system/process-watcher.ts";
import { realPath } from "../../../system/real-path.ts";
import { describeDuration } from "../../../tools/shell/describe-result.ts";
import { EXIT } from "../../../view/exit-code.ts";
import type { Notice } from "../../../view/notice.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { type Command, type CommandCall, numberOf, runFlagsOf } from "../command-call.ts";
import {
  type CommandContext,
  type Style,
  say,
  styleFor,
  tableLines,
  writeResult,
} from "../command-context.ts";
import { withSignals } from "../ending-signals.ts";
import { explainError } from "../explain-error.ts";
import { UncaughtErrors } from "../foreign-code.ts";
import { withPromptFiles, withServerFiles } from "../run-flags.ts";
import { loadPageRenderer } from "./export-session.ts";

/** `nano-agent eval …`: runs suites, compares results, validates tasks. */
export const evaluation: Command = (call) => {
  switch (call.action) {
    case "compare":
      return compareResults(call);
    case "validate":
      return validateSuites(call);
    default:
      return runEvaluation(call);
  }
};

const MAX_JOBS = 64;
const MAX_REPEATS = 1_000;

async function runEvaluation(call: CommandCall): Promise<number> {
  const counts = {
    jobs: countOf(call, "--jobs", MAX_JOBS),
    repeats: countOf(call, "--repeat", MAX_REPEATS),
  };
  const flags = runFlagsOf(call);
  const { suites, tasks, invalid } = await readTasks(call);
  if (invalid.length > 0) return reportInvalidTasks(call, invalid);
  if (call.has("--list")) return printTasks(call, tasks);
  const { model: _last, ...config } = withPromptFiles(flags.config, currentFolder());
  const mcp = await withServerFiles(flags.mcp);
  const settings = await scratchSettings(call, { config, mcp });
  const models = await requestedModels(call, { tasks, settings });
  const addDirs = flags.addDirs.map((folder) => existingFolder(folder, "--add-dir"));
  const folder = folderOf(call, { suites, tasks });
  const reporter = new EvaluationReporter(call, { folder, tasks });
  const options = {
    suites,
    tasks,
    models,
    ...counts,
    folder,
    maxUsd: config.maxBudgetUsd,
    conditions: {
      ...runSettingsOf(settings.config.values),
      ...(mcp.configs.length > 0 && { mcpConfig: mcp.configs }),
      ...(mcp.strict && { strictMcpConfig: mcp.strict }),
      ...(addDirs.length > 0 && { addDir: addDirs }),
    },
    place: {
      session: { environment: call.environment, addDirs, mcp, keepIn: folder.history },
      config,
      env: commandVariables(settings.environment, settings.config.values),
      keepsScratch: call.has("--keep"),
      onScratch: (scratch: Pick<TaskScratch, "folder">) =>
        reporter.say(`The scratch folder stays: ${scratch.folder}`),
    },
  };
  return perform(call, settings, reporter, options);
}

async function perform(
  call: CommandCall,
  settings: Settings,
  reporter: EvaluationReporter,
  options: Omit<EvaluationOptions, "signal" | "onEvent" | "onLive">,
): Promise<number> {
  const strays = new UncaughtErrors();
  using _caught = strays.listen();
  let killNow = (): void => undefined;
  try {
    return await withSignals(async ({ signal, forced }) => {
      const ending = evaluate({
        ...options,
        place: {
          ...options.place,
          session: { ...options.place.session, adoptErrors: strays.adopt, onNotice: noticesOnce(reporter) },
        },
        signal,
        onEvent: (event) => reporter.event(event),
        onLive: (kill) => {
          killNow = kill;
        },
      });
      const end = await Promise.race([ending, forced.then(() => undefined)]);
      if (end === undefined) {
        killNow();
        return EXIT.failed;
      }
      const report = await reporter.report(end);
      writeResult(call, report.json, report.text);
      reporter.advise(end);
      return areAllSolved(end, options) ? EXIT.done : EXIT.failed;
    });
  } catch (error) {
    if (!isNanoAgentError(error, "unknown_model", "authentication")) throw error;
    const model = options.models.length === 1 ? options.models[0] : undefined;
    throw new NanoAgentError(error.code, explainError(error, { settings, model }), { cause: error });
  }
}

function areAllSolved(
  { records, open }: EvaluationResult,
  { tasks, models, repeats }: Pick<EvaluationOptions, "tasks" | "models" | "repeats">,
): boolean {
  const requested = records.filter(({ model, repeat }) => models.includes(model) && repeat <= repeats);
  return open === 0 && tasks.length > 0 && requested.every((record) => isCounted(record) && record.solved);
}

/** Every session repeats the same notices: reports each important one once. */
function noticesOnce(reporter: EvaluationReporter): (notice: Notice) => void {
  const shown = new Set<string>();
  return (notice) => {
    const text = noticeText(notice);
    if (notice.level === "info" || shown.has(text)) return;
    shown.add(text);
    reporter.say(text);
  };
}

/** The models to ask, each once. Throws if one cannot be asked, before anything is spent. */
async function requestedModels(
  call: CommandCall,
  { tasks, settings }: { readonly tasks: readonly Task[]; readonly settings: Settings },
): Promise<readonly string[]> {
  const { config, environment } = settings;
  const onNotice = (message: string): void => say(call, message);
  const place = { environment, config: config.values, onNotice, waits: true };
  const named = await Promise.all(call.list("--model").map((name) => resolveLocalName(name, place)));
  const names =
    named.length > 0
      ? [...new Set(named)]
      : [(await chooseModel({ config, environment, onNotice, waits: true })).name];
  const limited = tasks.find(({ limits }) => limits.usd !== undefined);
  const limit =
    config.values.maxBudgetUsd === undefined
      ? limited && `limits.usd of the task ${limited.name}`
      : "--max-budget-usd";
  for (const name of names) {
    const { info } = await openModel(name, place);
    if (limit !== undefined && info?.price === undefined)
      throw invalidArgument(
        `${limit} needs prices, and that of ${name} is unknown. Give it one in your settings (providers.NAME.models, 0 for a model that costs nothing), or leave that out.`,
      );
  }
  return names;
}

/** The folder for results, a new one if none is named. Throws if a named one would interfere. */
function folderOf(call: CommandCall, suites: Pick<SuiteTasks, "suites" | "tasks">): ResultsFolder {
  const here = currentFolder();
  const named = call.text("--output");
  const path = realPath(resolve(here, named ?? "evaluation"));
  assertNoOverlap(suites, { results: path, temporary: realPath(tmpdir()) });
  return named === undefined ? ResultsFolder.create(here, new Date()) : new ResultsFolder(path);
}

function printTasks(call: CommandCall, tasks: readonly Task[]): number {
  const rows = tasks.map(({ name, title, tags, limits }) => ({ name, title, tags, limits }));
  const lines = rows.map(({ name, title, tags }) => {
    const about = [title === name ? "" : title, tags.length === 0 ? "" : `[${tags.join(", ")}]`];
    return `${[name, ...about]
      .filter((part) => part !== "")
      .map((part) => terminalLine(part, 200))
      .join("  ")}\n`;
  });
  return writeResult(call, rows, lines.join(""));
}

class EvaluationReporter {
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
        ? `${pluralize(open, "run")} to make; results go to ${this.#folder.path}.`
        : `${pluralize(done, "run")} made before, ${open} to make; results are in ${this.#folder.path}.`,
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
    const figures = `${pluralize(facts.turns, "turn")}, ${facts.costUsd === null ? "cost unknown" : dollars(facts.costUsd)}, ${describeDuration(facts.ms)}`;
    const name = `${terminalLine(task, 80)} · ${terminalLine(model, 80)} · ${repeat}`;
    const why = solved ? "" : ` · ${terminalLine(reason, 200)}`;
    this.#context.stderr.write(`${dim(`[${place}]`)} ${name} · ${word}${why} · ${dim(figures)}\n`);
  }

  /** Writes the page and assembles the report. Reports the results even if the page cannot be written. */
  async report({
    records,
    open,
    spentUsd,
  }: EvaluationResult): Promise<{ readonly json: object; readonly text: string }> {
    const summaries = summarize(records);
    const comparisons = compareModels(records);
    const titles = new Map(this.#tasks.map(({ name, title }) => [name, title]));
    const title = `Evaluation ${basename(this.#folder.path)}`;
    try {
      const { evaluationPage, style: pageStyle } = await loadPageRenderer();
      const content = { title, records, summaries, comparisons, titles, open };
      this.#folder.writePage(evaluationPage(content, pageStyle));
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
    };
  }

  advise({ records, open, isShort }: EvaluationResult): void {
    const { path, page } = this.#folder;
    const resume = `the same command with -o ${quoteShellArgument(path)}`;
    if (isShort && open > 0)
      this.say(
        `The money is used up: ${pluralize(open, "run")} still to be made. Go on with ${resume} and a higher --max-budget-usd.`,
      );
    else if (open > 0) this.say(`${pluralize(open, "run")} still to be made. Go on with ${resume}.`);
    const failed = records.filter((record) => !isCounted(record)).length;
    if (failed > 0)
      this.say(
        `${pluralize(failed, "run")} failed for reasons that say nothing about the model, and count for nothing. To make them again: ${resume}.`,
      );
    const refused = records.reduce((sum, record) => sum + record.refused, 0);
    if (refused > 0)
      this.say(
        `${pluralize(refused, "tool call")} refused, by a rule or because there was no one to ask. Allow what the tasks need, with --permission-mode acceptEdits, --allowed-tools or --yolo, and another -o.`,
      );
    this.say(
      `${this.#hasPage ? `Page: ${page}. ` : ""}What happened in a run: XDG_STATE_HOME=${quoteShellArgument(path)} nano-agent sessions show ID (or serve --read-only).`,
    );
  }
}

const MAX_NAME = 80;
const MAX_REASON = 300;

function summaryText(summaries: readonly ModelSummary[], style: Style): string {
  const [first, ...others] = SUMMARY_COLUMNS;
  const rows = summaries.map((each) => summaryCells(each).map((cell) => terminalLine(cell, MAX_NAME)));
  const [head = "", ...lines] = tableLines([[first ?? "", ...others], ...rows], 1);
  return [style.dim(head), ...lines].map((line) => `${line}\n`).join("");
}

/** The tasks, each with its solved runs by model, and why others failed. */
function taskText(records: readonly RunRecord[], style: Style): string {
  const names = [...new Set(records.map(({ task }) => task))].sort();
  const lines = names.flatMap((name) => {
    const runs = records.filter(({ task }) => task === name);
    const counted = runs.filter(isCounted);
    const solved = counted.filter((run) => run.solved).length;
    const isSolved = solved === runs.length;
    const symbol = isSolved ? style.green("✓") : style.red("✗");
    const reasons = new Map(
      runs
        .filter((run) => !run.solved)
        .map(({ model, error, reason }) => {
          const why = `${model}: ${error === undefined ? "" : "failed: "}${reason}`;
          return [why, style.dim(`    ${terminalLine(why, MAX_REASON)}`)];
        }),
    );
    return [`${symbol} ${terminalLine(name, MAX_NAME)}  ${solved} of ${counted.length}`, ...reasons.values()];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function comparisonText(comparison: Comparison, style: Style): string {
  const { a, b, better, worse, missing, changed } = comparison;
  const line = (text: string): string => `  ${terminalLine(text, 4_000)}`;
  const named = (what: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [line(`${what}: ${names.join(", ")}`)];
  const lines = [
    style.bold(terminalLine(`${a} → ${b}`, MAX_NAME * 3)),
    line(shareText(comparison)),
    line(comparisonVerdict(comparison)),
    ...(better.length === 0 ? [] : [line(`better: ${changeText(better)}`)]),
    ...(worse.length === 0 ? [] : [line(`worse: ${changeText(worse)}`)]),
    ...(ratioText(comparison) === "" ? [] : [line(ratioText(comparison))]),
    ...named("left out, because only one side has them", missing),
    ...named("left out, because they were changed in between", changed),
  ];
  return lines.map((each) => `${each}\n`).join("");
}

/** The tasks a command line names. Throws `invalid_argument` for suites that cannot be read. */
function readTasks(call: CommandCall): Promise<SuiteTasks> {
  return readSuites(call.words, { names: call.list("--task"), tags: call.list("--tag") });
}

/** The number from 1 to `most` given for an option, or 1. Throws `invalid_argument`. */
function countOf(call: CommandCall, name: "--jobs" | "--repeat", most: number): number {
  return numberOf(call, name, { least: 1, most, what: `a whole number from 1 to ${most}` }) ?? 1;
}

/**
 * The settings for scratch folders: those of the user and the command line, not those of the folder the
 * command is given in.
 */
function scratchSettings(
  { environment }: CommandContext,
  { config = {}, mcp }: { readonly config?: ConfigFile; readonly mcp?: McpSources } = {},
): Promise<Settings> {
  return loadSettings({
    environment,
    cwd: existingFolder(tmpdir(), "The temporary folder"),
    flags: config,
    mcp,
  });
}

/** Reports why folders are not tasks. Resolves to the exit code. */
function reportInvalidTasks(context: CommandContext, faults: readonly InvalidTask[]): number {
  for (const { folder, problems: sentences } of faults)
    for (const sentence of sentences) say(context, `${folder} ${sentence}.`);
  say(
    context,
    `${pluralize(faults.length, "task")} cannot be used. nano-agent eval validate tells more about the others.`,
  );
  return EXIT.usage;
}

/** `nano-agent eval validate SUITE…`: proves that the tasks tell a solution from a failure. */
async function validateSuites(call: CommandCall): Promise<number> {
  const jobs = countOf(call, "--jobs", 64);
  const { tasks, invalid } = await readTasks(call);
  const { environment, config } = await scratchSettings(call);
  const proofs: TaskValidation[] = invalid.map(unusable);
  return withSignals(async ({ signal, forced }) => {
    const watcher = createProcessWatcher();
    const place = { env: commandVariables(environment, config.values), signal, watcher };
    const waiting = [...tasks];
    const worker = async (): Promise<void> => {
      for (let task = waiting.shift(); task !== undefined && !signal.aborted; task = waiting.shift())
        proofs.push(await validateTask(task, place));
    };
    await Promise.race([Promise.all(Array.from({ length: jobs }, worker)), forced]);
    // An interrupted proof proves nothing.
    if (signal.aborted) return EXIT.failed;
    proofs.sort((left, right) => (left.task < right.task ? -1 : 1));
    const style = styleFor(call.stdout.isTerminal, call.environment);
    writeResult(call, proofs, proofText(proofs, style));
    return proofs.some((proof) => proof.faults.length > 0) ? EXIT.failed : EXIT.done;
  });
}

function unusable({ name, problems }: InvalidTask): TaskValidation {
  return { task: name, faults: problems, isSolvable: false };
}

function proofText(proofs: readonly TaskValidation[], style: Style): string {
  const lines = proofs.flatMap(({ task, faults, isSolvable }) => {
    const name = terminalLine(task, 80);
    if (faults.length > 0)
      return [`${style.red("✗")} ${name}`, ...faults.map((fault) => `    ${terminalLine(fault, 1_000)}`)];
    return isSolvable
      ? [`${style.green("✓")} ${name}: fails untouched, passes with its reference`]
      : [
          `${style.yellow("–")} ${name}: fails untouched; without a reference nothing proves that it can be solved`,
        ];
  });
  const bad = proofs.filter(({ faults }) => faults.length > 0).length;
  const total =
    bad === 0
      ? pluralize(proofs.length, "good task")
      : `${bad} of ${pluralize(proofs.length, "task")} cannot be used as it stands`;
  return [...lines, `${total}.`].map((line) => `${line}\n`).join("");
}

/** `nano-agent eval compare A B`: compares two folders of results, task by task. */
async function compareResults(call: CommandCall): Promise<number> {
  const [first = "", second = ""] = call.words;
  const [a, b] = [readSide(call, first, "A"), readSide(call, second, "B")];
  const pairs = modelPairs(a, b);
  const comparisons = pairs.flatMap(([left, right]) => compareSides(sideOf(a, left), sideOf(b, right)) ?? []);
  if (comparisons.length === 0)
    throw invalidArgument(
      `${a.folder} and ${b.folder} have no task in common in the same form, so there is nothing to compare. Compare results of one suite.`,
    );
  const style = styleFor(call.stdout.isTerminal, call.environment);
  return writeResult(call, comparisons, comparisons.map((each) => comparisonText(each, style)).join("\n"));
}

interface ReadSide {
  readonly folder: string;
  readonly records: readonly RunRecord[];
}

function readSide(context: CommandContext, path: string, name: string): ReadSide {
  const folder = existingFolder(path, name);
  const { records, damaged } = new ResultsFolder(folder).read();
  if (damaged.length > 0)
    say(context, `${folder}: lines that cannot be read are left out: ${damaged.join(", ")}.`);
  if (records.length === 0)
    throw invalidArgument(`${folder} holds no results yet. Run nano-agent eval with -o ${path} first.`);
  return { folder, records: latestOfEach(records) };
}

/** One model on each side is a pair whatever the names; of several, those that both sides have. */
function modelPairs(a: ReadSide, b: ReadSide): readonly (readonly [string, string])[] {
  const [left, right] = [modelsOf(a.records), modelsOf(b.records)];
  const [onlyLeft, onlyRight] = [left[0], right[0]];
  if (left.length === 1 && right.length === 1 && onlyLeft !== undefined && onlyRight !== undefined)
    return [[onlyLeft, onlyRight]];
  const both = left.filter((model) => right.includes(model));
  if (both.length > 0) return both.map((model) => [model, model]);
  throw invalidArgument(
    `No model is on both sides: ${a.folder} has ${left.join(", ")}, ${b.folder} has ${right.join(", ")}. Compare folders with a model in common, or with one model each.`,
  );
}

function sideOf(
  { folder, records }: ReadSide,
  model: string,
): { label: string; records: readonly RunRecord[] } {
  return { label: `${basename(folder)} ${model}`, records: records.filter((each) => each.model === model) };
}
