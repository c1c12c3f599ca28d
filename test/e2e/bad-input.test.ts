import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refuses, showsHtml } from "../../src/testing/server-step.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv, TEST_KEY } from "./command.ts";

test.each([
  [["-p", "--max-turn", "3", "go"], "Unknown option --max-turn. Did you mean --max-turns?"],
  [["-p", "-z", "go"], "Unknown option -z. See nano-agent --help."],
  [
    ["-p", "-x means what?"],
    "Unknown option -x. See nano-agent --help; put a prompt that begins with - after --.",
  ],
  [["-p", "--output-format", "jsn", "go"], "Did you mean json?"],
  [["-p", "--permission-mode", "acceptedits", "go"], "Did you mean acceptEdits?"],
  [["-p", "--max-turns", "0", "go"], "write a whole number from 1"],
  [["-p", "--max-turns", "1e3", "go"], "write a whole number from 1"],
  [["-p", "--max-budget-usd", "free", "go"], "write a number above 0"],
  [["-p", "--max-wall-time", "10", "go"], 'write a time such as "90s", "10m" or "1h"'],
  [["-p", "--model"], "--model needs a value"],
  [["-p", "--model", "--yolo", "go"], "--model needs a value"],
  [["-p", "--yolo=yes", "go"], "--yolo takes no value"],
  [["-p", "--yolo", "--permission-mode", "plan", "go"], "Leave one out"],
  [["-p", "--include-partial-messages", "go"], "needs --output-format stream-json"],
  [["-p", "--disallowed-tools", "bahs(git *)", "go"], "Did you mean bash?"],
  [["-p", "--allowed-tools", "bahs", "go"], "Did you mean bash?"],
  [["-p", "-c", "-r", "x", "go"], "--continue takes the newest session and --resume names one"],
  [["-p", "--resume", "../../etc/passwd", "go"], '--resume "../../etc/passwd" is not a session id'],
  [["-p", "--resume=", "go"], "is followed by an empty text"],
  [["-p", "-r", "", "go"], "is followed by an empty text"],
  [["-p", "--session-id", "a/b", "go"], '--session-id "a/b" is not a session id'],
  [["-p", "--session-id", "-x", "go"], '--session-id "-x" is not a session id'],
  [["-p", "--session-id", `a${"b".repeat(128)}`, "go"], "is not a session id"],
  [["-p", "--fork-session", "go"], "--fork-session copies a session"],
  [["-p", "-c", "--session-id", "x", "go"], "--session-id names a new session"],
  [["-p", "-c", "--no-session", "go"], "--no-session stores nothing and --continue continues"],
  [["-p", "--mcp-config", "x", "go"], "there is no such file. Name a JSON file, or pass JSON itself"],
  [["-p", "--pattern", "plam", "go"], "plan"],
  [["sessions", "lst"], "Did you mean list?"],
  [["sessions", "list", "--jsn"], "sessions list: Unknown option --jsn. Did you mean --json?"],
  [["sessions", "verify"], "sessions verify: It needs FILE."],
  [["sessions", "verify", "/nowhere/at/all"], "/nowhere/at/all cannot be read"],
  [["sessions", "rm"], "sessions rm: It needs ID."],
  [["sessions", "show", "a/b"], "is not a session id"],
  [["sessions", "export", "--format", "htm"], '--format "htm": unknown. Did you mean html?'],
  [["version"], "Did you mean nano-agent --version? To send it as a prompt: nano-agent -p -- version"],
  [["session", "list"], "Did you mean nano-agent sessions list?"],
  [["-p", "modles"], "Did you mean nano-agent models?"],
  [["permissions", "check", "npm", "test"], '"test" is one word too many'],
  [["-p", "--json-schema", "{nope", "go"], "--json-schema is not JSON"],
  [["-p", "--json-schema", "missing.json", "go"], "cannot be read"],
  [["-p", "--json-schema", '{"type":"nonsense"}', "go"], "--json-schema cannot be used"],
  [["-p", "-o", "missing/answer.txt", "go"], "--output-last-message"],
  [["-p", "-C", "missing", "go"], "Name a folder that exists"],
  [["-p", "--add-dir", "missing", "go"], "Name a folder that exists"],
  [["-p", "@missing.md"], "The file for the prompt cannot be read"],
  [["-p", "-m", "gpt-5", "go"], '"gpt-5" is not a model name. Did you mean openai/gpt-5, '],
  [["-p", "-m", "sonet", "go"], '"sonet" is not a model name. Did you mean anthropic/claude-sonnet-5, '],
  [
    ["-p", "-m", "antropic/claude-sonnet-4-5", "go"],
    'There is no provider "antropic". Use one of: anthropic,',
  ],
  [["-p", ""], "The prompt is empty"],
  [["models", "nowhere"], 'There is no provider "nowhere"'],
  [["auth"], "auth needs one more word. Write nano-agent auth check"],
])("%j is refused with code 2 before any request", async (args, message) => {
  const server = await modelServer([]);
  const end = await runCommand(args, { env: serverEnv(server) });
  expect(end).toMatchObject({ code: 2, stdout: "" });
  expect(end.stderr).toContain(message);
  expect(end.stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(server.requests).toEqual([]);
});

test("a prompt file that may not be read, or is a folder, is refused", async () => {
  const cwd = tempFolder({ "secret.md": "x" });
  mkdirSync(join(cwd, "folder"));
  chmodSync(join(cwd, "secret.md"), 0);
  const folder = await runCommand(["-p", "@folder"], { cwd });
  expect(folder).toMatchObject({ code: 2 });
  expect(folder.stderr).toContain("is not a regular file");
  const secret = await runCommand(["-p", "@secret.md"], { cwd });
  // Root may read everything; then there is just no model.
  expect(secret.code).toBe(process.getuid?.() === 0 ? 41 : 2);
});

test("an unreachable host is named", async () => {
  const env = {
    OPENAI_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
    NANO_AGENT_MAX_RETRIES: "0",
  };
  const end = await runCommand(["-p", "-m", "openai/gpt-5", "go"], { env });
  expect(end).toMatchObject({ code: 1, stdout: "" });
  expect(end.stderr).toContain("127.0.0.1");
  expect(end.stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("a base URL that answers HTML is told apart from a model", async () => {
  const server = await modelServer([showsHtml()]);
  const end = await runCommand(["-p", "go"], { env: serverEnv(server) });
  expect(end).toMatchObject({ code: 1, stdout: "" });
  expect(end.stderr).toMatch(/HTML/);
  expect(end.stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("a model the provider does not have is refused with the nearest one, and others it has", async () => {
  const server = await modelServer([refuses(404, "The model `gpt-5-minni` does not exist")]);
  const end = await runCommand(["-p", "-m", "openai/gpt-5-minni", "go"], { env: serverEnv(server) });
  expect(end.code).toBe(2);
  expect(end.stderr).toMatch(/Did you mean gpt-5-mini\? Known: gpt-/);
});

test("a base URL that is not an address is a matter of configuration", async () => {
  const end = await runCommand(["-p", "-m", "openai/gpt-5", "go"], {
    env: { OPENAI_API_KEY: TEST_KEY, OPENAI_BASE_URL: "localhost:8080" },
  });
  expect(end.code).toBe(52);
});
