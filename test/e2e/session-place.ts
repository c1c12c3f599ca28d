import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import { tempFolder } from "../temp-folder.ts";
import {
  type CommandEnd,
  type CommandOptions,
  type RunningCommand,
  runCommand,
  serverEnv,
  startCommand,
} from "./command.ts";

/** A user with a working folder and a place for state, for several commands one after the other. */
export interface SessionPlace {
  readonly cwd: string;
  readonly state: string;
  /** Folder of the sessions of all working folders. */
  readonly sessions: string;
  readonly run: (
    args: readonly string[],
    server?: ScriptedServer,
    limits?: Pick<CommandOptions, "fileBlocks">,
  ) => Promise<CommandEnd>;
  readonly start: (args: readonly string[], server?: ScriptedServer) => RunningCommand;
  /** Session files, by path. */
  readonly files: () => readonly string[];
  /** Records of the only session file, without what differs from run to run. */
  readonly types: () => readonly string[];
}

/** Makes such a place, with the settings of the user; it goes with the test. */
export function sessionPlace(
  files: Readonly<Record<string, string>> = {},
  config: object = {},
): SessionPlace {
  const cwd = tempFolder(files);
  const state = tempFolder();
  const settings = tempFolder({ "nano-agent/config.json": JSON.stringify(config) });
  const sessions = join(state, "nano-agent", "sessions");
  const options = (server: ScriptedServer | undefined): { cwd: string; env: Record<string, string> } => ({
    cwd,
    env: {
      XDG_STATE_HOME: state,
      XDG_CONFIG_HOME: settings,
      ...(server === undefined ? {} : serverEnv(server)),
    },
  });
  const sessionFiles = (): string[] =>
    readdirSync(sessions, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(sessions, name));
  return {
    cwd,
    state,
    sessions,
    run: (args, server, limits = {}) => runCommand(args, { ...options(server), ...limits }),
    start: (args, server) => startCommand(args, options(server)),
    files: sessionFiles,
    types: () =>
      readFileSync(sessionFiles()[0] ?? "", "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { readonly type: string }).type),
  };
}

/** The messages a server was sent with its last request, as role and text. */
export function lastMessages(server: ScriptedServer): readonly string[] {
  const { messages = [] } = (server.requests.at(-1)?.body ?? {}) as {
    readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  };
  return messages
    .filter(({ role }) => role !== "system" && role !== "developer")
    .map(
      ({ role, content }) => `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`,
    );
}
