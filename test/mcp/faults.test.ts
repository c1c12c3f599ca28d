import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { toMcpResult } from "../../src/extensions/mcp/tool-result.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";
import { tempFolder } from "../temp-folder.ts";
import { CALL_FAULTS, type CallFault, type StartFault, startFaultyHttp } from "./faulty-server.ts";
import { serverRoom, TRANSPORTS } from "./server-room.ts";

/** What a call ends with, for every fault of a call; the next call works each time. */
const CALL_ENDS: { readonly [fault in CallFault]: RegExp } = {
  hangs: /did not answer in time/,
  dies: /The connection ended: it ended with exit code 7|connection broke before the answer came|cannot be reached/,
  garbage: /^it works$/,
  wrong_id: /^it works$/,
  answers_twice: /^it works$/,
  huge: /more than 32 MB|connection broke before the answer came/,
  floods: /^it works$/,
  refuses: /wrong arguments/,
  unknown_block: /hologram.*it works/s,
  no_object: /not a result/,
  no_content: /^\{"sum":3\}$/,
  nulls: /^it works$/,
  unreadable: /^The server's answer cannot be read: .*NaN/,
};

function shown(answer: unknown): string {
  if (typeof answer === "string") return answer;
  const { content } = toMcpResult(answer);
  return typeof content === "string" ? content : JSON.stringify(content);
}

const FAULTS = Object.keys(CALL_FAULTS) as CallFault[];

test.each(TRANSPORTS.flatMap((transport) => FAULTS.map((fault) => ({ transport, fault }))))(
  "over $transport, a server that does this in a call costs that call alone: $fault",
  async ({ transport, fault }) => {
    const { call } = await serverRoom(
      transport,
      {},
      { definition: { timeout: fault === "hangs" ? 200 : 20_000 } },
    );
    const bad = await call(fault);
    let good = await call("echo", { text: "still here" });
    // A busy machine may take longer than the time that is short here.
    while (CALL_ENDS.hangs.test(shown(good))) good = await call("echo", { text: "still here" });
    expect([shown(bad), shown(good)]).toEqual([
      expect.stringMatching(CALL_ENDS[fault]),
      '{"text":"still here"}',
    ]);
  },
);

const START_ENDS: { readonly [fault in StartFault]: { readonly stdio: RegExp; readonly http: RegExp } } = {
  hangs: { stdio: /did not start within 30 s/, http: /did not start within 30 s/ },
  dies: { stdio: /exit code 7/, http: /cannot be reached|connection broke/ },
  garbage: { stdio: /exit code 7/, http: /cannot be reached|connection broke/ },
  version: {
    stdio: /protocol version is not supported: 1999-01-01/,
    http: /version is not supported: 1999-01-01/,
  },
  refuses: { stdio: /not today/, http: /not today/ },
  floods: { stdio: /10000 lines that are not messages/, http: /did not start within 30 s/ },
};

const STARTS = Object.keys(START_ENDS) as StartFault[];

test.each(TRANSPORTS.flatMap((transport) => STARTS.map((fault) => ({ transport, fault }))))(
  "over $transport, a server that does this when it starts is not available, and says why: $fault",
  async ({ transport, fault }) => {
    const clock = new FakeClock();
    const { server, lives } = await serverRoom(transport, { start: fault }, { clock });
    server.ensureStarted();
    await clock.untilSleeping();
    const isSilent = fault === "hangs" || (fault === "floods" && transport === "http");
    if (isSilent) await clock.advance(30_000);
    await server.waitUntilSettled();
    const { lifecycle } = server;
    expect([lives, "reason" in lifecycle ? lifecycle.reason : ""]).toEqual([
      ["starting", "waiting"],
      expect.stringMatching(START_ENDS[fault][transport]),
    ]);
  },
);

test.each(TRANSPORTS)(
  "over %s, a server that says `null` for nothing, after a mark, works",
  async (transport) => {
    const { call, server } = await serverRoom(transport, { start: "nulls" });
    expect([shown(await call("echo", { text: "hi" })), server.lifecycle.state]).toEqual([
      '{"text":"hi"}',
      "ready",
    ]);
  },
);

test.each(TRANSPORTS)(
  "over %s, a server is started again with growing waits until it works",
  async (transport) => {
    const clock = new FakeClock();
    const counter = join(tempFolder(), "starts");
    const { server, reaches, lives } = await serverRoom(
      transport,
      { start: "refuses", until: { starts: 3, counter } },
      { clock },
    );
    server.ensureStarted();
    for (const waitMs of [500, 1_000, 2_000]) {
      await reaches("waiting");
      await clock.advance(waitMs - 1);
      expect(server.lifecycle.state).toBe("waiting");
      await clock.advance(1);
    }
    await reaches("ready");
    expect(lives).toEqual([
      "starting",
      "waiting",
      "starting",
      "waiting",
      "starting",
      "waiting",
      "starting",
      "ready",
    ]);
  },
);

test.each(TRANSPORTS)(
  "over %s, a server that fails five times is left alone until it is called",
  async (transport) => {
    const clock = new FakeClock();
    const counter = join(tempFolder(), "starts");
    const { server, reaches, call } = await serverRoom(
      transport,
      { start: "refuses", until: { starts: 5, counter } },
      { clock },
    );
    server.ensureStarted();
    for (let start = 1; start < 5; start++) {
      await reaches("waiting");
      await clock.advance(30_000);
    }
    await reaches("failed");
    expect(shown(await call("echo", { text: "now?" }))).toBe('{"text":"now?"}');
  },
);

test("a server at an address that is stopped is lost, and found again when it is back", async () => {
  const { server, reaches, call, http } = await serverRoom("http", {});
  await call("echo");
  await http?.stop();
  const gone = await call("echo");
  await reaches("waiting");
  await http?.restart();
  expect([gone, shown(await call("echo", { text: "back" })), server.lifecycle.state]).toEqual([
    expect.stringMatching(/cannot be reached/),
    '{"text":"back"}',
    "ready",
  ]);
});

test("a call that the server says it never took, for it forgot the session, is made once more", async () => {
  const { call, http } = await serverRoom("http", {});
  await call("echo");
  http?.forget();
  expect(shown(await call("echo", { text: "again" }))).toBe('{"text":"again"}');
  const versions = new Set(http?.requests.slice(1).map(({ headers }) => headers["mcp-protocol-version"]));
  expect([...versions].filter((version) => version !== undefined)).toEqual(["2025-11-25"]);
});

test.each(TRANSPORTS)("over %s, a list that changes is read again", async (transport) => {
  const { call, lists } = await serverRoom(transport, {});
  const answer = await call("new_tool");
  // The list is asked for on the same connection before this call is made.
  await call("echo");
  await call("echo");
  expect([shown(answer), lists.map((list) => list.some(({ name }) => name === "brand_new"))]).toEqual([
    "there is a new one",
    [false, true],
  ]);
});

test.each(TRANSPORTS)("over %s, progress is told, and a call can be stopped", async (transport) => {
  const { server } = await serverRoom(transport, {});
  const lines: string[] = [];
  const controller = new AbortController();
  const { signal } = controller;
  await server.call("slow", {}, { signal, onProgress: (line) => lines.push(line) });
  const stopped = server.call("hangs", {}, { signal });
  controller.abort(new Error("enough"));
  await expect(stopped).rejects.toThrow("The run was aborted.");
  expect(lines).toEqual(["step 1 (1/2)\n", "step 2 (2/2)\n"]);
});

test("a server is told the folders of the run", async () => {
  const folder = tempFolder();
  const { call } = await serverRoom("stdio", {}, { roots: [folder] });
  expect(shown(await call("ask_roots"))).toBe(JSON.stringify({ roots: [{ uri: `file://${folder}` }] }));
});

test("a program that is not there is named, with what to check", async () => {
  const { server } = await serverRoom(
    "stdio",
    {},
    { definition: { command: "no-such-program" }, clock: new FakeClock() },
  );
  server.ensureStarted();
  await server.waitUntilSettled();
  expect(server.lifecycle).toMatchObject({
    state: "waiting",
    reason: 'no-such-program is not a program that can be found. Check "command", "cwd" and PATH.',
  });
});

test("the documentation lists every fault of a call that is tried", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/mcp.md"), "utf8");
  const [, table = ""] =
    /\| during a call, the server \|[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)/.exec(page) ?? [];
  const listed = table
    .trim()
    .split("\n")
    .map((row) => row.split("|")[1]?.trim());
  expect(listed).toEqual(Object.values(CALL_FAULTS));
});

test("what a server asks of the person and of the model is refused where nobody lets it", async () => {
  const { call } = await serverRoom("stdio", {});
  expect([shown(await call("ask_person")), shown(await call("ask_model"))]).toEqual([
    expect.stringContaining("-32601"),
    expect.stringContaining("-32601"),
  ]);
});

test("it is answered where somebody does: the model only for a server that may ask it", async () => {
  const options = {
    elicit: async () => ({ action: "accept" as const, content: { color: "red" } }),
    sample: async () => ({ text: "4", model: "m" }),
  };
  const may = await serverRoom("stdio", {}, { ...options, definition: { sampling: true } });
  const mayNot = await serverRoom("stdio", {}, options);
  expect([
    JSON.parse(shown(await may.call("ask_person"))),
    JSON.parse(shown(await may.call("ask_model"))),
    shown(await mayNot.call("ask_model")),
  ]).toEqual([
    { action: "accept", content: { color: "red" } },
    { role: "assistant", model: "m", content: { type: "text", text: "4" } },
    expect.stringContaining("-32601"),
  ]);
});

test("what a person left out of a form stays out, also where the server has a default for it", async () => {
  const requestedSchema = { type: "object", properties: { color: { type: "string", default: "blue" } } };
  const { call } = await serverRoom(
    "stdio",
    { asks: { message: "Which?", requestedSchema } },
    { elicit: async () => ({ action: "accept", content: {} }) },
  );
  expect(JSON.parse(shown(await call("ask_person")))).toEqual({ action: "accept", content: {} });
});

test("a redirect to another origin is not followed, so that no header reaches it", async () => {
  const other = await startFaultyHttp({});
  const here = await startFaultyHttp({}, (_request, response) => {
    response.writeHead(307, { location: other.url }).end();
    return true;
  });
  onTestFinished(() => Promise.all([other.stop(), here.stop()]).then(() => undefined));
  const definition = { url: here.url, headers: { "X-Api-Key": "secret" } };
  const { server } = await serverRoom(
    "stdio",
    {},
    { definition: { command: undefined, ...definition }, clock: new FakeClock() },
  );
  server.ensureStarted();
  await server.waitUntilSettled();
  expect([server.lifecycle, other.requests]).toMatchObject([
    { state: "waiting", reason: expect.stringContaining("redirect") as unknown },
    [],
  ]);
});
