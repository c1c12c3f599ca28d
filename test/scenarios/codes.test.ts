import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { Approver, Gate } from "../../src/core/agent/ports.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tool } from "./conversation.ts";

const ASKS: Gate = { check: () => ({ action: "ask", reason: "It writes.", code: "no_rule" }) };

async function decided(options: Partial<AgentOptions>): Promise<readonly object[]> {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([calls("write", {}), says("ok")]);
  await new Agent({ model, tools: [tool("write")], journal, ...options }).run("go");
  return [...journal.entries()].flatMap((entry: JournalEntry) => {
    if (entry.type !== "permission_decision") return [];
    const { code, by, action, question } = entry;
    return [{ code, by, action, question }];
  });
}

test("each way a call is decided about has a code, and what was asked stays beside the answer", async () => {
  const person = (answer: Awaited<ReturnType<Approver>>): Partial<AgentOptions> => ({
    permission: ASKS,
    approve: () => answer,
  });
  expect([
    await decided({ permission: { check: () => ({ action: "deny", code: "deny_rule", reason: "no" }) } }),
    await decided({ permission: ASKS }),
    await decided(person(false)),
    await decided(person({ approved: false, reason: "not now" })),
    await decided(person(true)),
    await decided({
      permission: ASKS,
      approve: () => {
        throw new Error("gone");
      },
    }),
    await decided({
      permission: {
        check: () => {
          throw new Error("broken");
        },
      },
    }),
    await decided({ permission: { check: () => "yes" as never } }),
    await decided({ hooks: { pre_acting: (_agent, args) => ({ ...args, refuse: "not here" }) } }),
  ]).toEqual(
    [
      { code: "deny_rule", by: "rule", action: "deny" },
      { code: "nobody_to_ask", by: "nobody", action: "deny", question: "It writes." },
      { code: "person", by: "person", action: "deny", question: "It writes." },
      { code: "person", by: "person", action: "deny", question: "It writes." },
      { code: "no_rule", by: "person", action: "allow" },
      { code: "approver_failed", by: "person", action: "deny", question: "It writes." },
      { code: "gate_failed", by: "rule", action: "deny" },
      { code: "gate_failed", by: "rule", action: "deny" },
      { code: "hook", by: "rule", action: "deny" },
    ].map((entry) => [entry]),
  );
});

test("what the loop says has a code, a warning of the guard names its circle, and so does the end", async () => {
  const journal = new MemoryJournal();
  const agent = new Agent({
    model: new ScriptedModel(() => calls("read", { path: "a" })),
    tools: [tool("read")],
    journal,
  });

  const { stopReason, circle } = await agent.run("go");

  expect([stopReason, circle]).toEqual(["loop_detected", { tools: ["read"], calls: 5 }]);
  const [warning] = [...journal.entries()].filter(
    (entry) => entry.type === "user_message" && entry.source === "system",
  );
  expect(warning).toMatchObject({ code: "loop_warning", circle: { tools: ["read"], calls: 3 } });
  expect([...journal.entries()].at(-1)).toMatchObject({
    type: "run_end",
    circle: { tools: ["read"], calls: 5 },
  });
});

test("a run that ended at a limit says in its last entry at which", async () => {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([calls("read", {})]);
  await new Agent({ model, tools: [tool("read")], journal, budget: { tokens: 100 } }).run("go");
  expect([...journal.entries()].at(-1)).toMatchObject({
    type: "run_end",
    stopReason: "budget",
    limit: "tokens",
  });
});
