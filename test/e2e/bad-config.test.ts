import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";

test.each([
  ["a rule without an end", '{\n "permissions": { "deny": [\n"bash(rm *"] } }', ":3: The permission rule"],
  ["a rule for no tool", '{ "permissions": { "allow": ["(x)"] } }', ":1: The permission rule"],
  [
    "a wrong type",
    '{ "permissions": { "deny": "bash" } }',
    ':1: permissions.deny is "bash"; it must be a list of strings',
  ],
  ["a prototype", '{ "__proto__": {} }', ':1: the key "__proto__" is not allowed'],
  [
    "a key twice",
    '{ "permissions": {},\n"permissions": {} }',
    ':2: the key "permissions" stands here a second time',
  ],
  [
    "a tool nobody knows",
    '{ "disallowedTools": ["bahs"] }',
    'disallowed tool "bahs": there is no such tool. Did you mean bash?',
  ],
  [
    "deep nesting",
    `{ "permissions": ${"[".repeat(100_000)}${"]".repeat(100_000)} }`,
    "nested 100001 levels deep",
  ],
  ["UTF-16", '{ "permissions": {} }'.split("").join("\0"), "is not UTF-8 text"],
  ["100 MB", `{ "model": "${"x".repeat(100_000_000)}" }`, "more than 1000000"],
])("a configuration with %s ends a run with 52 before any request", async (_, text, message) => {
  const cwd = tempFolder({ "nano-agent.json": text });
  const server = await modelServer([]);
  const { code, stderr } = await runCommand(["-p", "go"], { cwd, env: serverEnv(server) });
  expect({ code, requests: server.requests.length }).toEqual({ code: 52, requests: 0 });
  expect(stderr).toContain(message);
  expect(stderr).toContain(join(cwd, "nano-agent.json"));
});
