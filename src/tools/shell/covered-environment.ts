import type { Environment } from "./shell.ts";

/** Settings that keep a repository and its configuration from running programs. */
const GIT_SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ["safe.bareRepository", "explicit"],
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["log.showSignature", "false"],
  // The changes of a merge against the one git would have made: it merges, with the programs for that.
  ["log.diffMerges", "separate"],
  ["format.pretty", "medium"],
  ["commit.verbose", "false"],
  // Git shows a submodule's differences by starting there, in whatever repository a commit left there.
  ["diff.submodule", "short"],
  ["status.submoduleSummary", "false"],
  // A commit may name any folder as a submodule, which nobody has looked at.
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  // An index is read from its beginning, not from places that it names itself.
  ["index.threads", "1"],
  ["protocol.ext.allow", "never"],
  // A repository on this machine would run its own hooks and settings: none of these reach it.
  ["protocol.file.allow", "never"],
];

/** Variables that make programs run others, or read options and settings from elsewhere. */
const CHANGING =
  /^(?:GIT_(?!AUTHOR_|COMMITTER_|TERMINAL_PROMPT$|SSL_).*|LESS|LESSOPEN|LESSCLOSE|LESSKEY.*|LESS_\w+|MORE|RIPGREP_CONFIG_PATH|GREP_OPTIONS|GREP_COLORS?|BASH_ENV|BASH_COMPAT|ENV|BASHOPTS|SHELLOPTS|BASH_FUNC_.*|PROMPT_COMMAND|PS4|CDPATH|GLOBIGNORE|IFS|POSIXLY_CORRECT|TAR_OPTIONS|TAPE|XZ_\w+|GZIP|BZIP2?|ZSTD_\w+|ZIPOPT|UNZIP\w*|AWKPATH|AWKLIBPATH|GAWK_\w+|MAWK_\w+|WHINY_USERS|JQ_\w+|MAN\w*OPT|BROWSER|DIFF_OPTIONS|LS_OPTIONS|TREE_\w+|FD_\w+|FZF_\w+|BAT_\w+|MAGIC|PERL5(?:OPT|LIB|DB)|PYTHON(?:STARTUP|INSPECT|BREAKPOINT)|RUBYOPT|RUBYLIB)$/;

/**
 * The environment of a command that rules alone allowed and no person saw: git looks into no bare repository
 * that it merely finds and runs no hook, file watcher or pager, and no variable is inherited that changes
 * what programs run. `own` are variables that the user set for commands: they stand.
 */
export function coveredEnvironment(env: Environment, own: Environment = {}): Environment {
  // A function that a shell has handed on, whatever this version of Bash calls its variable.
  const isFunction = (value: string | undefined): boolean => value?.startsWith("() {") === true;
  const kept = Object.entries(env).filter(([name, value]) => !CHANGING.test(name) && !isFunction(value));
  const settings = GIT_SETTINGS.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...Object.fromEntries(kept),
    GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
    ...Object.fromEntries(settings),
    GIT_OPTIONAL_LOCKS: "0",
    ...own,
  };
}
