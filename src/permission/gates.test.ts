import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import type { GateRequest } from "../core/agent/ports.ts";
import { defineTool } from "../core/tool/tool.ts";
import type { SandboxState } from "./permission-mode.ts";
import { PermissionManager, PolicyGate } from "./policy.ts";
import {
  DEFAULT_RULES,
  HIGH_SECURITY_RULES,
  parseRules,
  READONLY_RULES,
  SessionRules,
  TRUSTED_RULES,
} from "./rule.ts";

function request(cwd: string, name: string, input: object, readOnly = false): GateRequest {
  const tool = defineTool({ name, description: name, readOnly, execute: () => "" });
  return {
    callId: "1",
    tool,
    name,
    input: { ...input },
    cwd,
    sessionId: "s",
    signal: new AbortController().signal,
  };
}

test("the gate passes a batch, because its calls come by themselves, unless a rule is against it", () => {
  const cwd = tempFolder();
  const options = { cwd, home: cwd, workspace: [cwd] };
  const actions = [
    new PolicyGate(options).check(
      request(cwd, "batch", { calls: [{ tool: "bash", input: { command: "make" } }] }),
    ).action,
    new PolicyGate({ ...options, rules: parseRules({ deny: ["batch"] }) }).check(
      request(cwd, "batch", { calls: [] }),
    ).action,
    new PolicyGate({ ...options, mode: "plan", defaults: false }).check(request(cwd, "batch", { calls: [] }))
      .action,
  ];
  expect(actions).toEqual(["allow", "deny", "allow"]);
});

test("a custom tool that only reads is allowed, one that does not is asked about", () => {
  const cwd = tempFolder();
  const gate = new PolicyGate({ cwd, home: cwd, workspace: [cwd] });
  expect([
    gate.check(request(cwd, "lookup", {}, true)).action,
    gate.check(request(cwd, "change", {})).action,
    gate.check(request(cwd, "bash", { command: "make" }, true)).action,
  ]).toEqual(["allow", "ask", "ask"]);
});

test("a rule that an answer brought counts from the next call on, and for nothing else", () => {
  const cwd = tempFolder();
  const session = new SessionRules();
  const gate = new PolicyGate({ cwd, home: cwd, workspace: [cwd], session });
  const make = request(cwd, "bash", { command: "make test" });
  const first = gate.check(make);
  expect(first.suggestion).toBe("bash(make test)");
  const answers = [gate.check(make).action, session.allow(first.suggestion ?? ""), gate.check(make).action];
  expect(answers).toEqual(["ask", undefined, "allow"]);
  expect(gate.check(request(cwd, "bash", { command: "make test clean" })).action).toBe("ask");
  session.allow("bash(make clean)");
  expect(gate.check(request(cwd, "bash", { command: "make clean; rm x" }))).toMatchObject({
    action: "ask",
    part: "rm x",
    suggestion: "bash(make clean; rm x)",
  });
  expect(session.rules).toEqual([
    { tool: "bash", pattern: "make test", action: "allow", origin: "session" },
    { tool: "bash", pattern: "make clean", action: "allow", origin: "session" },
  ]);
});

test("a command that is allowed because it only looks is known by its arguments, and no other one is", () => {
  const cwd = tempFolder();
  const gate = new PolicyGate({
    cwd,
    home: cwd,
    workspace: [cwd],
    rules: parseRules({ allow: ["bash(make*)"] }),
  });
  const looks = (command: string): boolean => {
    const call = request(cwd, "bash", { command });
    gate.check(call);
    return gate.looks(call.input);
  };
  expect([looks("ls"), looks("cd . && ls"), looks("make"), looks("ls && make"), gate.looks({})]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("where a command runs is asked for with each command", () => {
  const cwd = tempFolder();
  let sandbox: SandboxState = "none";
  const options = { cwd, home: cwd, workspace: [cwd], mode: "auto", sandbox: () => sandbox } as const;
  const gate = new PolicyGate(options);
  const decide = (): readonly unknown[] => {
    const { action, runs } = gate.check(request(cwd, "bash", { command: "make" }));
    return [action, runs];
  };
  const before = decide();
  sandbox = "works";
  expect([before, decide()]).toEqual([
    ["ask", "outside"],
    ["allow", "inside"],
  ]);
});

test("the manager answers with one word, by the rule set it was given", () => {
  const cwd = tempFolder();
  const calls: readonly (readonly [string, object])[] = [
    ["read", { path: "a" }],
    ["write", { path: "a" }],
    ["bash", { command: "make" }],
    ["task", { agent: "a" }],
    ["web_fetch", { url: "https://x.org" }],
  ];
  const row = (rules: PermissionManager): readonly string[] =>
    calls.map(([tool, params]) => rules.check({ tool, params: { ...params } }));
  const managerOf = (rules: typeof DEFAULT_RULES): PermissionManager =>
    new PermissionManager({ rules, cwd, home: cwd, workspace: [cwd] });
  expect(
    [DEFAULT_RULES, READONLY_RULES, TRUSTED_RULES, HIGH_SECURITY_RULES].map((rules) => row(managerOf(rules))),
  ).toEqual([
    ["allow", "ask", "ask", "allow", "ask"],
    ["allow", "deny", "deny", "deny", "ask"],
    ["allow", "allow", "allow", "allow", "allow"],
    ["ask", "ask", "deny", "deny", "deny"],
  ]);
});

test("the manager of an agent judges from the folder of the call, and asks about the calls of a batch alone", () => {
  const [own, other] = [tempFolder(), tempFolder()];
  const actionsOf = (manager: PermissionManager, cwd: string): readonly string[] =>
    [
      request(cwd, "read", { path: join(own, "a") }),
      request(cwd, "read", { path: "a" }),
      request(cwd, "batch", { calls: [{ tool: "write", input: { path: "a", content: "" } }] }),
    ].map((call) => manager.check(call).action);
  const denied = new PermissionManager([{ tool: "batch", action: "deny" }]);
  expect([
    actionsOf(new PermissionManager(DEFAULT_RULES), own),
    actionsOf(new PermissionManager(), other),
    actionsOf(new PermissionManager({ cwd: own }), other),
    actionsOf(denied, own).at(-1),
  ]).toEqual([["allow", "allow", "allow"], ["ask", "allow", "allow"], ["allow", "ask", "allow"], "deny"]);
});

test("the manager judges every pattern it is given, and takes more rules", () => {
  const cwd = tempFolder();
  const manager = new PermissionManager({ cwd, home: cwd, workspace: [cwd] });
  manager.addRule({ tool: "bash", pattern: "rm *", action: "deny" });
  expect([
    manager.check({ tool: "read", params: {}, patterns: ["a", "b"] }),
    manager.check({ tool: "read", params: {}, patterns: ["a", "../b"] }),
    manager.check({ tool: "bash", params: {}, patterns: ["ls; sudo rm x"] }),
    manager.check(request(cwd, "bash", { command: "rm x" })).action,
  ]).toEqual(["allow", "ask", "deny", "deny"]);
  expect(() => manager.addRule({ tool: "bash", pattern: "", action: "allow" })).toThrow("malformed");
});
