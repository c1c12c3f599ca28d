import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import type { ToolInput } from "../core/message/block.ts";
import { defineTool } from "../core/tool/define-tool.ts";
import { parseRule } from "../permission/parse-rule.ts";
import { PolicyGate } from "../permission/policy-gate.ts";
import { SessionRules } from "../permission/session-rules.ts";
import { CoveredCalls } from "./covered-calls.ts";

/** A gate with one rule, whose decisions about commands are noted. */
function room(options: { readonly trusted?: readonly string[]; readonly mode?: "bypassPermissions" } = {}) {
  const covered = new CoveredCalls();
  const session = new SessionRules();
  const cwd = tempFolder();
  const gate = new PolicyGate({
    cwd,
    home: cwd,
    workspace: [cwd],
    rules: parseRule("bash(make *)", "allow"),
    session,
    onCommand: (input, judged) => covered.note(input, judged),
    ...options,
  });
  /** Judges a call, and returns the arguments it would run with. */
  const judge = (input: ToolInput, callId = "1"): ToolInput => {
    const request = {
      callId,
      name: "bash",
      input,
      cwd,
      sessionId: "s",
      signal: new AbortController().signal,
    };
    return (
      gate.check({ ...request, tool: defineTool({ name: "bash", description: "", execute: () => "" }) })
        .input ?? input
    );
  };
  const isCovered = (command: string): boolean => covered.isCovered(judge({ command }));
  return { covered, session, gate, judge, isCovered, cwd };
}

test("what rules about commands allow is covered; what a person or trust in the tool allows is not", () => {
  const { isCovered } = room();
  expect([
    isCovered("git status"),
    isCovered("make all  # comment"),
    isCovered("touch x"),
    room({ trusted: ["bash"] }).isCovered("git status"),
    room({ mode: "bypassPermissions" }).isCovered("touch x"),
  ]).toEqual([true, true, false, false, false]);
});

test("a call that a person was asked about stays the person's, whatever rule the answer brought", () => {
  const { judge, session, covered } = room();
  const asked = { command: "touch x" };
  judge(asked);
  session.accept("bash(touch x)", "session");
  judge(asked);
  expect(covered.isCovered(asked)).toBe(false);
  expect(covered.isCovered(judge({ command: "touch x" }))).toBe(true);
});

test("one id for two calls gives neither the decision about the other", () => {
  const { judge, covered } = room();
  const refused = judge({ command: "touch x" }, "same");
  const allowed = judge({ command: "git status" }, "same");
  expect([covered.isCovered(refused), covered.isCovered(allowed), covered.isCovered({})]).toEqual([
    false,
    true,
    true,
  ]);
});

test("a command runs only while what it was judged by is as it was", () => {
  const { judge, covered, gate, cwd } = room();
  const calls = ["cat note", "make all", "touch x"].map((command) => judge({ command }));
  const refused = (): readonly boolean[] => calls.map((call) => covered.refusal(call) !== undefined);
  const before = refused();
  symlinkSync("/etc/hosts", join(cwd, "note"));
  const linked = refused();
  rmSync(join(cwd, "note"));
  gate.setMode("plan");
  expect({ before, linked, planned: refused() }).toEqual({
    before: [false, false, false],
    linked: [true, false, false],
    planned: [false, true, false],
  });
});
