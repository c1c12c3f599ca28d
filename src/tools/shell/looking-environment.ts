import type { Environment } from "./shell.ts";

/** Settings that keep git from running programs that a repository names. */
const GIT_SETTINGS = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["log.showSignature", "false"],
  // Git shows differences of a submodule by starting there.
  ["diff.submodule", "short"],
  ["status.submoduleSummary", "false"],
  // A submodule has settings of its own.
  ["diff.ignoreSubmodules", "all"],
] as const;

/** Variables by which git runs others or reads settings from elsewhere, and a shell a file of its own. */
const STEERING =
  /^(?:BASH_ENV|ENV)$|^GIT_(?!AUTHOR_|COMMITTER_|TERMINAL_PROMPT$|PAGER$|EDITOR$|SEQUENCE_EDITOR$|MERGE_AUTOEDIT$|SSL_)/;

/** The environment of a command that runs outside because it only looks: git runs no program in it. */
export function lookingEnvironment(env: Environment): Environment {
  const settings = GIT_SETTINGS.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !STEERING.test(name))),
    ...Object.fromEntries(settings),
    GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
    GIT_OPTIONAL_LOCKS: "0",
    // A repository may name a server for what is missing from it.
    GIT_ALLOW_PROTOCOL: "",
    GIT_NO_LAZY_FETCH: "1",
  };
}
