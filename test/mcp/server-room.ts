import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/core/base/async.ts";
import type { ListedTool, McpHost } from "../../src/extensions/mcp/connection.ts";
import { McpServer, type McpServerOptions } from "../../src/extensions/mcp/mcp-server.ts";
import { connectionOpener } from "../../src/extensions/mcp/open-connection.ts";
import { type McpServerDefinition, parseServer } from "../../src/extensions/mcp/server-definition.ts";
import { createProcessWatcher } from "../../src/system/process-watcher.ts";
import { tempFolder } from "../temp-folder.ts";
import { type FaultPlan, type FaultyHttp, startFaultyHttp } from "./faulty-server.ts";

/** The ways to a scripted server. */
export const TRANSPORTS = ["stdio", "http"] as const;

/** A definition as files hold it, ready for use. */
export function definitionOf(value: object, name = "scripted"): McpServerDefinition {
  const parsed = parseServer(name, value, { source: "test", variables: {} });
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.server;
}

/** The words that start the scripted server as a process. */
export function stdioCommand(plan: FaultPlan): {
  readonly command: string;
  readonly args: readonly string[];
} {
  return {
    command: process.execPath,
    args: [join(import.meta.dirname, "faulty-stdio.ts"), JSON.stringify(plan)],
  };
}

/** A server under test, and what was heard of it. */
export interface ServerRoom {
  readonly server: McpServer;
  readonly lives: string[];
  readonly lists: (readonly ListedTool[])[];
  /** Resolves when its life is in this state. */
  readonly reaches: (state: string) => Promise<void>;
  /** Calls a tool; what went wrong comes as its message. */
  readonly call: (name: string, input?: object) => Promise<unknown>;
  readonly http: FaultyHttp | undefined;
}

/** Makes a server over a real connection to a scripted one; ended with the test. */
export async function serverRoom(
  transport: (typeof TRANSPORTS)[number],
  plan: FaultPlan,
  options: Partial<McpServerOptions & McpHost> & { readonly definition?: object } = {},
): Promise<ServerRoom> {
  const { definition = {}, clock = systemClock, roots = [tempFolder()], elicit, sample } = options;
  const http = transport === "http" ? await startFaultyHttp(plan) : undefined;
  const place = http === undefined ? stdioCommand(plan) : { url: http.url };
  const lives: string[] = [];
  const lists: (readonly ListedTool[])[] = [];
  const watchers = new Set<() => void>();
  const server = new McpServer(definitionOf({ ...place, ...definition }), {
    host: { roots, environment: () => ({ PATH: process.env["PATH"] ?? "" }), elicit, sample },
    open: connectionOpener({ version: "1", watcher: createProcessWatcher() }),
    clock,
    random: () => 0,
    onLifecycle: () => {
      lives.push(server.lifecycle.state);
      for (const watch of watchers) watch();
    },
    onTools: (tools) => lists.push(tools),
  });
  onTestFinished(async () => {
    await server.close();
    await http?.stop();
  });
  return {
    server,
    lives,
    lists,
    http,
    reaches: (state) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (server.lifecycle.state === state) resolve();
        };
        watchers.add(look);
        look();
      }),
    call: (name, input = {}) =>
      server
        .call(name, input, { signal: new AbortController().signal })
        .catch((error: unknown) => (error instanceof Error ? error.message : error)),
  };
}
