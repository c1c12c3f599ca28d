import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { currentFolder, existingFolder } from "../../../coding/settings/paths.ts";
import type { Settings } from "../../../coding/settings/settings.ts";
import { openModel } from "../../../coding/setup/open-model.ts";
import { commandVariables } from "../../../coding/setup/secrets.ts";
import { isNanoAgentError, misuse, NanoAgentError } from "../../../core/base/errors.ts";
import { type EvaluationOptions, evaluate } from "../../../evaluation/evaluate.ts";
import type { RunPlace } from "../../../evaluation/perform-run.ts";
import { assertApart, type SuiteTasks } from "../../../evaluation/read-suites.ts";
import { conditionsOf, ResultsFolder } from "../../../evaluation/results-folder.ts";
import type { Task } from "../../../evaluation/task.ts";
import type { TaskScratch } from "../../../evaluation/task-scratch.ts";
import { chooseModel, namedModel } from "../../../providers/model-choice.ts";
import { realPath } from "../../../system/real-path.ts";
import { EXIT } from "../../../view/exit-code.ts";
import type { Notice } from "../../../view/notice.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { type CommandCall, runFlagsOf } from "../command-call.ts";
import { answer, type CommandContext, say } from "../command-context.ts";
import { withSignals } from "../ending-signals.ts";
import { explainError } from "../explain-error.ts";
import { withPromptFiles, withServerFiles } from "../session-options.ts";
import { StrayErrors } from "../stray-errors.ts";
import { EvaluationTeller } from "./evaluation-teller.ts";
import { countOf, scratchSettings, tasksOf, tellFaults } from "./suite-call.ts";

const MOST_JOBS = 64;
const MOST_REPEATS = 1_000;

/** `nano-agent eval SUITE…`: runs what has no result yet, and shows what came out. */
export async function runEvaluation(context: CommandContext, call: CommandCall): Promise<number> {
  const counts = {
    jobs: countOf(call, "--jobs", MOST_JOBS),
    repeats: countOf(call, "--repeat", MOST_REPEATS),
  };
  const flags = runFlagsOf(call);
  const { suites, tasks, faults } = await tasksOf(call);
  if (faults.length > 0) return tellFaults(context, faults);
  if (call.has("--list")) return listTasks(context, call, tasks);
  const { model: _last, ...config } = withPromptFiles(flags.config, currentFolder());
  const mcp = await withServerFiles(flags.mcp);
  const settings = await scratchSettings(context, { config, mcp });
  const models = await modelsOf(context, call, { tasks, settings });
  const addDirs = flags.addDirs.map((folder) => existingFolder(folder, "--add-dir"));
  const folder = folderOf(call, { suites, tasks });
  const teller = new EvaluationTeller(context, { folder, tasks });
  const asked = {
    suites,
    tasks,
    models,
    ...counts,
    folder,
    maxUsd: config.maxBudgetUsd,
    conditions: {
      ...conditionsOf(settings.config.values),
      ...(mcp.configs.length > 0 && { mcpConfig: mcp.configs }),
      ...(mcp.strict && { strictMcpConfig: mcp.strict }),
      ...(addDirs.length > 0 && { addDir: addDirs }),
    },
    place: {
      config,
      env: commandVariables(settings.environment, settings.config.values),
      keepsScratch: call.has("--keep"),
      onScratch: (scratch: Pick<TaskScratch, "folder">) =>
        teller.say(`The scratch folder stays: ${scratch.folder}`),
    },
  };
  const session = { environment: context.environment, addDirs, mcp, keepIn: folder.history };
  return perform({ context, call, teller, settings }, asked, session);
}

interface Asking {
  readonly context: CommandContext;
  readonly call: CommandCall;
  readonly teller: EvaluationTeller;
  readonly settings: Settings;
}

type AskedOptions = Pick<
  EvaluationOptions,
  "suites" | "tasks" | "models" | "repeats" | "jobs" | "folder" | "maxUsd" | "conditions"
> & { readonly place: Omit<EvaluationOptions["place"], "session"> };

async function perform(
  { context, call, teller, settings }: Asking,
  asked: AskedOptions,
  session: RunPlace["session"],
): Promise<number> {
  const strays = new StrayErrors();
  using _caught = strays.listen();
  let killNow = (): void => undefined;
  try {
    return await withSignals(async ({ signal, forced }) => {
      const ending = evaluate({
        ...asked,
        place: {
          ...asked.place,
          session: { ...session, adoptErrors: strays.adopt, onNotice: toldOnce(teller) },
        },
        signal,
        onEvent: (event) => teller.event(event),
        onLive: (kill) => {
          killNow = kill;
        },
      });
      const end = await Promise.race([ending, forced.then(() => undefined)]);
      if (end === undefined) {
        killNow();
        return EXIT.failed;
      }
      const report = teller.report(end);
      answer(context, call, { json: () => report.json, text: () => report.text });
      teller.advise(end);
      const isSolved = end.open === 0 && asked.tasks.length > 0 && report.areAllSolved(asked);
      return isSolved ? EXIT.done : EXIT.failed;
    });
  } catch (error) {
    if (!isNanoAgentError(error, "unknown_model", "authentication")) throw error;
    const model = asked.models.length === 1 ? asked.models[0] : undefined;
    throw new NanoAgentError(error.code, explainError(error, { settings, model }), { cause: error });
  }
}

/** Every session has the same to say; what matters is said once. */
function toldOnce(teller: EvaluationTeller): (notice: Notice) => void {
  const told = new Set<string>();
  return (notice) => {
    const text = noticeText(notice);
    if (notice.level === "info" || told.has(text)) return;
    told.add(text);
    teller.say(text);
  };
}

/** The models to ask, each once. Throws for one that cannot be asked, before anything was spent. */
async function modelsOf(
  context: CommandContext,
  call: CommandCall,
  { tasks, settings }: { readonly tasks: readonly Task[]; readonly settings: Settings },
): Promise<readonly string[]> {
  const { config, environment } = settings;
  const onNotice = (message: string): void => say(context, message);
  const place = { environment, config: config.values, onNotice, waits: true };
  const named = await Promise.all(call.list("--model").map((name) => namedModel(name, place)));
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
      throw misuse(
        `${limit} needs prices, and that of ${name} is unknown. Give it one in your settings (providers.NAME.models, 0 for a model that costs nothing), or leave that out.`,
      );
  }
  return names;
}

/** The folder for results, a new one where none is named. Throws for one that would be in the way. */
function folderOf(call: CommandCall, suites: Pick<SuiteTasks, "suites" | "tasks">): ResultsFolder {
  const here = currentFolder();
  const named = call.text("--output");
  const path = realPath(resolve(here, named ?? "evaluation"));
  assertApart(suites, { results: path, temporary: realPath(tmpdir()) });
  return named === undefined ? ResultsFolder.fresh(here, new Date()) : new ResultsFolder(path);
}

function listTasks(context: CommandContext, call: CommandCall, tasks: readonly Task[]): number {
  const rows = tasks.map(({ name, title, tags, limits }) => ({ name, title, tags, limits }));
  const lines = rows.map(({ name, title, tags }) => {
    const about = [title === name ? "" : title, tags.length === 0 ? "" : `[${tags.join(", ")}]`];
    return `${[name, ...about]
      .filter((part) => part !== "")
      .map((part) => terminalLine(part, 200))
      .join("  ")}\n`;
  });
  answer(context, call, { json: () => rows, text: () => lines.join("") });
  return EXIT.done;
}
