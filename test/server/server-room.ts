import { createServer } from "node:http";
import { expect, onTestFinished } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { CodingSession, CodingSessionOptions } from "../../src/coding/session/coding-session.ts";
import { createCodingSession } from "../../src/coding/session/prepare-coding-session.ts";
import { loadSettings } from "../../src/coding/settings/settings.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { serveSessions } from "../../src/faces/http/serve-sessions.ts";
import { createHandler } from "../../src/server/create-handler.ts";
import { createReader, type Reader } from "../../src/server/create-reader.ts";
import type { StreamItem } from "../../src/server/server-api.ts";
import { fetchListener } from "../../src/system/fetch-listener.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { withVariables } from "../hermetic-command.ts";
import { onLoopback } from "../on-loopback.ts";
import { tempFolder } from "../temp-folder.ts";

export type Steps = ConstructorParameters<typeof ScriptedModel>[0];

/** A server that listens, with a model that says what a test has it say. */
export interface ServedRoom {
  /** Without a slash at its end. */
  readonly origin: string;
  readonly token: string;
  readonly reader: Reader;
  readonly model: ScriptedModel;
  /** The working folder of sessions. */
  readonly cwd: string;
  readonly home: string;
  /** A request with the token, unless headers say otherwise. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** How a room is made. */
export interface RoomOptions {
  readonly readOnly?: boolean;
  readonly files?: Readonly<Record<string, string>>;
  readonly home?: string;
  readonly cwd?: string;
  readonly session?: CodingSessionOptions;
  readonly page?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

export const TOKEN = "a-token-of-more-than-20-characters";

/** A session of another writer in the same home, as a terminal would have it. */
export function otherWriter(
  { home, cwd }: Pick<ServedRoom, "home" | "cwd">,
  steps: Steps,
): Promise<CodingSession> {
  return createCodingSession({
    cwd,
    environment: withVariables({ HOME: home }),
    model: new ScriptedModel(steps, { info: { contextWindow: 100_000 } }),
  });
}

/** Sessions in files, served as `nano-agent serve` does. */
export async function filesRoom(steps: Steps, options: RoomOptions = {}): Promise<ServedRoom> {
  const cwd = options.cwd ?? tempFolder(options.files);
  const home = options.home ?? tempFolder();
  const environment = withVariables({ HOME: home, ...options.variables });
  const model = new ScriptedModel(steps, { info: { contextWindow: 100_000 } });
  const errors: unknown[] = [];
  const serving = await serveSessions({
    settings: await loadSettings({ environment, cwd }),
    session: { environment, model, ...options.session },
    port: 0,
    host: "127.0.0.1",
    token: TOKEN,
    readOnly: options.readOnly ?? false,
    page: options.page ?? tempFolder(),
    onError: (error) => errors.push(error),
  });
  onTestFinished(async () => {
    await serving.close();
    if (errors.length > 0) throw errors[0];
  });
  return { ...room(serving.url.slice(0, -1)), model, cwd, home, close: serving.close };
}

/** Sessions of agents in memory, served by the handler of the library. */
export async function agentsRoom(steps: Steps, options: RoomOptions = {}): Promise<ServedRoom> {
  const model = new ScriptedModel(steps, { info: { contextWindow: 100_000 } });
  const ending = new AbortController();
  const touch = defineTool({
    name: "touch",
    description: "Does something that needs a yes.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
    execute: () => "touched",
  });
  const handler = createHandler({
    token: TOKEN,
    readOnly: options.readOnly ?? false,
    signal: ending.signal,
    agent: (seat) =>
      new Agent({
        tools: [touch],
        permission: { check: () => ({ action: "ask", reason: "It is not allowed yet." }) },
        ...seat.options,
        model,
      }),
  });
  const origin = await onLoopback(createServer(fetchListener(handler)));
  onTestFinished(() => ending.abort());
  const close = async (): Promise<void> => ending.abort();
  return { ...room(origin), model, cwd: tempFolder(), home: tempFolder(), close };
}

function room(origin: string): Pick<ServedRoom, "origin" | "token" | "reader" | "ask"> {
  return {
    origin,
    token: TOKEN,
    reader: createReader({ baseUrl: origin, token: TOKEN }),
    ask: (path, init = {}) =>
      fetch(`${origin}${path}`, { ...init, headers: { authorization: `Bearer ${TOKEN}`, ...init.headers } }),
  };
}

/** Reads the stream of a session until something in it fits, and gives all that came. */
export async function followUntil(
  reader: Reader,
  id: string,
  fits: (item: StreamItem, items: readonly StreamItem[]) => boolean,
  after?: string,
): Promise<readonly StreamItem[]> {
  const items: StreamItem[] = [];
  for await (const item of reader.follow(id, after === undefined ? {} : { after })) {
    items.push(item);
    if (fits(item, items)) break;
  }
  // The end of a run is told before what it leads to: until then a message would be one for that run.
  if (items.slice(-1).some(isRunEnd)) await expect.poll(() => stateOf(reader, id)).not.toBe("running");
  return items;
}

async function stateOf(reader: Reader, id: string): Promise<string> {
  return (await reader.session(id)).state;
}

/** True for the end of a run of the conversation. */
export const isRunEnd = (item: StreamItem): boolean =>
  item.type === "entry" && item.entry.type === "run_end" && item.entry.scope === undefined;

/** True for a passing event of a type. */
export const passes =
  (type: string) =>
  (item: StreamItem): boolean =>
    item.type === "passing" && item.passing.type === type;
