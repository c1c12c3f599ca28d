import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isThrownBy } from "./load-extensions.ts";

const FOLDER = "/home/eve/.config/nano-agent";
const file = { name: "poll.ts", path: `${FOLDER}/extensions/poll.ts` };
const kit = { name: "kit", path: `${FOLDER}/extensions/kit/index.ts` };
const pack = { name: "@eve/pack", path: `${FOLDER}/node_modules/@eve/pack/dist/main.js` };

/** An error with these calls in its stack, the innermost first. */
function thrown(...calls: readonly string[]): Error {
  const error = new Error("boom");
  error.stack = ["Error: boom", ...calls.map((call) => `    at ${call}`)].join("\n");
  return error;
}

const at = (path: string): string => `Timeout.tick (${pathToFileURL(path).href}:3:9)`;
const NODE = "listOnTimeout (node:internal/timers:581:17)";
const OURS = "run (file:///opt/nano-agent/dist/cli/program.mjs:10:20)";

test.each([
  ["its own timer", file, [at(file.path), NODE], true],
  ["a rejection of its own", file, [OURS, `async ${at(file.path)}`], true],
  ["what it called of ours", file, [OURS, at(file.path), NODE], true],
  ["a promise that is rejected in our call", file, [at(file.path), at(file.path), OURS, NODE], true],
  ["a package it called in our call", file, [at(`${FOLDER}/node_modules/x/x.js`), at(file.path), OURS], true],
  ["a package itself in our call", pack, [at(`${FOLDER}/node_modules/@eve/pack/lib/a.js`), OURS], true],
  ["ours that it called in our call", file, [OURS, at(file.path), OURS, NODE], false],
  ["another one's package in our call", file, [at(`${FOLDER}/node_modules/x/x.js`), OURS], false],
  ["another extension", file, [at(kit.path), NODE], false],
  ["a file whose name begins as its own", file, [at(`${file.path}x`), NODE], false],
  ["a file beside the index", kit, [at(join(FOLDER, "extensions/kit/more.ts")), NODE], true],
  ["a package of its own", kit, [at(join(FOLDER, "extensions/kit/node_modules/x/x.js")), NODE], true],
  [
    "a file of a package",
    pack,
    [`Socket.read (${FOLDER}/node_modules/@eve/pack/lib/a b.js:1:2)`, NODE],
    true,
  ],
  ["another package", pack, [at(`${FOLDER}/node_modules/@eve/packs/main.js`), NODE], false],
  ["Node alone", file, [NODE], false],
])("tells an error of %s", (_what, extension, calls, expected) => {
  expect(isThrownBy(thrown(...calls), extension)).toBe(expected);
});

test("whatever is thrown, it says yes or no", () => {
  fc.assert(
    fc.property(fc.anything(), fc.string(), (value, stack) => {
      const error = new Error("x");
      error.stack = stack;
      expect([typeof isThrownBy(value, file), typeof isThrownBy(error, file)]).toEqual([
        "boolean",
        "boolean",
      ]);
    }),
  );
});
