import { type ShellWord, textAt } from "./shell/shell-command.ts";
import type { ShellUnit, TextGuard } from "./shell/shell-unit.ts";
import { OTHER_SHELLS, SHELLS } from "./shell/wrappers.ts";

const TOOL = "bash";

/** Rules that a person may be offered for a command. */
export interface SuggestedRules {
  /** The narrowest rule that allows it. Absent where a rule would allow more than what was shown. */
  readonly suggestion?: string;
  /** One that allows the sub-command with whatever arguments; only for some, see {@link WIDER}. */
  readonly wider?: string;
}

/**
 * The rules to offer for a command that asks; `guards`: those of its words that no allowed program explains.
 */
export function suggestRules(unit: ShellUnit, guards: readonly TextGuard[]): SuggestedRules {
  const { text, words } = unit;
  const last = words.at(-1);
  const isFed = last?.text === "" && !last.literal;
  // A rule cannot say a literal star: it stands for any text, more options and other paths among it.
  if (text.includes("*") || guards.some(({ from, to }) => from === to)) return {};
  if (isFed) return RUNS_CODE.has(unit.name) ? {} : { suggestion: `${TOOL}(${text}*)` };
  const head =
    guards.length > 0 || words.some(({ assigns }) => assigns !== undefined) ? undefined : headOf(words);
  const isShort = head === undefined || !text.startsWith(head);
  if (isShort || (text === head && OPEN_NAMES.test(text))) return { suggestion: `${TOOL}(${text})` };
  return { suggestion: `${TOOL}(${text})`, wider: `${TOOL}(${head}${text === head ? "*" : " *"})` };
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
 * Sub-commands that may be allowed as a whole: with no argument do they run code that the argument names,
 * throw away work, send it away, or write outside the workspace.
 */
const WIDER: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    git: "add commit fetch pull switch merge mv stash show diff log status blame branch tag ls-files rev-parse remote describe",
    cargo: "build check clippy test fmt doc tree metadata",
    go: "build vet fmt list version",
    gh: "pr issue run search status",
    npm: "test ls view outdated",
    pnpm: "test list outdated audit",
    yarn: "test list outdated audit",
    pip: "list show freeze check",
    pip3: "list show freeze check",
    docker: "ps images logs inspect version info",
    kubectl: "get describe logs version",
    dotnet: "build test format",
    mix: "test format compile",
    tsc: "",
  }).map(([program, subs]) => [program, new Set(subs.split(" "))]),
);
/** Those with a second word: `npm run build`, `gh pr view`. */
const LOOKS_WITH: ReadonlyMap<string, RegExp> = new Map([
  ["npm run", /^[\w:.-]+$/],
  ["pnpm run", /^[\w:.-]+$/],
  ["yarn run", /^[\w:.-]+$/],
  ["gh pr", /^(?:view|list|diff|checks|status)$/],
  ["gh issue", /^(?:view|list|status)$/],
  ["gh run", /^(?:view|list|watch)$/],
  ["gh search", /^\w+$/],
]);

/** A star glued to these would cover others: `git merge-index`, `git difftool`, `tsc-watch`. */
const OPEN_NAMES = /^(?:git |cargo |tsc$)/;

/** Program and sub-command, where a rule for these is harmless. */
function headOf(words: readonly ShellWord[]): string | undefined {
  const [program, sub, third] = [0, 1, 2].map((index) => (words[index]?.literal ? textAt(words, index) : ""));
  const known = program === undefined ? undefined : WIDER.get(program);
  if (known === undefined || program === undefined || sub === undefined) return undefined;
  const two = `${program} ${sub}`;
  const seconds = LOOKS_WITH.get(two);
  if (seconds !== undefined)
    return third !== undefined && seconds.test(third) ? `${two} ${third}` : undefined;
  if (known.has("")) return program;
  return known.has(sub) && sub !== "" ? two : undefined;
}
