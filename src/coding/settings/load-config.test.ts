import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { isNanoAgentError } from "../../core/base/errors.ts";
import { loadConfigFile, loadProjectConfig } from "./load-config.ts";

async function faultOf(text: string): Promise<string> {
  const folder = tempFolder({ "c.json": text });
  const path = join(folder, "c.json");
  try {
    return JSON.stringify((await loadConfigFile(path))?.config);
  } catch (error) {
    if (!isNanoAgentError(error, "invalid_config")) throw error;
    return error.message.replace(path, "c.json");
  }
}

test("comments, trailing commas and a byte order mark are fine", async () => {
  const text = '\uFEFF{\n  // which\n  "model": "openai/gpt-5", /* how long */ "maxTurns": 3,\n}';
  expect(await faultOf(text)).toBe('{"model":"openai/gpt-5","maxTurns":3}');
});

test("an empty file sets nothing", async () => {
  expect(await faultOf("")).toBe("{}");
});

test("a file that is not there is no config", async () => {
  expect(await loadConfigFile(join(tempFolder(), "none.json"))).toBeUndefined();
});

test.each([
  ['{\n "model": }', "c.json:2: not valid JSON (value expected). Correct it."],
  ["[]", "c.json:1: the file is a list; it must be an object."],
  ['{\n\n "modle": "x" }', 'c.json:3: Unknown field "modle" in the file. Did you mean model?'],
  ['{ "maxTurns": "3" }', 'c.json:1: maxTurns is "3"; it must be a whole number from 1.'],
  ['{ "maxTurns": 0 }', "c.json:1: maxTurns is 0; it must be a whole number from 1."],
  ['{ "maxBudgetUsd": -1 }', "c.json:1: maxBudgetUsd is -1; it must be a number above 0 up to 1000000."],
  [
    '{ "maxWallTime": "10" }',
    'c.json:1: maxWallTime is "10"; it must be a time such as "90s", "10m" or "1h".',
  ],
  ['{ "allowedTools": "bash" }', 'c.json:1: allowedTools is "bash"; it must be a list of strings.'],
  ['{ "permissionMode": "yolo" }', 'c.json:1: permissionMode is "yolo"; it must be "plan", "dontAsk",'],
  ['{ "model": "a", "model": "b" }', 'c.json:1: the key "model" stands here a second time. Remove it.'],
  [
    '{ "__proto__": { "permissionMode": "bypassPermissions" } }',
    'c.json:1: the key "__proto__" is not allowed.',
  ],
  ['{ "constructor": {} }', 'c.json:1: Unknown field "constructor" in the file.'],
  [
    '{\n "providers": {\n  "x": {\n "baseUrl": "ftp://x" } } }',
    'c.json:4: providers.x.baseUrl is "ftp://x"; it must be an http:// or https://',
  ],
  [
    '{ "providers": { "x": { "quirks": { "stream_usage": "no" } } } }',
    'c.json:1: providers.x.quirks.stream_usage is "no"; it must be true or false.',
  ],
  [
    '{ "providers": { "x": { "quirks": { "eforts": "low" } } } }',
    'c.json:1: Unknown field "eforts" in providers.x.quirks. Did you mean efforts?',
  ],
  [
    '{ "providers": { "x": { "headers": { "a b": "c" } } } }',
    'c.json:1: The name "a b" in providers.x.headers must be the name of a header.',
  ],
  ['{ "providers": { "x": { "headers": { "a": "b\\r\\nc: d" } } } }', "it must be one line of text"],
  [
    '{\n "permissions": {\n  "allow": ["bash(ls*)",\n   "bash(ls"] } }',
    'c.json:4: The permission rule "bash(ls" is malformed: expected a closing bracket',
  ],
  [
    '{ "folders": {\n "/x": { "permissions": { "deny": [\n"web_fetch(nope)"] } } } }',
    'c.json:3: The permission rule "web_fetch(nope)" is malformed: expected web_fetch(domain:HOST)',
  ],
  ['{ "permissions": { "allow": [1] } }', "permissions.allow[0] is 1; it must be a string."],
  ['{ "permissions": { "allowed": [] } }', 'Unknown field "allowed" in permissions. Did you mean allow?'],
  ['{ "permissions": "bash" }', 'c.json:1: permissions is "bash"; it must be an object.'],
  ["\uFEFF{}".split("").join("\0"), "c.json: is not UTF-8 text (UTF-16?). Save it as UTF-8."],
  ["[".repeat(5_000), "c.json: is nested 5000 levels deep, more than 32."],
  [" ".repeat(1_000_001), "c.json: has 1000001 bytes, more than 1000000."],
])("%.60s is refused with its place and what is expected", async (text, message) => {
  expect(await faultOf(text)).toContain(message);
});

test("a secret in the wrong place is not repeated", async () => {
  expect(await faultOf('{ "maxTurns": "sk-1234567890abcdefghijklmnop" }')).toContain(
    "maxTurns is a string of 29 characters;",
  );
});

test("folders in the place of a file are refused, and a broken link is not a file", async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, "folder.json"));
  symlinkSync("nowhere", join(folder, "link.json"));
  await expect(loadConfigFile(join(folder, "folder.json"))).rejects.toMatchObject({ code: "invalid_config" });
  expect(await loadConfigFile(join(folder, "link.json"))).toBeUndefined();
});

test("the nearest folder with a config speaks, and its inner file wins", async () => {
  const root = tempFolder({ "nano-agent.json": '{ "maxTurns": 1 }' });
  const inner = join(root, "a");
  mkdirSync(join(inner, ".nano-agent"), { recursive: true });
  expect((await loadProjectConfig([root, inner])).map(({ config }) => config)).toEqual([{ maxTurns: 1 }]);
  writeFileSync(join(inner, ".nano-agent/config.json"), '{ "maxTurns": 2 }');
  writeFileSync(join(inner, "nano-agent.json"), '{ "maxTurns": 3 }');
  expect((await loadProjectConfig([root, inner])).map(({ config }) => config)).toEqual([
    { maxTurns: 3 },
    { maxTurns: 2 },
  ]);
});

test("whatever stands in a file, it is read or refused as a config error", async () => {
  const folder = tempFolder();
  const path = join(folder, "c.json");
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
      writeFileSync(path, text);
      try {
        expect([null, Object.prototype]).toContain(
          Object.getPrototypeOf((await loadConfigFile(path))?.config),
        );
      } catch (error) {
        expect(isNanoAgentError(error, "invalid_config")).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});
