import { basename } from "node:path";
import { existingFolder } from "../../../coding/settings/paths.ts";
import { misuse } from "../../../core/base/errors.ts";
import { newestOfEach, ResultsFolder, type RunRecord } from "../../../evaluation/results-folder.ts";
import { type Comparison, compareSides, modelsOf } from "../../../evaluation/summarize.ts";
import { EXIT } from "../../../view/exit-code.ts";
import type { CommandCall } from "../command-call.ts";
import { answer, type CommandContext, say } from "../command-context.ts";
import { styleFor } from "../style.ts";
import { comparisonText } from "./results-text.ts";

/** `nano-agent eval compare A B`: two folders of results, task by task. */
export async function compareResults(context: CommandContext, call: CommandCall): Promise<number> {
  const [first = "", second = ""] = call.words;
  const [a, b] = [readSide(context, first, "A"), readSide(context, second, "B")];
  const pairs = modelPairs(a, b);
  const comparisons = pairs.flatMap(([left, right]) => compareSides(sideOf(a, left), sideOf(b, right)) ?? []);
  if (comparisons.length === 0)
    throw misuse(
      `${a.folder} and ${b.folder} have no task in common in the same form, so there is nothing to compare. Compare results of one suite.`,
    );
  const style = styleFor(context.stdout.isTerminal, context.environment);
  answer(context, call, {
    json: (): readonly Comparison[] => comparisons,
    text: () => comparisons.map((each) => comparisonText(each, style)).join("\n"),
  });
  return EXIT.done;
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
    throw misuse(`${folder} holds no results yet. Run nano-agent eval with -o ${path} first.`);
  return { folder, records: newestOfEach(records) };
}

/** One model on each side is a pair whatever the names; of several, those that both sides have. */
function modelPairs(a: ReadSide, b: ReadSide): readonly (readonly [string, string])[] {
  const [left, right] = [modelsOf(a.records), modelsOf(b.records)];
  const [onlyLeft, onlyRight] = [left[0], right[0]];
  if (left.length === 1 && right.length === 1 && onlyLeft !== undefined && onlyRight !== undefined)
    return [[onlyLeft, onlyRight]];
  const both = left.filter((model) => right.includes(model));
  if (both.length > 0) return both.map((model) => [model, model]);
  throw misuse(
    `No model is on both sides: ${a.folder} has ${left.join(", ")}, ${b.folder} has ${right.join(", ")}. Compare folders with a model in common, or with one model each.`,
  );
}

function sideOf(
  { folder, records }: ReadSide,
  model: string,
): { label: string; records: readonly RunRecord[] } {
  return { label: `${basename(folder)} ${model}`, records: records.filter((each) => each.model === model) };
}
