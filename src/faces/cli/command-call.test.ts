import fc from "fast-check";
import { expect, test } from "vitest";
import { readCommandCall, runFlagsOf } from "./command-call.ts";
import { COMMANDS } from "./commands.ts";
import { action, type CommandSpec } from "./read-options.ts";

const command: CommandSpec = {
  name: "box",
  help: "",
  actions: [
    action("list", "", { "--all": "" }),
    action("put ID [FILE…] -- PATH…", "", { "-t, --to PLACE": "", "--kind red|blue": "" }),
  ],
};

const read = (...args: string[]): object => {
  const { action, words, afterDashes, has, list } = readCommandCall(command, args);
  return { action, words, behind: afterDashes, all: has("--all"), to: list("--to"), kind: list("--kind") };
};

test("words, options in every spelling and what stands behind -- are told apart", () => {
  const nothing = { words: [], behind: [], all: false, to: [], kind: [] };
  expect([
    read(),
    read("--all"),
    read("put", "a", "-t", "x", "b", "--to=y=z", "--kind", "red", "--", "-c", "d"),
  ]).toEqual([
    { ...nothing, action: "list" },
    { ...nothing, action: "list", all: true },
    { action: "put", words: ["a", "b"], behind: ["-c", "d"], all: false, to: ["x", "y=z"], kind: ["red"] },
  ]);
});

test.each([
  [["pot"], 'box has no "pot". Did you mean put?'],
  [["list", "x"], 'box list: "x" is one word too many.'],
  [["put"], "box put: It needs ID [FILE]."],
  [["put", "a", "--too", "x"], "box put: Unknown option --too. Did you mean --to?"],
  [["put", "a", "--to"], "box put: --to needs a value: --to PLACE."],
  [["put", "a", "--to="], "box put: --to needs a value: --to PLACE."],
  [["put", "a", "--kind", "rad"], 'box put: --kind "rad": unknown. Did you mean red?'],
  [["list", "--all=1"], 'box list: --all takes no value. Leave "=1" out.'],
])("%j is refused", (args, message) => {
  expect(() => readCommandCall(command, args)).toThrow(message);
});

test("whatever is typed behind a command is read or refused with its usage", () => {
  const word = fc.oneof(fc.constantFrom("--json", "--", "-", "list", "--format=html", "-o"), fc.string());
  fc.assert(
    fc.property(fc.constantFrom(...COMMANDS), fc.array(word, { maxLength: 5 }), (spec, args) => {
      try {
        const { words, afterDashes } = readCommandCall(spec, args);
        expect(args).toEqual(expect.arrayContaining([...words, ...afterDashes]));
      } catch (error) {
        expect(error).toMatchObject({
          code: "invalid_argument",
          message: expect.stringContaining("nano-agent "),
        });
      }
    }),
  );
});

test("an action that runs the agent takes the options of a run", () => {
  const spec: CommandSpec = { name: "serve", help: "", actions: [{ ...action("", ""), runOptions: true }] };
  const call = readCommandCall(spec, ["-m", "openai/gpt-5", "--yolo", "--add-dir", "/a", "--add-dir=/b"]);
  const { config, addDirs } = runFlagsOf(call);
  expect([config, addDirs]).toEqual([
    { model: "openai/gpt-5", permissionMode: "bypassPermissions" },
    ["/a", "/b"],
  ]);
});
