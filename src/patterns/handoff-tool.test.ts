import { expect, expectTypeOf, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { calls, says } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { createHandoffTool } from "./handoff-tool.ts";

const transfer = createHandoffTool({ to: { billing: "Invoices.", tech: "Faults." } });

test("the result of a handoff says who goes on, by its own name and type", async () => {
  const model = new ScriptedModel([calls("transfer", { to: "sales" }), calls("transfer", { to: "tech" })]);
  const result = await new Agent({ model, tools: [transfer] }).run("It does not start.");
  const target = transfer.targetOf(result);
  expectTypeOf(target).toEqualTypeOf<"billing" | "tech" | undefined>();
  expect({ target, stopReason: result.stopReason }).toEqual({ target: "tech", stopReason: "finish_tool" });
  expect(model.requests[0]?.tools?.[0]?.description).toContain("- billing: Invoices.\n- tech: Faults.");
});

test("a run that ends otherwise, or with another handoff, goes on with nobody", async () => {
  const answered = await new Agent({ model: new ScriptedModel([says("tech")]), tools: [transfer] }).run("go");
  const escalate = createHandoffTool({ name: "escalate", to: { tech: "Faults." } });
  const model = new ScriptedModel([calls("escalate", { to: "tech" })]);
  const escalated = await new Agent({ model, tools: [transfer, escalate] }).run("go");
  expect([answered, escalated].map((result) => transfer.targetOf(result))).toEqual([undefined, undefined]);
  expect(escalate.targetOf(escalated)).toBe("tech");
});

test("a handoff to nobody is refused when the tool is made", () => {
  expect(() => createHandoffTool({ to: {} })).toThrow("createHandoffTool needs an agent to hand over to");
});
