import { type ShellWord, textAt } from "./shell-command.ts";
import type { WordGuard } from "./word-guard.ts";

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
  ["config", /^(?:-e|--edit|-f|--file|--file=.*|!.*)$/],
  ["hook", /^run$/],
  ["maintenance", /^(?:run|start|register)$/],
  ["fast-export", /^--export/],
]);

/** Sub-commands that run programs whatever their arguments. */
const WHOLE = new Set([
  "lfs",
  "filter-branch",
  "daemon",
  "instaweb",
  "remote-ext",
  "remote-fd",
  "send-email",
  "credential",
  "fast-import",
]);

/** What the words of a git command run or write beside their purpose. */
export function gitGuards(words: readonly ShellWord[]): readonly WordGuard[] {
  const { guards, at } = globalGuards(words);
  const sub = textAt(words, at);
  if (WHOLE.has(sub)) guards.push(guardOf(words, at, at + 1));
  for (let index = at + 1; index < words.length; index++) {
    const text = textAt(words, index);
    if (text === "--" && sub !== "submodule") break;
    if (isGuardedArgument(sub, text)) guards.push(guardOf(words, index, index + 1));
  }
  return [...guards, ...configGuards(sub, words)];
}

/** Guards of the options before the sub-command, and where that stands. */
function globalGuards(words: readonly ShellWord[]): { readonly guards: WordGuard[]; readonly at: number } {
  const guards: WordGuard[] = [];
  let at = 1;
  for (; at < words.length; at++) {
    const text = textAt(words, at);
    if (!text.startsWith("-") || text === "--") break;
    if (text === "-C") at++;
    else if (GUARDED_GLOBALS.has(text)) guards.push(guardOf(words, at, ++at + 1));
    else if (!PLAIN_GLOBALS.has(text)) guards.push(guardOf(words, at, at + 1));
  }
  return { guards, at };
}

const GUARDED_GLOBALS = new Set(["-c", "--config-env", "--git-dir", "--work-tree"]);

function guardOf(words: readonly ShellWord[], from: number, to: number): WordGuard {
  return {
    from,
    to: Math.min(to, words.length),
    reason: `${textAt(words, from)} makes git run a program or write a file`,
  };
}

function isGuardedArgument(sub: string, text: string): boolean {
  if (isLong(text) || /^(?:ext|fd)::/.test(text)) return true;
  return SHORT.get(sub)?.test(text) === true || RUNNING.get(sub)?.test(text) === true;
}

function isLong(text: string): boolean {
  if (!text.startsWith("--")) return text === "-O";
  const name = text.slice(2).split("=", 1)[0] ?? "";
  if (name.length < 2 || HARMLESS_LONG.has(name)) return false;
  return LONG.some((long) => long.startsWith(name));
}

/** Keys of the configuration that name programs, or more configuration. */
const RUNNING_KEY =
  /^(?:core\.(?:pager|editor|fsmonitor|sshcommand|hookspath|gitproxy|askpass|attributesfile|worktree)|alias\.|pager\.|diff\..*(?:command|textconv|external)|diff\.external|filter\.|merge\..*driver|(?:merge|diff)tool\.|credential\.|gpg\.|sequence\.editor|uploadpack\.|remote\..*(?:uploadpack|receivepack|vcs|proxy|url)|url\.|include|submodule\..*update|interactive\.difffilter|init\.templatedir|protocol\.|http\.|browser\.|man\.|instaweb\.|sendemail\.|trailer\.|web\.|safe\.|extensions\.|tar\.|imap\.|guitool\.|difftool|ssh\.)/i;

/** `git config key value` can set what later commands run. */
function configGuards(sub: string, words: readonly ShellWord[]): readonly WordGuard[] {
  if (sub !== "config") return [];
  const reads = words.some(({ text }) => /^(?:--get.*|--list|-l|get|list)$/.test(text));
  if (reads) return [];
  const found = words.findIndex(
    ({ text, literal }, index) =>
      index > 1 && (RUNNING_KEY.test(text) || (!literal && !text.startsWith("-"))),
  );
  const key = words.findIndex(
    ({ text, literal }, index) => index > 1 && literal && /^[a-z][\w-]*\..*[\w-]$/i.test(text),
  );
  const guards: WordGuard[] = [];
  if (found !== -1 && (key === -1 || found <= key) && words.length > found + 1)
    guards.push({
      from: found,
      to: words.length,
      reason: `${textAt(words, found)} can name a program that git runs later`,
    });
  return guards;
}
