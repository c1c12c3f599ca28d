import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { says } from "../../src/testing/script.ts";
import { modelServer, runCommand, serverEnv, TEST_KEY } from "../e2e/command.ts";
import { checkedLines } from "../e2e/event-schema.ts";
import { sessionPlace } from "../e2e/session-place.ts";
import { tempFolder } from "../temp-folder.ts";

const SCHEMA = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}';

test("messages as JSON lines of which there are none: wrong use, with the one result line", async () => {
  const server = await modelServer([]);
  for (const stdin of ["", "\n\r\n  \n"]) {
    const end = await runCommand(["-p", "--input-format", "stream-json", "--json"], {
      env: serverEnv(server),
      stdin,
    });
    expect([end.code, checkedLines(end.stdout).at(-1)]).toMatchObject([
      2,
      { subtype: "error_during_execution", is_error: true, num_turns: 0 },
    ]);
    expect(end.stderr).toContain("Standard input ended without a message.");
  }
});

test.each(["--cwd=", "--add-dir=", "--output-last-message=", "--json-schema="])(
  "%s with an empty value is not a default: a variable that is not set was meant",
  async (flag) => {
    const server = await modelServer([]);
    const end = await runCommand(["-p", flag, "go"], { env: serverEnv(server) });
    expect([end.code, end.stderr, server.requests.length]).toEqual([
      2,
      expect.stringContaining(`${flag.slice(0, -1)} is followed by an empty text`),
      0,
    ]);
  },
);

test("a value for a schema that never comes has a result of its own, and exit code 1", async () => {
  const place = sessionPlace();
  const server = await modelServer(() => says("I would rather talk."));
  const end = await place.run(["-p", "--json", "--json-schema", SCHEMA, "go"], server);
  expect([end.code, server.requests.length, checkedLines(end.stdout).at(-1)]).toMatchObject([
    1,
    4,
    {
      subtype: "error_max_structured_output_retries",
      is_error: true,
      error: { code: "invalid_response" },
    },
  ]);
  expect(end.stderr).toContain("The model gave no value that fits the schema.");
});

test("a linked folder of sessions: 60 in one plain sentence, and the way without a session works", async () => {
  const place = sessionPlace();
  const server = await modelServer(() => says("hello"));
  mkdirSync(join(place.state, "nano-agent"), { recursive: true });
  await place.run(["-p", "go"], server);
  renameSync(place.sessions, `${place.sessions}.real`);
  symlinkSync(`${place.sessions}.real`, place.sessions);
  const end = await place.run(["-p", "go"], server);
  expect([end.code, end.stderr]).toEqual([
    60,
    `nano-agent: The session folder ${place.sessions} is a link, which is not followed. Put the folder itself there, or run with --no-session.\n`,
  ]);
  expect((await place.run(["-p", "--no-session", "go"], server)).code).toBe(0);
  const others = [
    ["sessions", "list"],
    ["serve", "--port", "0"],
  ].map((args) => place.run(args, server));
  for (const other of await Promise.all(others))
    expect([other.code, other.stderr]).toEqual([
      60,
      `nano-agent: The session folder ${place.sessions} is a link, which is not followed. Put the folder itself there.\n`,
    ]);
});

test("sessions verify writes JSON lines whether or not they are asked for", async () => {
  const place = sessionPlace();
  await place.run(["-p", "go"], await modelServer([says("hello")]));
  const [plain, asked] = await Promise.all([
    place.run(["sessions", "verify", ...place.files()]),
    place.run(["sessions", "verify", "--json", ...place.files()]),
  ]);
  expect([plain.code, asked]).toEqual([0, plain]);
});

test("a key for OpenRouter alone is enough: its router chooses the model", async () => {
  const server = await modelServer([says("hello")]);
  const env = { OPENROUTER_API_KEY: TEST_KEY, OPENROUTER_BASE_URL: `${server.url}/v1` };
  const end = await runCommand(["-p", "--json", "go"], { env, cwd: tempFolder() });
  expect([end.code, checkedLines(end.stdout)[0], server.requests[0]?.body]).toMatchObject([
    0,
    { model: "openrouter/openrouter/auto" },
    { model: "openrouter/auto" },
  ]);
});

test.each([
  ["skill,web_fetch,mcp__tracker__*", 0, ""],
  ["Bash(git log:*) Edit", 0, ""],
  ["bash(git log", 2, 'The permission rule "bash(git log" is malformed'],
  ["baash", 2, "Did you mean bash?"],
])("--allowed-tools and --disallowed-tools with %j end with %i", async (tools, code, words) => {
  const server = await modelServer(() => says("ok"));
  for (const flag of ["--allowed-tools", "--disallowed-tools"]) {
    const end = await runCommand(["-p", flag, tools, "go"], { env: serverEnv(server) });
    expect([end.code, end.stderr]).toEqual([code, expect.stringContaining(words)]);
  }
});
