import { wordSet } from "../match-text.ts";
import { hasBeginning, optionTable, readOptions } from "./option-reader.ts";
import { type ShellWord, textAt } from "./shell-command.ts";
import type { WordGuard } from "./shell-unit.ts";

/** Options before the sub-command that change nothing git runs. */
const PLAIN_GLOBALS = wordSet(`
  --no-pager -P -p --paginate --no-replace-objects --no-optional-locks --literal-pathspecs --glob-pathspecs
  --noglob-pathspecs --icase-pathspecs --bare --version --help -v -h --html-path --man-path --info-path
  --exec-path`);

/** Long options that run a program or write a file, in whatever sub-command. */
const LONG =
  "output output-directory upload-pack receive-pack exec extcmd ext-diff textconv open-files-in-pager config-env smtp-server sendmail-cmd to-cmd cc-cmd export-marks show-signature verify-signatures index-output build-fake-ancestor in-place";
/** Whole options of some sub-commands, that are only beginnings of those for others. */
const HARMLESS_LONG: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["text", wordSet("diff log show whatchanged reflog stash grep blame annotate format-patch")],
  ["index", wordSet("apply stash")],
  ["show-current", wordSet("branch")],
  ["verify", wordSet("am commit merge pull push rebase rev-parse show-ref")],
  ["to", wordSet("format-patch")],
  ["cc", wordSet("format-patch")],
]);
/** A format that shows signatures, which gpg is started for. */
const SHOWS_SIGNATURE = /^--(?:for|pre)[a-z]*=.*%[-+ ]?G|%\(\*?signature/s;
/** Enters submodules, those that only a commit names too: git goes by the settings there. */
const ENTERS_SUBMODULES =
  /^--(?:sub(?:m[a-z]*)?(?:$|=(?!short$))|rec(?!ursive$)[a-z-]*(?:$|=(?!(?:no|off|false)$)))/;

/** Short options that do, by sub-command; of the others those whose value is the rest of their word. */
const SHORT: ReadonlyMap<string, readonly [letters: string, valued: string]> = new Map([
  ["clone", ["uc", "boj"]],
  ["ls-remote", ["u", "o"]],
  ["format-patch", ["o", "v"]],
  ["bugreport", ["o", "s"]],
  ["diagnose", ["o", "s"]],
  ["help", ["wmi", ""]],
  ["bundle", ["o", ""]],
  ["index-pack", ["o", ""]],
  ["mailsplit", ["o", "bdf"]],
  ["grep", ["O", "ABCefm"]],
  ["rebase", ["x", "CSXs"]],
  ["archive", ["o", ""]],
  // Text conversions, which no option of theirs leaves out; and checks of signatures.
  ["status", ["v", "uM"]],
  ["commit", ["v", "CFSctmu"]],
  ["tag", ["v", "Fmnu"]],
]);
/** Long options that do there, from their beginnings. */
const LONG_OF: ReadonlyMap<string, RegExp> = new Map([
  ["clone", /^--(?:te|co|u|se)/],
  ["init", /^--(?:te|se)/],
  ["checkout-index", /^--p/],
  ["help", /^--(?:w|m|i)/],
  ["push", /^--exec/],
  ["am", /^--sh/],
  ["rebase", /^--sh/],
  // A repository on this machine answers by its own settings.
  ["archive", /^--rem/],
  ["apply", /^--un(?!i)/],
  ["status", /^--ve/],
  ["commit", /^--verb/],
  ["tag", /^--ver/],
]);

/** Sub-commands that run what their arguments, or the repository, say. */
const RUNNING: ReadonlyMap<string, RegExp> = new Map([
  // An older git has its shell evaluate the file that is played again.
  ["bisect", /^(?:run|visualize|view|replay)$/],
  ["submodule", /^foreach$/],
  ["config", /^(?:-e|--edit|-f|--file|--file=.*|!.*)$/],
  ["hook", /^run$/],
  ["maintenance", /^(?:run|start|register)$/],
  // It leads git to the settings of a work tree that nobody could see.
  ["worktree", /^repair$/],
  ["fast-export", /^--export/],
]);

/** Sub-commands that run programs whatever their arguments. */
const WHOLE = wordSet(`
  lfs filter-branch daemon instaweb remote-ext remote-fd send-email credential fast-import for-each-repo p4
  svn gui citool web--browse sh-setup cvsimport cvsserver archimport quiltimport upload-archive shell
  mergetool difftool send-pack fetch-pack http-fetch http-push http-backend upload-pack receive-pack
  merge-index range-diff verify-commit verify-tag mailinfo cvsexportcommit`);
/** Parts of git that others of it call, with what these have read as arguments. */
const INNER = /--|^(?:credential|remote)-/;
/** Git runs a program of that name, and one with a slash is a path here: `git x/evil` runs `git-x/evil`. */
const PATH_NAME = /\//;

/** Ways of merging that git itself has; any other is the name of a program, or of a path to one. */
export const STRATEGIES: ReadonlySet<string> = wordSet("ort recursive resolve octopus ours subtree");
/** Sub-commands that take one. */
const MERGING: ReadonlySet<string> = wordSet("merge rebase pull cherry-pick revert");
/** If there is a short option for it: the other short ones whose value is the rest of their word. */
const SHORT_STRATEGY: ReadonlyMap<string, string> = new Map([
  ["merge", "FSXm"],
  ["rebase", "CSXx"],
  ["pull", "SXjor"],
]);

/** The guards for words of a git command that run or write something beside its purpose. */
export function gitGuards(words: readonly ShellWord[]): readonly WordGuard[] {
  const { guards, at } = globalGuards(words);
  const sub = textAt(words, at);
  if (WHOLE.has(sub) || INNER.test(sub) || PATH_NAME.test(sub)) guards.push(guardOf(words, at, at + 1));
  for (let index = at + 1; index < words.length; index++) {
    const text = textAt(words, index);
    if (text === "--" && sub !== "submodule") break;
    if (isGuardedArgument(sub, text)) guards.push(guardOf(words, index, index + 1));
    else if (MERGING.has(sub) && namesStrategy(sub, text, textAt(words, index + 1)))
      guards.push(guardOf(words, index, index + 1));
  }
  return [...guards, ...configGuards(sub, words, at)];
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

/** Index of the sub-command of git, behind its options. */
export function subcommandAt(words: readonly ShellWord[]): number {
  return globalGuards(words).at;
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
  if (isLong(sub, text) || /(?:^|=)(?:ext|fd)::/.test(text)) return true;
  if (SHOWS_SIGNATURE.test(text) || (sub !== "clone" && ENTERS_SUBMODULES.test(text))) return true;
  const [letters, valued] = SHORT.get(sub) ?? ["", ""];
  if (behindLetter(text, letters, valued) !== undefined) return true;
  return LONG_OF.get(sub)?.test(text) === true || RUNNING.get(sub)?.test(text) === true;
}

/** The text behind the first of these letters in a bundle; digits and unknown letters may be options too. */
function behindLetter(text: string, letters: string, valued: string): string | undefined {
  if (!/^-[^-]/.test(text)) return undefined;
  for (let at = 1; at < text.length; at++) {
    if (letters.includes(text.charAt(at))) return text.slice(at + 1);
    if (valued.includes(text.charAt(at))) return undefined;
  }
  return undefined;
}

/** True when an option names a way of merging that is a program of somebody else's. */
function namesStrategy(sub: string, text: string, next: string): boolean {
  const long = /^--str[a-z]*(?:=(.*))?$/s.exec(text);
  const valued = SHORT_STRATEGY.get(sub);
  const value = long === null ? valued && behindLetter(text, "s", valued) : (long[1] ?? "");
  if (value === undefined) return false;
  return !STRATEGIES.has(value === "" ? next : value);
}

function isLong(sub: string, text: string): boolean {
  if (!text.startsWith("--")) return text === "-O";
  const name = text.slice(2).split("=", 1)[0] ?? "";
  if (name === "") return false;
  return HARMLESS_LONG.get(name)?.has(sub) !== true && hasBeginning(LONG, name);
}

/** Settings of how git looks or its defaults; any other may name a program or more configuration. */
export const PLAIN_KEY: RegExp =
  /^(?:user\.(?:name|email)|core\.(?:autocrlf|eol|safecrlf|filemode|ignorecase|quotepath|longpaths|abbrev|precomposeunicode|symlinks|whitespace)|color\..*|column\..*|advice\..*|status\..*|push\.(?:default|autosetupremote|followtags)|pull\.(?:rebase|ff)|fetch\.(?:prune|prunetags)|init\.defaultbranch|merge\.(?:conflictstyle|ff)|rebase\.(?:autostash|autosquash|updaterefs)|rerere\.(?:enabled|autoupdate)|log\.(?:date|decorate|abbrevcommit)|diff\.(?:algorithm|colormoved|renames|mnemonicprefix)|branch\..*\.(?:remote|merge|rebase|description)|branch\.(?:sort|autosetuprebase|autosetupmerge)|tag\.sort|commit\.(?:verbose|gpgsign)|tag\.gpgsign|versionsort\..*)$/i;
const READING = optionTable(
  `-lz global system local worktree list get get-all get-regexp get-urlmatch show-origin show-scope name-only
   null bool int bool-or-int path expiry-date type= default= includes no-includes`,
  "ordered",
);

/** True when a setting only changes git's looks or defaults. The remote of a branch may be a path. */
function isPlainSetting(words: readonly ShellWord[], at: number, value: number | undefined): boolean {
  const key = textAt(words, at);
  const isPlain = words[at]?.literal === true && PLAIN_KEY.test(key);
  return isPlain && (!/^branch\..*\.remote$/i.test(key) || /^\w[\w-]*$/.test(textAt(words, value ?? at)));
}

/** `git config key value` can set what later commands run. */
function configGuards(sub: string, words: readonly ShellWord[], at: number): readonly WordGuard[] {
  if (sub !== "config") return [];
  const { options, operands, unknown } = readOptions(words, READING, at + 1);
  const isVerb = /^(?:get|list|set|unset|get-all)$/.test(textAt(words, operands[0] ?? words.length));
  const [key, value] = operands.slice(isVerb ? 1 : 0);
  const asks = options.some(({ name }) => /^(?:-l|--list|--get.*)$/.test(name));
  const reads =
    asks || (isVerb ? /^(?:get|list)/.test(textAt(words, operands[0] ?? 0)) : value === undefined);
  if (unknown.length === 0 && reads) return [];
  const from = unknown[0] ?? key ?? at;
  if (unknown.length === 0 && isPlainSetting(words, from, value)) return [];
  const reason = `${textAt(words, from)} can name a program that git runs later`;
  return [{ from, to: words.length, reason }];
}

/** True when a format of `git log` only prints fields of commits: not gpg's (`%G?`), nor an unknown one. */
export function isPlainLogFormat(format: string): boolean {
  return !format.includes("%") || LOG.test(format);
}

/** True when a format of `git branch`, `git tag` or `git for-each-ref` only prints fields of references. */
export function isPlainRefFormat(format: string): boolean {
  return !format.includes("%") || REF.test(format);
}

const LOG =
  /^(?:[^%]|%[-+ ]?(?:[%nmHTPhtpdDeBbsfNS]|[ac][nNeElLdDrtiIsh]|g[DdnNeEsS]|x[\da-fA-F]{2}|C(?:red|green|blue|reset|\([\w ,#-]*\))|w\([\d, ]*\)|[<>]{1,2}\|?\([\d, a-z-]*\)|\((?:decorate|trailers)(?::[\w=, -]*)?\)))*$/s;
const REF =
  /^(?:[^%]|%%|%[\da-fA-F]{2}|%\((?:\*?(?:refname|objectname|objecttype|objectsize|deltabase|tree|parent|numparent|object|type|tag|upstream|push|HEAD|subject|body|contents|trailers|creator|creatordate|(?:author|committer|tagger)(?:name|email|date)?|version|symref|worktreepath|color|align|if|then|else|end)(?:[:=][\w =,./~+-]*)?)\))*$/s;
