import type { PathSpace } from "./paths/path-space.ts";
import { secretPattern } from "./secret-files.ts";
import { type OptionTable, optionTable, readOptions } from "./shell/option-reader.ts";
import type { ShellWord } from "./shell/shell-command.ts";

/** Commands that do what `write` could: in a mode that accepts edits they run on literal paths inside the workspace. */
const EDITS: ReadonlyMap<string, OptionTable> = new Map([
  ["mkdir", optionTable("-pv parents verbose")],
  ["cp", optionTable("-pvfn preserve verbose force no-clobber")],
]);

/** The name of the rule that covers a command by the mode that accepts edits, if it makes folders or copies one file inside the workspace. */
export function editRule(words: readonly ShellWord[], space: PathSpace): string | undefined {
  const [program] = words;
  const table = program?.literal === true ? EDITS.get(program.text) : undefined;
  if (program === undefined || table === undefined || !words.every(({ literal }) => literal))
    return undefined;
  const { operands, unknown } = readOptions(words, table);
  const paths = operands.map((index) => words[index]?.text ?? "");
  if (unknown.length > 0 || paths.length === 0 || paths.includes("")) return undefined;
  if (program.text === "cp" && paths.length !== 2) return undefined;
  const [source = "", target = ""] = paths;
  const written =
    program.text === "cp" ? [target, `${target}/${source.slice(source.lastIndexOf("/") + 1)}`] : paths;
  const isPlain = [...paths, ...written].every((path) => isEditable(path, space));
  return isPlain ? `${program.text} (accepting edits)` : undefined;
}

/** What lies behind links counts: inside the workspace, and neither a file with keys nor machinery. */
function isEditable(path: string, space: PathSpace): boolean {
  if (path.startsWith("~")) return false;
  const judged = space.path(path);
  return (
    space.isInside(judged.resolved) &&
    !space.isMachinery(judged) &&
    secretPattern(path) === undefined &&
    secretPattern(judged.resolved) === undefined
  );
}
