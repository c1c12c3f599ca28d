import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loginStore } from "../../src/coding/settings/saved-keys.ts";
import { systemClock } from "../../src/core/base/async.ts";
import { authorizationOf, logIn } from "../../src/extensions/mcp/login.ts";
import { McpServer } from "../../src/extensions/mcp/mcp-server.ts";
import { connectionOpener } from "../../src/extensions/mcp/open-connection.ts";
import type { HttpServer } from "../../src/extensions/mcp/server-definition.ts";
import { tempFolder } from "../temp-folder.ts";
import { type GuardedServer, startGuardedServer } from "./authorization-server.ts";
import { definitionOf } from "./server-room.ts";

const NEVER = new AbortController().signal;

/** A browser whose person agrees to everything. */
function browser(page: URL): void {
  void fetch(page).then((response) => response.text());
}

function room(guarded: GuardedServer, stateFolder = tempFolder()) {
  const definition = definitionOf({ url: guarded.url }, "guarded") as HttpServer;
  const store = loginStore(definition, { stateFolder });
  const parts = { store, clock: systemClock };
  const server = (): McpServer =>
    new McpServer(definition, {
      host: {
        roots: [stateFolder],
        environment: () => ({}),
        authorization: (each) => authorizationOf(each, parts),
      },
      open: connectionOpener({ version: "1", watcher: undefined }),
      clock: systemClock,
      onLifecycle: () => undefined,
      onTools: () => undefined,
    });
  return { definition, store, parts, server, stateFolder };
}

const echo = async (server: McpServer): Promise<unknown> => {
  try {
    return await server.call("echo", { n: 1 }, { signal: NEVER });
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

const WORKS = { content: [{ type: "text", text: '{"n":1}' }] };

test("who logs in can use the server; tokens lie in a file of the user alone", async () => {
  const guarded = await startGuardedServer();
  const { definition, parts, server, stateFolder } = room(guarded);
  const before = server();
  const refused = await echo(before);
  const life = before.lifecycle.state;
  await before.close();
  await logIn(definition, { ...parts, show: browser, signal: NEVER });
  const after = server();
  const answer = await echo(after);
  await after.close();
  const [file = ""] = readdirSync(join(stateFolder, "mcp/logins"));
  const mode = statSync(join(stateFolder, "mcp/logins", file)).mode & 0o777;
  expect([refused, life, answer, mode, guarded.asked]).toEqual([
    "The MCP server guarded is not available: it wants a login: nano-agent mcp login guarded.",
    "needs_login",
    WORKS,
    0o600,
    ["authorization_code"],
  ]);
});

test("a token that the server refuses is renewed within the call, once for all who share it", async () => {
  const guarded = await startGuardedServer();
  const { definition, parts, server } = room(guarded);
  await logIn(definition, { ...parts, show: browser, signal: NEVER });
  const servers = [server(), server(), server()];
  await Promise.all(servers.map(echo));
  guarded.expire();
  const answers = await Promise.all(servers.map(echo));
  await Promise.all(servers.map((each) => each.close()));
  expect([answers, guarded.asked]).toEqual([
    [WORKS, WORKS, WORKS],
    ["authorization_code", "refresh_token"],
  ]);
});

test("a token is renewed before it ends", async () => {
  const guarded = await startGuardedServer();
  guarded.holdFor(30);
  const { definition, parts, server } = room(guarded);
  await logIn(definition, { ...parts, show: browser, signal: NEVER });
  guarded.holdFor(3_600);
  const one = server();
  const answer = await echo(one);
  await one.close();
  expect([answer, guarded.asked]).toEqual([WORKS, ["authorization_code", "refresh_token"]]);
});

test("where renewing is refused, the call says how to log in again", async () => {
  const guarded = await startGuardedServer();
  const { definition, parts, server } = room(guarded);
  await logIn(definition, { ...parts, show: browser, signal: NEVER });
  const one = server();
  await echo(one);
  guarded.revoke();
  const answer = await echo(one);
  await one.close();
  expect(answer).toBe("it wants a login: nano-agent mcp login guarded.");
});

test("an answer that belongs to another login is not taken", async () => {
  const guarded = await startGuardedServer();
  const { definition, parts, store } = room(guarded);
  const show = (page: URL): void => {
    page.searchParams.set("state", "somebody else's");
    browser(page);
  };
  await expect(logIn(definition, { ...parts, show, signal: NEVER })).rejects.toThrow(
    "belongs to another login",
  );
  expect(store.read()).toBeUndefined();
});

test("a login that nobody finishes ends with the signal", async () => {
  const guarded = await startGuardedServer();
  const { definition, parts } = room(guarded);
  const controller = new AbortController();
  const show = (): void => controller.abort(new Error("not now"));
  await expect(logIn(definition, { ...parts, show, signal: controller.signal })).rejects.toThrow("not now");
});

test("tokens of one address are not sent to another one of the same name", async () => {
  const stateFolder = tempFolder();
  const [one, other] = [await startGuardedServer(), await startGuardedServer()];
  const first = room(one, stateFolder);
  await logIn(first.definition, { ...first.parts, show: browser, signal: NEVER });
  const second = room(other, stateFolder).server();
  await echo(second);
  await second.close();
  expect(other.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});
