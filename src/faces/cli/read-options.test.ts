import fc from "fast-check";
import { expect, test } from "vitest";
import { isNanoAgentError } from "../../core/base/errors.ts";
import { FLAGS, NO_VALUE } from "./read-options.ts";
import { type RunFlags, readFlags, readRunFlags } from "./run-flags.ts";

function read(...args: readonly string[]): RunFlags {
  return readRunFlags(readFlags(args));
}

test("a command line is taken apart", () => {
  expect(
    read(
      "-p",
      "-m",
      "a/b:high",
      "--max-turns=3",
      "--allowed-tools",
      "bash,read",
      "--allowed-tools",
      "edit",
      "do",
      "it",
      "--",
      "--json",
    ),
  ).toEqual({
    words: ["do", "it", "--json"],
    print: true,
    plain: false,
    mcp: { configs: [], strict: false },
    outputFormat: "text",
    inputFormat: "text",
    partialMessages: false,
    verbose: false,
    jsonSchema: undefined,
    outputFile: undefined,
    cwd: undefined,
    addDirs: [],
    session: { keep: true, sessionId: undefined, resume: undefined },
    config: { model: "a/b:high", allowedTools: ["bash,read", "edit"], maxTurns: 3 },
  });
});

test("--yolo and --json are short for what they stand for", () => {
  const { outputFormat, config } = read("--json", "--yolo", "go");
  expect([outputFormat, config]).toEqual(["stream-json", { permissionMode: "bypassPermissions" }]);
});

test("a value may begin with a dash unless it is one of our options", () => {
  expect(read("--append-system-prompt", "- be brief", "go").config.appendSystemPrompt).toBe("- be brief");
  expect(() => read("--append-system-prompt", "--json", "go")).toThrow(
    "--append-system-prompt needs a value",
  );
});

test("the last of several values counts", () => {
  expect(read("-m", "a/b", "--model", "c/d", "go").config.model).toBe("c/d");
});

test("whatever is typed, it is understood or refused as wrong use", () => {
  const word = fc.oneof(
    fc.constantFrom(...FLAGS.map(({ name }) => name), "-p", "-o", "--", "-", "-c", "--resume=", "="),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(word), (args) => {
      try {
        read(...args);
      } catch (error) {
        expect(isNanoAgentError(error, "invalid_argument")).toBe(true);
      }
    }),
  );
});

test("every option has a help text and a name of its own", () => {
  const names = FLAGS.flatMap(({ name, short }) => [name, ...(short === undefined ? [] : [short])]);
  expect(new Set(names).size).toBe(names.length);
  expect(FLAGS.filter(({ help }) => help.trim() === "")).toEqual([]);
});

test.each([
  [["-r"], NO_VALUE],
  [["--resume", "--json", "go"], NO_VALUE],
  [["-r", "abc", "go"], "abc"],
  [["--resume=abc"], "abc"],
  [["go", "--", "-r"], undefined],
])("an option whose value may be left out: %j", (args, value) => {
  expect(readFlags(args).text("--resume")).toBe(value);
});
