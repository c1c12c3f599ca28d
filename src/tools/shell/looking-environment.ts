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
  ["protocol.ext.allow", "never"],
] as const;

/** Variables by which git runs others or reads settings from elsewhere. */
const OF_GIT =
  /^GIT_(?!AUTHOR_|COMMITTER_|TERMINAL_PROMPT$|PAGER$|EDITOR$|SEQUENCE_EDITOR$|MERGE_AUTOEDIT$|SSL_)/;

/** The environment of a command that runs outside because it only looks: git runs no program in it. */
export function lookingEnvironment(env: Environment): Environment {
  const settings = GIT_SETTINGS.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !OF_GIT.test(name))),
    ...Object.fromEntries(settings),
    GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
    GIT_OPTIONAL_LOCKS: "0",
  };
}
