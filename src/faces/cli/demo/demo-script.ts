import { type ToolResultBlock, textOf } from "../../../core/message/message.ts";
import type { ModelRequest } from "../../../core/model/model.ts";
import { calls, type ScriptStep, says, thinks } from "../../../testing/script.ts";
import { FAULTY_FILE } from "./demo-project.ts";

/**
 * The answers of the scripted model. It looks at the real results before it goes on: when the machine
 * answers otherwise than it should (no `node` on the PATH, say), it stops and says what it saw.
 */
export const DEMO_SCRIPT: readonly ScriptStep[] = [
  [
    thinks("I should see the failure before I read any code."),
    says("I run the tests first."),
    calls("bash", { command: "node --test" }),
  ],
  (request) =>
    unless(lastResult(request).includes("250"), request, [
      says(
        "Two tests fail, both with milliseconds: 250ms comes out as 15000000, which is 250 minutes. I look at the parser, and at what else uses the units.",
      ),
      calls("read", { path: FAULTY_FILE }),
      calls("grep", { pattern: "UNITS", path: "src", mode: "content" }),
    ]),
  (request) =>
    unless(lastResult(request).includes("UNITS"), request, [
      says(
        "The pattern offers m before ms, so the s of ms is never reached. The longer unit has to come first.",
      ),
      calls("edit", {
        path: FAULTY_FILE,
        edits: [{ old_string: "(d|h|m|s|ms)", new_string: "(d|h|ms|m|s)" }],
      }),
    ]),
  (request) =>
    unless(!lastFailed(request), request, [
      says("Now the tests again."),
      calls("bash", { command: "node --test" }),
    ]),
  (request) =>
    unless(!lastFailed(request), request, [
      says(
        `Fixed in ${FAULTY_FILE}: the alternatives of the pattern were tried in order, and "m" matched before "ms" could. With "ms" first, 250ms is 250 again, and all tests pass.`,
      ),
    ]),
];

type Answer = Exclude<ScriptStep, (...args: never[]) => unknown>;

function unless(asExpected: boolean, request: ModelRequest, answer: Answer): Answer {
  return asExpected
    ? answer
    : says(
        `This is not what the demo expects, so it ends here. The last result was:\n${lastResult(request)}`,
      );
}

function results(request: ModelRequest): readonly ToolResultBlock[] {
  const blocks = request.messages.at(-1)?.content ?? [];
  return blocks.flatMap((block) => (block.type === "tool_result" ? [block] : []));
}

function lastResult(request: ModelRequest): string {
  const last = results(request).at(-1);
  return last === undefined ? "" : textOf(last.content, "\n");
}

function lastFailed(request: ModelRequest): boolean {
  return results(request).some((block) => block.is_error === true);
}
