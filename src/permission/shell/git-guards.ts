import type { WordGuard } from "./program-guards.ts";
import type { ShellWord } from "./shell-command.ts";

/** Options before the sub-command that change nothing git runs. */
const PLAIN_GLOBALS = new Set([
  "--no-pager",
  "-P",
  "-p",
  "--paginate",
  "--no-replace-objects",
  "--no-optional-locks",
  "--literal-pathspecs",
  "--glob-pathspecs",
  "--noglob-pathspecs",
  "--icase-pathspecs",
  "--bare",
  "--version",
  "--help",
  "-v",
  "-h",
  "--html-path",
  "--man-path",
  "--info-path",
  "--exec-path",
]);

/** Long options that run a program or write a file, in whatever sub-command. */
const LONG = [
  "output",
  "output-directory",
  "upload-pack",
  "receive-pack",
  "exec",
  "extcmd",
  "ext-diff",
  "textconv",
  "open-files-in-pager",
  "config-env",
  "smtp-server",
  "sendmail-cmd",
  "to-cmd",
  "cc-cmd",
  "export-marks",
];
/** Whole options that only look like the beginning of one of those. */
const HARMLESS_LONG = new Set(["text", "to", "cc", "config"]);

/** Short options that do, by sub-command. */
const SHORT: ReadonlyMap<string, RegExp> = new Map([
  ["clone", /^(?:-[a-z]*[uc]|--(?:te|co|u))/],
  ["init", /^--te/],
  ["ls-remote", /^-[a-z]*u/],
  ["archive", /^-[a-z]*o/],
  ["format-patch", /^-[a-z]*o/],
  ["bundle", /^-[a-z]*o/],
  ["grep", /^-[A-Za-z]*O/],
  ["rebase", /^-[a-z]*x/],
  ["difftool", /^-[a-z]*[xt]/],
  ["push", /^--exec/],
]);

/** Sub-commands that run what their arguments, or the repository, say. */
const RUNNING: ReadonlyMap<string, RegExp> = new Map([
  ["bisect", /^(?:run|visualize|view)$/],
  ["submodule", /^foreach$/],
  [
    "config",
    /^(?!(?:--get.*|--list|-l|get|list|--show-\w+|--(?:global|local|system|worktree)|--name-only|--null|-z|--type=\w+)$)-|[!]/,
  ],
  ["hook", /^run$/],
  ["maintenance", /^(?:run|start|register)$/],
  ["lfs", /^/],
  ["filter-branch", /^/],
  ["daemon", /^/],
  ["instaweb", /^/],
  ["remote-ext", /^/],
  ["remote-fd", /^/],
  ["send-email", /^/],
  ["credential", /^/],
  ["fast-import", /^/],
  ["fast-export", /^--export/],
]);

/** What the words of a git command run or write beside their purpose. */
export function gitGuards(words: readonly ShellWord[]): readonly WordGuard[] {
  const guards: WordGuard[] = [];
  const guard = (from: number, to: number): void => {
    const text = words[from]?.text ?? "";
    guards.push({
      from,
      to: Math.min(to, words.length),
      reason: `${text} makes git run a program or write a file`,
    });
  };
  let index = 1;
  for (; index < words.length; index++) {
    const text = words[index]?.text ?? "";
    if (!text.startsWith("-") || text === "--") break;
    if (text === "-C") index++;
    else if (text === "-c" || text === "--config-env" || text === "--git-dir" || text === "--work-tree") {
      guard(index, index + 2);
      index++;
    } else if (!PLAIN_GLOBALS.has(text)) guard(index, index + 1);
  }
  const sub = words[index]?.text ?? "";
  const short = SHORT.get(sub);
  const running = RUNNING.get(sub);
  if (running?.source === "^") guard(index, index + 1);
  for (index++; index < words.length; index++) {
    const text = words[index]?.text ?? "";
    if (text === "--" && sub !== "submodule") break;
    const found =
      isLong(text) ||
      short?.test(text) === true ||
      running?.test(text) === true ||
      /^(?:ext|fd)::/.test(text);
    if (found) guard(index, index + 1);
  }
  return [...guards, ...configGuards(sub, words)];
}

function isLong(text: string): boolean {
  if (!text.startsWith("--")) return text === "-O";
  const name = text.slice(2).split("=", 1)[0] ?? "";
  if (name.length < 2 || HARMLESS_LONG.has(name)) return false;
  return LONG.some((long) => long.startsWith(name));
}

/** `git config key value` sets what later commands run. */
function configGuards(sub: string, words: readonly ShellWord[]): readonly WordGuard[] {
  if (sub !== "config") return [];
  const reads = words.some(({ text }) => /^(?:--get.*|--list|-l|get|list)$/.test(text));
  const at = words.findIndex(({ text }) => text === "config");
  if (reads || words.length - at <= 2) return [];
  return [{ from: at + 1, to: words.length, reason: "git config can set programs that git runs later" }];
}
