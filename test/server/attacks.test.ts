import { connect } from "node:net";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { filesRoom, followUntil, isRunEnd, passes, type ServedRoom } from "./server-room.ts";

/** Writes bytes to a server and gives what comes back until it closes, or until `enough`. */
function raw(origin: string, text: string, enough = /\r\n\r\n/): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let got = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      got += chunk;
      if (enough.test(got)) socket.destroy();
    });
    socket.on("close", () => resolve(got));
    socket.on("error", reject);
    socket.write(text);
  });
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

const lines = (...all: readonly string[]): string => `${all.join("\r\n")}\r\n\r\n`;

test("a page whose name was made to lead here gets nothing, with the token or without", async () => {
  const { origin, token } = await filesRoom([]);
  const hosts = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil@127.0.0.1",
    "0",
    "",
  ];
  const answers = await Promise.all(
    hosts.flatMap((host) =>
      ["/", "/api/health", "/api/sessions"].map((path) =>
        raw(origin, lines(`GET ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${token}`)),
      ),
    ),
  );
  expect(answers.map(statusOf).filter((status) => status !== 403 && status !== 400)).toEqual([]);
});

test("addresses that name another host, and headers that come twice, are not served", async () => {
  const { origin, token } = await filesRoom([]);
  const { host } = new URL(origin);
  const bearer = `Authorization: Bearer ${token}`;
  const requests = [
    lines("GET http://evil.example/api/sessions HTTP/1.1", `Host: ${host}`, bearer),
    lines("GET /api/sessions HTTP/1.1", `Host: ${host}`, "Host: evil.example", bearer),
    lines("GET /api/sessions HTTP/1.1", `Host: ${host}`, `Host: ${host}`, bearer),
    lines(
      "POST /api/sessions HTTP/1.1",
      `Host: ${host}`,
      bearer,
      "Content-Length: 5",
      "Transfer-Encoding: chunked",
    ),
    lines("POST /api/sessions HTTP/1.1", `Host: ${host}`, bearer, "Content-Length: 5", "Content-Length: 6"),
    lines(
      "GET /api/sessions HTTP/1.1",
      `Host: ${host}`,
      `Authorization: Bearer ${token}\nX: y`,
      " folded: z",
    ),
  ];
  const statuses = (await Promise.all(requests.map((request) => raw(origin, request)))).map(statusOf);
  expect(statuses.filter((status) => status < 400)).toEqual([]);
});

test("a page of another origin gets nothing, whatever its browser sends along", async () => {
  const { ask, origin } = await filesRoom([]);
  const port = new URL(origin).port;
  const headers = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: `http://127.0.0.1:${Number(port) + 1}` },
    { origin: `http://localhost:${port}` },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ];
  const answers = await Promise.all(
    headers.map((given) => ask("/api/sessions", { headers: given as never })),
  );
  expect(answers.map(({ status }) => status)).toEqual(headers.map(() => 403));
  const own = await ask("/api/sessions", { headers: { origin } });
  expect([own.status, own.headers.get("access-control-allow-origin")]).toEqual([200, null]);
  const preflight = await ask("/api/sessions", { method: "OPTIONS", headers: { origin } });
  expect(preflight.status).toBe(405);
});

test("nothing is told without the token, and the cookie it is traded for is not the token", async () => {
  const { origin, token } = await filesRoom([]);
  const paths = [
    "sessions",
    "sessions/x",
    "sessions/x/events",
    "approvals",
    "stats",
    "openapi.json",
    "nothing",
  ];
  const answers = await Promise.all(paths.map((path) => fetch(`${origin}/api/${path}`)));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 401));
  const wrong = await post(origin, "session", { token: `${token}x` });
  const right = await post(origin, "session", { token });
  const cookie = right.headers.get("set-cookie") ?? "";
  expect([wrong.status, wrong.headers.get("set-cookie"), right.status]).toEqual([401, null, 200]);
  expect(cookie).toMatch(/^nano_agent_\d+=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict/);
  expect(cookie).not.toContain(token);
  const [pair = ""] = cookie.split(";");
  const known = await fetch(`${origin}/api/sessions`, { headers: { cookie: `other=1; ${pair}` } });
  const stranger = await fetch(`${origin}/api/sessions`, { headers: { cookie: pair.slice(0, -1) } });
  expect([known.status, stranger.status]).toEqual([200, 401]);
});

function post(
  origin: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${origin}/api/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

test("bodies of another type, that do not fit, or are too long are refused, each as what it is", async () => {
  const { origin, token } = await filesRoom([]);
  const bearer = { authorization: `Bearer ${token}` };
  const send = async (body: unknown, headers = {}): Promise<number> =>
    (await post(origin, "sessions", body, { ...bearer, ...headers })).status;
  expect({
    unknownField: await send({ prompt: "x", other: 1 }),
    unknownInside: await send({ prompt: "x", limits: { maxTurn: 1 } }),
    missing: await send({}),
    empty: await send({ prompt: " " }),
    wrongType: await send({ prompt: 5 }),
    numberAsText: await send({ prompt: "x", limits: { maxTurns: "3" } }),
    noObject: await send([]),
    noJson: await send("{"),
    deep: await send("[".repeat(50_000)),
    mode: await send({ prompt: "x", permissionMode: "root" }),
    relative: await send({ prompt: "x", cwd: "here" }),
    noFolder: await send({ prompt: "x", cwd: "/no/such/folder" }),
    text: await send("prompt=x", { "content-type": "application/x-www-form-urlencoded" }),
    plain: await send({ prompt: "x" }, { "content-type": "text/plain" }),
    long: await send({ prompt: "x".repeat(10_000_001) }),
  }).toEqual({
    unknownField: 400,
    unknownInside: 400,
    missing: 400,
    empty: 400,
    wrongType: 400,
    numberAsText: 400,
    noObject: 400,
    noJson: 400,
    deep: 400,
    mode: 400,
    relative: 400,
    noFolder: 400,
    text: 415,
    plain: 415,
    long: 413,
  });
});

test("a body that says it is long is refused before it comes, one that does not say so while it comes", async () => {
  const { origin, token } = await filesRoom([]);
  const { host } = new URL(origin);
  const head = ["POST /api/sessions HTTP/1.1", `Host: ${host}`, `Authorization: Bearer ${token}`];
  const json = "Content-Type: application/json";
  const told = await raw(origin, lines(...head, json, "Content-Length: 99000000"));
  const chunk = `${(1_000_000).toString(16)}\r\n${"x".repeat(1_000_000)}\r\n`;
  const untold = await raw(origin, lines(...head, json, "Transfer-Encoding: chunked") + chunk.repeat(12));
  expect([statusOf(told), statusOf(untold)]).toEqual([413, 413]);
});

test("queries are checked as bodies are", async () => {
  const { ask } = await filesRoom([]);
  const queries = [
    "limit=0",
    "limit=x",
    "limit=5&limit=6",
    "other=1",
    "before=x",
    "limit=201",
    "before=1_../x",
  ];
  const answers = await Promise.all(queries.map((query) => ask(`/api/sessions?${query}`)));
  expect(answers.map(({ status }) => status)).toEqual(queries.map(() => 400));
  expect((await ask("/api/stats?by=nothing")).status).toBe(400);
  expect(answers[0]?.headers.get("content-type")).toBe("application/problem+json");
});

test("the page and its files need no token, and nothing else of the disk is one of them", async () => {
  const page = tempFolder({
    "web/index.html": "<!doctype html>",
    "web/app-1a2b3c4d.js": "1;",
    "secret.txt": "secret",
  });
  const { origin } = await filesRoom([], { page: `${page}/web` });
  const index = await fetch(`${origin}/`);
  const policy = index.headers.get("content-security-policy") ?? "";
  expect([index.status, await index.text(), index.headers.get("content-type")]).toEqual([
    200,
    "<!doctype html>",
    "text/html; charset=utf-8",
  ]);
  expect(policy).toContain("default-src 'none'; script-src 'self'");
  const script = await fetch(`${origin}/app-1a2b3c4d.js`);
  expect([script.status, script.headers.get("cache-control")]).toEqual([
    200,
    "public, max-age=31536000, immutable",
  ]);
  const { host } = new URL(origin);
  const paths = [
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "//etc/passwd",
    "/./../secret.txt",
    "/a\\..\\secret.txt",
  ];
  const answers = await Promise.all(
    paths.map((path) => raw(origin, lines(`GET ${path} HTTP/1.1`, `Host: ${host}`))),
  );
  expect(answers.map(statusOf).filter((status) => status < 400)).toEqual([]);
});

test("wrong tokens are answered late once there were many, and the right one at once", async () => {
  const { origin, ask } = await filesRoom([]);
  const wrong = (): Promise<Response> =>
    fetch(`${origin}/api/sessions`, { headers: { authorization: "Bearer wrong-wrong-wrong-wrong" } });
  for (let count = 0; count < 20; count++) expect((await wrong()).status).toBe(401);
  const firstOf = async (): Promise<string> => {
    const late = wrong().then(({ status }) => `late ${status}`);
    const first = await Promise.race([late, ask("/api/sessions").then(() => "right")]);
    expect(await late).toBe("late 401");
    return first;
  };
  // A process that stands still for a second answers both at once.
  const firsts = [await firstOf(), await firstOf(), await firstOf()];
  expect(firsts).toContain("right");
});

test("readers that come and go by the hundred leave nothing behind", async () => {
  const { ask, reader, cwd, origin } = await filesRoom([says("Hello.")]);
  const { id } = await reader.start({ prompt: "1", cwd });
  await followUntil(reader, id, isRunEnd);
  for (let round = 0; round < 4; round++) {
    const gone = new AbortController();
    const streams = await Promise.all(
      Array.from({ length: 50 }, () => ask(`/api/sessions/${id}/events`, { signal: gone.signal })),
    );
    await Promise.all(streams.map(async ({ body }) => body?.getReader().read()));
    gone.abort();
  }
  await expect.poll(() => connectionsTo(origin)).toBe(0);
  expect((await ask("/api/sessions")).status).toBe(200);
});

/** Handles of this process that watch files: a stream that is gone has none. */
function connectionsTo(_origin: string): number {
  return process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length;
}

test("what runs ends with the server, and the session says so", async () => {
  const room: ServedRoom = await filesRoom([calls("bash", { command: "sleep 1000" }), says("Never.")], {
    session: { permissionMode: "bypassPermissions" },
  });
  const { id } = await room.reader.start({ prompt: "Sleep", cwd: room.cwd });
  await followUntil(room.reader, id, (item) => item.type === "entry" && item.entry.type === "tool_intent");
  await room.close();
  const again = await filesRoom([], { home: room.home, cwd: room.cwd });
  const items = await followUntil(again.reader, id, passes("ready"));
  const end = items.find(isRunEnd);
  expect(end?.type === "entry" && end.entry.type === "run_end" && end.entry.stopReason).toBe("aborted");
});
