import { expect, test } from "vitest";
import { checkLine } from "./check-lines.ts";

const base = { cwd: "/work", home: "/home/me" };
const call = { tool: "bash", input: { command: "make x" } };

test("a line is answered with a decision", () => {
  const line = JSON.stringify({
    ...call,
    rules: { allow: ["bash(make *)"] },
    defaults: false,
    cwd: "/work/sub",
    workspace: ["/work"],
    home: "/home/me",
    mode: "default",
    id: 7,
  });
  expect(checkLine(line, base)).toEqual({
    decision: "allow",
    part: "make x",
    rule: "bash(make *)",
    reason: "The rule bash(make *) allows make x.",
    runs: "outside",
  });
});

test("a line says whether a sandbox works", () => {
  const line = (sandbox: boolean, access?: string): object =>
    checkLine(
      JSON.stringify({ tool: "bash", input: { command: "make x", access }, mode: "auto", sandbox }),
      base,
    );
  expect([line(true), line(true, "network"), line(false)]).toEqual([
    { decision: "allow", reason: "It runs in the sandbox.", runs: "inside" },
    {
      decision: "ask",
      part: "make x",
      reason: "make x: no rule allows it. It asks for the network.",
      suggestion: "bash(make x)",
      runs: "network",
    },
    {
      decision: "ask",
      part: "make x",
      reason: "make x: no rule allows it.",
      suggestion: "bash(make x)",
      runs: "outside",
    },
  ]);
});

const BAD: readonly (readonly [line: string, error: string])[] = [
  ["", "The line is not JSON: "],
  ["{", "The line is not JSON: "],
  ["[]", "the line is a list; it must be an object."],
  ["{}", "tool is missing; it must be a non-empty string."],
  ['{"tool":"bash"}', "input is missing; it must be an object."],
  ['{"tool":"bash","input":"ls"}', 'input is "ls"; it must be an object.'],
  ['{"tool":"bash","input":{},"rules":"bash"}', 'rules is "bash"; it must be a list of rules'],
  ['{"tool":"bash","input":{},"rules":{"allow":["bash("]}}', 'The permission rule "bash(" is malformed'],
  ['{"tool":"bash","input":{},"defaults":"no"}', 'defaults is "no"; it must be true or false.'],
  ['{"tool":"bash","input":{},"sandbox":"on"}', 'sandbox is "on"; it must be true or false.'],
  ['{"tool":"bash","input":{},"mode":"yolo"}', 'mode is "yolo"; it must be "plan", "dontAsk", "default"'],
  ['{"tool":"bash","input":{},"cwd":1}', "cwd is 1; it must be a non-empty string."],
  [
    '{"tool":"bash","input":{},"workspace":[]}',
    "workspace is a list; it must be a folder or a list of folders.",
  ],
  ['{"tool":"bash","input":{},"workspace":[1]}', "workspace[0] is 1; it must be a non-empty string."],
  [
    '{"tool":"bash","input":{},"defualts":false}',
    '"defualts" is not a key of a line. Use one of tool, input',
  ],
  ['{"__proto__":{"tool":"bash","input":{"command":"ls"}}}', "tool is missing"],
];

test.each(BAD)("%s is answered with an error, never with a decision", (line, error) => {
  const answer = checkLine(line, base);
  expect("error" in answer && answer.error.startsWith(error) ? error : answer).toBe(error);
});
