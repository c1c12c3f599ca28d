import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, finishes, says } from "../../src/testing/script.ts";
import { refuses, replies } from "../../src/testing/server-step.ts";
import { tempFolder } from "../temp-folder.ts";
import { type CommandEnd, modelServer, runCommand, serverEnv, TEST_KEY } from "./command.ts";
import { checkedLines } from "./event-schema.ts";
import { sessionPlace } from "./session-place.ts";

/** What every failing command keeps to: one line on standard error, no stack trace, no key. */
function expectOneLine({ stderr, stdout }: CommandEnd): void {
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(stderr).toMatch(/^nano-agent: /);
  expect(`${stdout}${stderr}`).not.toContain(TEST_KEY);
  expect(stderr).not.toMatch(/\n\s+at /);
}

test("0: the run is done", async () => {
  const server = await modelServer([says("ok")]);
  expect((await runCommand(["-p", "go"], { env: serverEnv(server) })).code).toBe(0);
});

test("1: the provider failed", async () => {
  const server = await modelServer([refuses(500, "broken")]);
  const end = await runCommand(["-p", "go"], { env: serverEnv(server) });
  expect(end).toMatchObject({ code: 1, stdout: "" });
  expect(end.stderr).toContain("broken");
  expectOneLine(end);
});

test("1: the answer was cut at the output limit, and what there is of it is printed", async () => {
  const server = await modelServer([[says("Half an ans"), finishes("length")]]);
  const end = await runCommand(["-p", "go"], { env: serverEnv(server) });
  expect(end).toMatchObject({ code: 1, stdout: "Half an ans\n" });
  expectOneLine(end);
});

test("3: a tool call was refused, although the run went on to an answer", async () => {
  const cwd = tempFolder();
  const server = await modelServer([calls("write", { path: "new.txt", content: "x" }), says("I could not.")]);
  const end = await runCommand(["-p", "go"], { env: serverEnv(server), cwd });
  expect(end).toMatchObject({ code: 3, stdout: "I could not.\n" });
  expect(end.stderr).toContain("--permission-mode acceptEdits would allow it");
  expect(existsSync(join(cwd, "new.txt"))).toBe(false);
  expectOneLine(end);
});

test("41: no key, naming the variable to set", async () => {
  const end = await runCommand(["-p", "-m", "anthropic/claude-sonnet-4-5", "go"]);
  expect(end).toMatchObject({ code: 41, stdout: "" });
  expect(end.stderr).toContain("ANTHROPIC_API_KEY");
  expectOneLine(end);
});

test("41: no model at all, saying what to set and that the demo runs", async () => {
  // Ports nobody listens on, so that no local server of this machine is found.
  const nowhere = "http://127.0.0.1:1";
  const env = {
    OLLAMA_BASE_URL: nowhere,
    LMSTUDIO_BASE_URL: nowhere,
    LLAMACPP_BASE_URL: nowhere,
    VLLM_BASE_URL: nowhere,
  };
  const end = await runCommand(["-p", "go"], { env });
  expect(end).toMatchObject({ code: 41, stdout: "" });
  expect(end.stderr).toContain("ANTHROPIC_API_KEY");
  expect(end.stderr).toContain("nano-agent demo");
  expectOneLine(end);
});

test("41: a refused key, naming where it came from and not the key", async () => {
  const server = await modelServer([refuses(401, `Incorrect API key provided: ${TEST_KEY}`)]);
  const end = await runCommand(["-p", "go"], { env: serverEnv(server) });
  expect(end).toMatchObject({ code: 41, stdout: "" });
  expect(end.stderr).toContain("The key came from OPENAI_API_KEY.");
  expectOneLine(end);
});

test("52: a config file that is not valid, with file, line and what is expected", async () => {
  const cwd = tempFolder({ "nano-agent.json": '{\n  // limits\n  "maxTurns": "ten"\n}\n' });
  const end = await runCommand(["-p", "go"], { cwd });
  expect(end).toMatchObject({ code: 52, stdout: "" });
  expect(end.stderr).toContain('nano-agent.json:3: maxTurns is "ten"; it must be a whole number from 1.');
  expectOneLine(end);
});

test("53: the turn limit, with the last text", async () => {
  const server = await modelServer([[says("Working on it."), calls("read", { path: "." })]]);
  const end = await runCommand(["-p", "--max-turns", "1", "go"], { env: serverEnv(server) });
  expect(end).toMatchObject({ code: 53, stdout: "Working on it.\n" });
  expect(end.stderr).toContain("--max-turns");
  expectOneLine(end);
  server.assertFinished();
});

test("55: the budget, which is that of the session: it holds after -c, and says what is spent", async () => {
  const place = sessionPlace();
  const usage = { inputTokens: 4_000, outputTokens: 100 };
  const server = await modelServer([
    [says("Looking."), calls("read", { path: "." }), finishes("tool_use", usage)],
    says("went on"),
  ]);
  const budget = ["--max-budget-usd", "0.008"];
  const end = await place.run(["-p", "--json", ...budget, "go"], server);
  expect([end.code, checkedLines(end.stdout).at(-1)]).toMatchObject([
    55,
    { subtype: "error_max_budget_usd", result: "Looking.", total_cost_usd: 0.006, num_turns: 1 },
  ]);
  expect(end.stderr).toContain(
    "Budget used up. $0.006 of $0.008 is spent in this session, and what is left does not cover the next request.",
  );
  expect(end.stderr).toContain('continue with nano-agent -p -c "…", with a higher --max-budget-usd');
  expectOneLine(end);
  const again = await place.run(["-p", "-c", ...budget, "go on"], server);
  expect([again.code, server.requests.length]).toEqual([55, 1]);
  const raised = await place.run(["-p", "-c", "--max-budget-usd", "0.1", "go on"], server);
  expect(raised).toMatchObject({ code: 0, stdout: "went on\n" });
  expect(server.requests[1]?.body).toMatchObject({ max_tokens: expect.any(Number) });
});

test("55: a request the budget cannot pay for is never sent", async () => {
  const server = await modelServer([]);
  const end = await runCommand(["-p", "--max-budget-usd", "0.0001", "go"], { env: serverEnv(server) });
  expect([end.code, server.requests.length]).toEqual([55, 0]);
  expectOneLine(end);
});

test("55: an answer without usage is charged by estimate", async () => {
  const place = sessionPlace();
  const usage = { inputTokens: 0, outputTokens: 0 };
  const server = await modelServer([[says("done"), finishes("stop", usage)]]);
  const end = await place.run(["-p", "--json", "--max-budget-usd", "0.05", "go"], server);
  const [result] = checkedLines(end.stdout).slice(-1);
  expect([end.code, result?.type === "result" && (result.total_cost_usd ?? 0) > 0]).toEqual([0, true]);
});

test("56: the model goes in circles, saying which call it was and how to go on", async () => {
  const place = sessionPlace();
  const listing = calls("bash", { command: "ls" });
  const server = await modelServer([listing, listing, listing, listing, listing, says("I see.")]);
  const end = await place.run(["-p", "--yolo", "--json", "go"], server);
  expect([end.code, checkedLines(end.stdout).at(-1)]).toMatchObject([
    56,
    { subtype: "error_loop_detected", is_error: true, num_turns: 5 },
  ]);
  expect(end.stderr).toContain("The last 5 calls of bash had the same arguments and the same result.");
  const [warned, ended, ...more] = end.stderr.trimEnd().split("\n");
  expect([warned, more]).toEqual([
    "nano-agent: The model is repeating itself and has been warned. The last 3 calls of bash had the same arguments and the same result.",
    [],
  ]);
  expect(ended).toContain("continue with nano-agent -p -c");
  expect(JSON.stringify(server.requests[3]?.body)).toContain("Going on like this will not change anything");
  const next = await place.run(["-p", "-c", "go on"], server);
  expect(next).toMatchObject({ code: 0, stdout: "I see.\n" });
  server.assertFinished();
});

test("56: earlier where the user's configuration says so; a project's cannot", async () => {
  const place = sessionPlace({ "nano-agent.json": '{ "loopGuard": { "stopAt": 9 } }' });
  const server = await modelServer(() => calls("bash", { command: "ls" }));
  const config = tempFolder({ "nano-agent/config.json": '{ "loopGuard": { "stopAt": 3 } }' });
  const env = { ...serverEnv(server), XDG_CONFIG_HOME: config };
  const end = await runCommand(["-p", "--yolo", "go"], { env, cwd: place.cwd });
  expect([end.code, server.requests.length]).toEqual([56, 3]);
  expect(end.stderr).toContain("left out loopGuard");
});

test("124: the wall time, which is that of one run; the session goes on", async () => {
  const place = sessionPlace();
  // The time may be over before the first run has asked anything.
  const server = await modelServer(({ body }) =>
    JSON.stringify(body).includes("go on")
      ? says("went on")
      : replies({ answer: says("never to be seen"), stall: "before_headers" }),
  );
  const end = await place.run(["-p", "--max-wall-time", "200ms", "go"], server);
  expect(end.code).toBe(124);
  expect(end.stderr).toContain("with a longer --max-wall-time");
  expectOneLine(end);
  expect(await place.run(["-p", "-c", "--max-wall-time", "1h", "go on"], server)).toMatchObject({
    code: 0,
    stdout: "went on\n",
  });
});
