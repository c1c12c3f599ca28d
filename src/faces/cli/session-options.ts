import { readGivenServers } from "../../coding/mcp/find-servers.ts";
import type { CodingSessionOptions } from "../../coding/session/coding-session.ts";
import type { ConfigFile } from "../../coding/settings/config-schema.ts";
import { currentFolder } from "../../coding/settings/paths.ts";
import type { McpSources } from "../../coding/settings/settings.ts";
import { defined } from "../../core/base/json.ts";
import { shellArgument } from "../../core/base/text.ts";
import type { Environment } from "../../system/env.ts";
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

/** A session's options from the command line. Throws `invalid_argument` for an unreadable prompt file. */
export function sessionOptionsOf(flags: RunFlags, origin: SessionOrigin): CodingSessionOptions {
  const { config, addDirs, mcp, session, cwd: folder } = flags;
  const { cwd, environment, newId: sessionId } = origin;
  const there = folder === undefined ? "" : ` -C ${shellArgument(cwd)}`;
  const { keep, resume } = session;
  return {
    ...defined({ cwd, addDirs, environment, mcp, sessionId, keep, resume }),
    settings: withPromptFiles(config, cwd),
    goOnCommand: (options) => `nano-agent -p ${options}${there} "…"`,
  };
}

/**
 * The words about MCP servers with their files read now, from where the command is given: sessions work
 * elsewhere. Throws `invalid_argument` and `invalid_config` for what cannot be read.
 */
export async function withServerFiles(mcp: McpSources): Promise<McpSources> {
  const here = currentFolder();
  return { ...mcp, configs: await Promise.all(mcp.configs.map((text) => readGivenServers(text, here))) };
}

/** Options with the files that system prompts name read. Throws `invalid_argument` for one that cannot be. */
export function withPromptFiles(config: ConfigFile, cwd: string): ConfigFile {
  const read = (text: string | undefined, what: string): string | undefined =>
    text === undefined ? undefined : textOrFile(text, { what, cwd });
  const systemPrompt = read(config.systemPrompt, "--system-prompt");
  const appendSystemPrompt = read(config.appendSystemPrompt, "--append-system-prompt");
  return { ...config, ...defined({ systemPrompt, appendSystemPrompt }) };
}
