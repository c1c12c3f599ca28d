import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
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
    onCommand: (request, isCovered) => covered.note(request, isCovered),
    ...options,
  });
  const request = (callId: string, command: string) => ({
    callId,
    tool: defineTool({ name: "bash", description: "", execute: () => "" }),
    name: "bash",
    input: { command },
    cwd,
    sessionId: "s",
    signal: new AbortController().signal,
  });
  const decide = (callId: string, command: string): boolean => {
    gate.check(request(callId, command));
    return covered.takes({ sessionId: "s", callId });
  };
  return { covered, session, gate, request, decide };
}

test("what rules about commands allow is covered; what a person or trust in the tool allows is not", () => {
  const { decide } = room();
  expect([
    decide("1", "git status"),
    decide("2", "make all"),
    decide("3", "touch x"),
    room({ trusted: ["bash"] }).decide("1", "git status"),
    room({ mode: "bypassPermissions" }).decide("1", "touch x"),
  ]).toEqual([true, true, false, false, false]);
});

test("a call that a person was asked about stays the person's, whatever rule the answer brought", () => {
  const { gate, request, session, covered } = room();
  gate.check(request("1", "touch x"));
  session.accept("bash(touch x)", "session");
  gate.check(request("1", "touch x"));
  expect(covered.takes({ sessionId: "s", callId: "1" })).toBe(false);
  gate.check(request("2", "touch x"));
  expect(covered.takes({ sessionId: "s", callId: "2" })).toBe(true);
  expect(covered.takes({ sessionId: "s", callId: "2" })).toBe(false);
});
