import { setImmediate } from "node:timers/promises";
import { expect, expectTypeOf, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  GateDecision,
  GateRequest,
} from "../../src/core/agent/ports.ts";
import { defineTool, type ToolDefinition } from "../../src/core/tool/tool.ts";
import { type ApprovalQuestion, type ApprovalReply, createApprover } from "../../src/permission/approver.ts";
import { PolicyGate } from "../../src/permission/policy.ts";
import { parseRules, SessionRules } from "../../src/permission/rule.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool } from "../../src/tools/batch-tool.ts";
import { tempFolder } from "../temp-folder.ts";
import { lines } from "./conversation.ts";

const PARAMETERS = {
  type: "object",
  properties: { amount: { type: "number" } },
  required: ["amount"],
} as const;
type ApprovalRule = ToolDefinition<typeof PARAMETERS>["needsApproval"];

/** An agent that pays 5 and then 500, and what happened. */
function till(needsApproval: ApprovalRule, options: Partial<AgentOptions> = {}) {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    parameters: PARAMETERS,
    ...(needsApproval === undefined ? {} : { needsApproval }),
    execute: ({ amount }) => paid.push(amount) && "paid",
  });
  const model = new ScriptedModel([
    [calls("pay", { amount: 5 }), calls("pay", { amount: 500 })],
    says("Done."),
  ]);
  return { paid, agent: new Agent({ model, tools: [pay], ...options }) };
}

test.each([
  ["true", true, [5, 500]],
  ["a function of the input", ({ amount }: { readonly amount: number }) => amount > 100, [500]],
  ["a function that resolves", async ({ amount }: { readonly amount: number }) => amount < 100, [5]],
  ["false", false, []],
] as const)("with needsApproval as %s the approver is asked, without any gate", async (_, wanted, asked) => {
  const seen: ApprovalRequest[] = [];
  const approve = (request: ApprovalRequest): ApprovalAnswer => {
    seen.push(request);
    return true;
  };
  const { paid, agent } = till(wanted, { approve });
  expect((await agent.run("go")).text).toBe("Done.");
  expect({ paid, asked: seen.map(({ input }) => input["amount"]) }).toEqual({ paid: [5, 500], asked });
  for (const { decision } of seen)
    expect(decision).toEqual({ action: "ask", code: "needs_approval", reason: "pay needs approval" });
});

test("without an approver the call is refused, or waits", async () => {
  const refused = till(({ amount }) => amount > 100);
  expect(lines((await refused.agent.run("go")).messages).slice(3, 5)).toEqual([
    "result call_1: paid",
    "error call_2: Error: Tool call was not approved: pay needs approval, and there is nobody to ask",
  ]);
  const waiting = till(({ amount }) => amount > 100, { onAsk: "pause" });
  const paused = await waiting.agent.run("go");
  expect(paused.pending).toMatchObject([{ callId: "call_2", reason: "pay needs approval" }]);
  const done = await waiting.agent.run(undefined, { approvals: { call_2: true } });
  expect({ text: done.text, paid: waiting.paid }).toEqual({ text: "Done.", paid: [5, 500] });
});

test("a gate that forbids needs no question, and one that allows does not spare it", async () => {
  const asked: unknown[] = [];
  const approve = ({ input }: ApprovalRequest): boolean => asked.push(input["amount"]) > 1;
  const gate: AgentOptions["permission"] = {
    check: ({ input }) =>
      input["amount"] === 5 ? { action: "deny", reason: "too little" } : { action: "allow" },
  };
  const { paid, agent } = till(true, { approve, permission: gate });
  await agent.run("go");
  expect({ asked, paid }).toEqual({ asked: [500], paid: [] });
});

/** A till beside a person who answers one question after another, whatever calls come at the same time. */
function busyTill({
  replies,
  allow,
  modeWhileAsked,
}: {
  readonly replies: readonly ApprovalReply[];
  readonly allow?: "pay";
  readonly modeWhileAsked?: "plan";
}) {
  const left = [...replies];
  const asked: unknown[] = [];
  const session = new SessionRules();
  const cwd = tempFolder();
  const rules = parseRules({ allow: allow === undefined ? [] : [allow] });
  const permission = new PolicyGate({ cwd, home: cwd, workspace: [cwd], session, rules });
  const ask = async ({ input, reason }: ApprovalQuestion): Promise<ApprovalReply> => {
    asked.push([input["amount"], reason]);
    if (modeWhileAsked !== undefined) permission.setMode(modeWhileAsked);
    await setImmediate();
    return left.shift() ?? { choice: "no" };
  };
  const recheck = (request: GateRequest): GateDecision => permission.check(request);
  const approve = createApprover({
    prompt: { ask, tell: () => undefined },
    session,
    recheck,
    remember: async () => "settings",
  });
  const paid: number[] = [];
  const execute = ({ amount }: { readonly amount: number }): string => {
    paid.push(amount);
    return "paid";
  };
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    parameters: PARAMETERS,
    needsApproval: true,
    execute,
  });
  const batch = (amount: number) => calls("batch", { calls: [{ tool: "pay", input: { amount } }] });
  const model = new ScriptedModel([[batch(5), batch(500)], says("Done.")]);
  const agent = new Agent({ model, permission, approve, tools: [pay, createBatchTool()] });
  return { asked, paid, agent };
}

test("a question of a tool that waits behind another one is put to the person all the same", async () => {
  const { agent, asked, paid } = busyTill({ replies: [{ choice: "once" }, { choice: "no" }], allow: "pay" });
  await agent.run("go");
  const why = "pay needs approval";
  expect({ asked, paid }).toEqual({
    asked: [
      [5, why],
      [500, why],
    ],
    paid: [5],
  });
});

test("a rule that answers the question of the gate meanwhile does not answer the tool's own", async () => {
  const { agent, asked, paid } = busyTill({ replies: [{ choice: "always" }, { choice: "no" }] });
  await agent.run("go");
  expect({ asked, paid }).toEqual({
    asked: [
      [5, expect.stringContaining("No rule allows pay")],
      [500, "pay needs approval"],
    ],
    paid: [5],
  });
});

test("what rules forbid meanwhile is not asked about", async () => {
  const { agent, asked, paid } = busyTill({ replies: [], allow: "pay", modeWhileAsked: "plan" });
  await agent.run("go");
  expect({ asked: asked.length, paid }).toEqual({ asked: 1, paid: [] });
});

test.each([
  ["is refused", {}, { refused: 2, waiting: 0 }],
  ["waits", { onAsk: "pause" }, { refused: 0, waiting: 2 }],
] as const)("a yes of a rule is none to what a tool itself asks: the call %s", async (_, options, ends) => {
  const { agent, paid } = till(true, { approve: () => ({ approved: true, unasked: true }), ...options });
  const { pending = [], messages } = await agent.run("go");
  const refused = lines(messages).filter((each) => each.includes("there is nobody to ask"));
  expect({ paid, refused: refused.length, waiting: pending.length }).toEqual({ paid: [], ...ends });
});

test("a function that throws asks, and says why", async () => {
  const reasons: unknown[] = [];
  const { agent } = till(
    () => {
      throw new Error("no rates");
    },
    { approve: ({ decision }) => reasons.push(decision.reason) > 2 },
  );
  await agent.run("go");
  expect(reasons).toEqual(
    Array.from({ length: 2 }, () => "whether pay needs approval could not be decided: no rates"),
  );
});

test("anything but a boolean or a function is refused when the tool is made", () => {
  expectTypeOf<ApprovalRule>().not.toBeAny();
  // @ts-expect-error a text is no answer to the question
  expect(() => till("always")).toThrow(
    'needsApproval of tool "pay" is string; pass true, false or a function',
  );
});
