import type { CodingSessionOptions } from "../../app/coding-session/coding-session.ts";
import type { Environment } from "../../app/config/env.ts";
import { defined } from "../../core/base/defined.ts";
import { textOrFile } from "./prompt.ts";
import type { RunFlags } from "./run-flags.ts";

/** Where a session is opened from. */
export interface SessionOrigin {
  /** An existing folder. */
  readonly cwd: string;
  readonly environment: Environment;
  /** Id of the session, if it is a new one. */
  readonly newId: string;
}

/**
 * What the command line says about a session. Throws `invalid_argument` for a file of a prompt that cannot be
 * read.
 */
export function sessionOptionsOf(
  flags: RunFlags,
  { cwd, environment, newId }: SessionOrigin,
): CodingSessionOptions {
  const { config, addDirs, session, cwd: folder } = flags;
  const { systemPrompt, appendSystemPrompt } = config;
  const { keep, resume } = session;
  const text = (value: string, what: string): string => textOrFile(value, { what, cwd });
  return {
    cwd,
    addDirs,
    environment,
    settings: {
      ...config,
      ...(systemPrompt === undefined ? {} : { systemPrompt: text(systemPrompt, "--system-prompt") }),
      ...(appendSystemPrompt === undefined
        ? {}
        : { appendSystemPrompt: text(appendSystemPrompt, "--append-system-prompt") }),
    },
    keep,
    sessionId: newId,
    mcp: flags.mcp,
    ...defined({ resume }),
    goOnCommand: (options) => `nano-agent -p ${options}${folder === undefined ? "" : ` -C ${cwd}`} "…"`,
  };
}
