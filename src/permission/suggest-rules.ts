import { type ShellWord, textAt } from "./shell/shell-command.ts";
import type { ShellUnit, TextGuard } from "./shell/shell-unit.ts";
import { OTHER_SHELLS, SHELLS } from "./shell/wrappers.ts";

const TOOL = "bash";

/** Rules that a person may be offered for a command. */
export interface SuggestedRules {
  /** The narrowest rule that allows it. Absent where a rule would allow more than what was shown. */
  readonly suggestion?: string;
  /** One that allows the sub-command with any arguments; only for some, and only where it has arguments. */
  readonly wider?: string;
}

/** Rules to offer for a command that asks; `guards`: those of its words that no allowed program explains. */
export function suggestRules(unit: ShellUnit, guards: readonly TextGuard[]): SuggestedRules {
  const { text, words } = unit;
  const last = words.at(-1);
  const isFed = last?.text === "" && !last.literal;
  // A rule cannot say a literal star: it stands for any text, more options and other paths among it.
  if (text.includes("*") || guards.some(({ from, to }) => from === to)) return {};
  if (isFed) return RUNS_CODE.has(unit.name) ? {} : { suggestion: `${TOOL}(${text}*)` };
  const suggestion = `${TOOL}(${text})`;
  if (guards.length > 0 || words.some(({ assigns }) => assigns !== undefined)) return { suggestion };
  const head = headOf(words);
  // Without an argument there is none to leave open: `git add *` would not describe the command.
  const isWider = head !== undefined && text.startsWith(`${head} `);
  return isWider ? { suggestion, wider: `${TOOL}(${head} *)` } : { suggestion };
}

/** Programs that run what their arguments say. */
const RUNS_CODE: ReadonlySet<string> = new Set([
  ...SHELLS,
  ...OTHER_SHELLS,
  ..."node deno bun python python2 python3 perl ruby php lua tclsh osascript Rscript java npx pnpx bunx uvx pipx make ssh docker podman kubectl eval source . find awk sed env sudo doas".split(
    " ",
  ),
]);

/**
 * Sub-commands that may be allowed as a whole: with no argument that `*` covers do they run code that the
 * argument brings, hand arguments on to a program nobody knows here, throw away work, send something, ask a
 * server that the argument names, or write outside the workspace.
 */
const WIDER: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    git: "add commit show diff log status blame ls-files rev-parse describe",
    cargo: "build check tree metadata",
    go: "version",
    docker: "ps images logs inspect version info",
  }).map(([program, subs]) => [program, new Set(subs.split(" "))]),
);

/** Program and sub-command, where a rule for these is harmless. */
function headOf(words: readonly ShellWord[]): string | undefined {
  const [program = "", sub = ""] = [0, 1].map((index) => (words[index]?.literal ? textAt(words, index) : ""));
  return WIDER.get(program)?.has(sub) === true ? `${program} ${sub}` : undefined;
}
