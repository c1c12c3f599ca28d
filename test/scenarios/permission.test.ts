import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { ApprovalAnswer, Approver, Gate } from "../../src/core/agent/ports.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "./conversation.ts";

async function decide(permission: Gate, approve?: Approver) {
  const ran: string[] = [];
  const model = new ScriptedModel([calls("bash", { command: "ls" }), says("end")]);
  const bash = tool("bash", { execute: () => (ran.push("bash"), "files") });
  const agent = new Agent({
    model,
    tools: [bash],
    permission,
    ...(approve === undefined ? {} : { approve }),
  });
  const { messages, stopReason } = await agent.run("go");
  return { ran: ran.length, said: lines(messages)[2], stopReason };
}

const ask: Gate = { check: () => ({ action: "ask", reason: "bash needs approval" }) };

test("an allowed call runs, and a denied one is answered with the reason", async () => {
  expect(await decide({ check: () => ({ action: "allow" }) })).toMatchObject({
    ran: 1,
    said: "result call_1: files",
  });
  expect(await decide({ check: () => ({ action: "deny", reason: "rule bash(*)" }) })).toMatchObject({
    ran: 0,
    said: "error call_1: Error: Tool call was not approved: rule bash(*)",
  });
});

test("asking with nobody to ask is a refusal", async () => {
  expect(await decide(ask)).toMatchObject({
    ran: 0,
    said: "error call_1: Error: Tool call was not approved: bash needs approval, and there is nobody to ask",
  });
});

test("only a clear yes lets a call run", async () => {
  const yes: Approver[] = [() => true, async () => ({ approved: true })];
  for (const approve of yes) expect((await decide(ask, approve)).ran).toBe(1);
  const no = [
    () => false,
    () => undefined,
    () => null,
    () => 1,
    () => "yes",
    () => ({}),
    () => ({ approved: "true" }),
    () => Promise.reject(new Error("closed")),
    () => {
      throw new Error("no terminal");
    },
  ] as unknown as Approver[];
  for (const approve of no) expect((await decide(ask, approve)).ran).toBe(0);
});

test("a gate that throws or answers an unknown word refuses", async () => {
  const broken: Gate = {
    check: () => {
      throw new Error("bug");
    },
  };
  expect(await decide(broken)).toMatchObject({
    ran: 0,
    said: expect.stringContaining("the permission check failed: bug"),
  });
  expect(await decide({ check: () => ({ action: "perhaps" }) } as unknown as Gate)).toMatchObject({ ran: 0 });
});

test("the person's reason reaches the model, and a refusal may end the run", async () => {
  expect(await decide(ask, () => ({ approved: false, reason: "use git instead" }))).toMatchObject({
    said: "error call_1: Error: Tool call was not approved: use git instead",
    stopReason: "completed",
  });
  const model = new ScriptedModel([calls("bash", {})]);
  const agent = new Agent({
    model,
    tools: [tool("bash")],
    permission: ask,
    approve: () => ({ approved: false, stop: true }),
  });
  expect(await agent.run("go")).toMatchObject({ stopReason: "denied" });
});

test("questions come one at a time, in call order, before any call of the answer runs", async () => {
  const log: string[] = [];
  const model = new ScriptedModel([[calls("a"), calls("b")], says("end")]);
  const run = (name: string) => tool(name, { execute: () => void log.push(`runs ${name}`) });
  await new Agent({
    model,
    tools: [run("a"), run("b")],
    permission: ask,
    approve: async ({ name }) => {
      log.push(`asks ${name}`);
      await Promise.resolve();
      return true;
    },
  }).run("go");
  expect(log).toEqual(["asks a", "asks b", "runs a", "runs b"]);
});

test("a call runs with the input that the gate or the person says, which the journal holds; the model's own words stay", async () => {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([
    [
      calls("look", { command: "a  b" }),
      calls("ask", { command: "a  b" }),
      calls("plain", { command: "a  b" }),
    ],
    says("done"),
  ]);
  const agent = new Agent({
    model,
    tools: [tool("look"), tool("ask"), tool("plain")],
    journal,
    permission: {
      check: ({ name }) => ({ action: name === "ask" ? "ask" : "allow" }),
    },
    approve: () => ({ approved: true, input: { command: "agreed" } }),
  });
  const { messages } = await agent.run("go");
  const intents = [...journal.entries()].flatMap((entry) =>
    entry.type === "tool_intent" ? [`${entry.name} ${JSON.stringify(entry.input)}`] : [],
  );
  const ran = ['look {"command":"a  b"}', 'ask {"command":"agreed"}', 'plain {"command":"a  b"}'];
  expect(intents.toSorted()).toEqual(ran.toSorted());
  expect(
    lines(messages)
      .filter((line) => /^(?:calls|result)/.test(line))
      .map((line) => line.replace(/^(result) \S+/, "$1")),
  ).toEqual([
    'calls look {"command":"a  b"}',
    'calls ask {"command":"a  b"}',
    'calls plain {"command":"a  b"}',
    ...ran.map((line) => `result ${line}`),
  ]);
  expect(await replaySession([...journal.entries()])).toMatchObject({ same: true, differences: [] });
});

/** Answers to a question about paying 1, live or later: what was paid, what the model heard, who decided. */
async function paid(input: unknown, when: "live" | "later") {
  const amounts: unknown[] = [];
  const journal = new MemoryJournal();
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    parameters: {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    },
    needsApproval: true,
    execute: ({ n }: { readonly n: number }) => {
      amounts.push(n);
      return "paid";
    },
  });
  const answer = { approved: true, input } as ApprovalAnswer;
  const agent = new Agent({
    model: new ScriptedModel([calls("pay", { n: 1 }, "c"), says("end")]),
    tools: [pay],
    journal,
    permission: {
      check: ({ input: { n } }) =>
        Number(n) > 100 ? { action: "deny", rule: "pay(>100)", reason: "too much" } : { action: "allow" },
    },
    ...(when === "live" ? { approve: () => answer } : { onAsk: "pause" }),
  });
  let { messages } = await agent.run("go");
  if (when === "later") ({ messages } = await agent.run(undefined, { approvals: { c: answer } }));
  const decided = [...journal.entries()].flatMap((entry) =>
    entry.type === "permission_decision" ? [`${entry.action} ${JSON.stringify(entry.input)}`] : [],
  );
  return { amounts, heard: lines(messages)[2], decided };
}

test.each(["live", "later"] as const)(
  "an input that a person changes is checked and judged as the model's is, when the answer comes %s",
  async (when) => {
    expect(await paid({ n: 2 }, when)).toEqual({
      amounts: [2],
      heard: "result c: paid",
      decided: ['allow {"n":1}'],
    });
    expect(await paid({ n: 200 }, when)).toEqual({
      amounts: [],
      heard: "error c: Error: Tool call was not approved: too much",
      decided: ['allow {"n":1}', 'deny {"n":200}'],
    });
    for (const input of [5, null, [1], {}, { n: "x" }, { n: 1, evil: 2 }])
      expect(await paid(input, when)).toEqual({
        amounts: [],
        heard: expect.stringMatching(
          /^error c: Error: The arguments a person gave instead cannot run\. Invalid arguments for pay/,
        ),
        decided: ['allow {"n":1}'],
      });
  },
);

/** A tool that notes what it is called with. */
function notingShell(ran: unknown[], needsApproval: boolean) {
  return defineTool({
    name: "sh",
    description: "Runs.",
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    needsApproval,
    execute: (input) => {
      ran.push({ ...input });
      return "ok";
    },
  });
}

test("an approver that changes what it is asked about changes nothing of what runs", async () => {
  const ran: unknown[] = [];
  const sh = notingShell(ran, true);
  const answers: readonly ((input: { command: string }) => ApprovalAnswer)[] = [
    () => true,
    (input) => ({ approved: true, input }),
  ];
  for (const answer of answers) {
    const agent = new Agent({
      model: new ScriptedModel([calls("sh", { command: "ls" }), says("end")]),
      tools: [sh],
      permission: {
        check: ({ input: { command } }) => (command === "ls" ? { action: "allow" } : { action: "deny" }),
      },
      approve: ({ input }) => {
        ran.push(`asked ${String(input["command"])}`);
        const changed = input as { command: string };
        changed.command = "rm -rf /";
        return answer(changed);
      },
    });
    await agent.run("go");
  }
  expect(ran).toEqual(["asked ls", { command: "ls" }, "asked ls"]);
});

test("what an approver does with its answer afterwards changes nothing of what runs", async () => {
  const ran: unknown[] = [];
  const sh = notingShell(ran, false);
  const drafts: { command: string }[] = [];
  const agent = new Agent({
    model: new ScriptedModel([
      [calls("sh", { command: "ls" }), calls("sh", { command: "pwd" }), calls("sh", { command: "id" })],
      says("end"),
    ]),
    tools: [sh],
    permission: {
      check: ({ input: { command } }) =>
        command === "rm" ? { action: "deny", reason: "no" } : { action: "ask", reason: "?" },
    },
    approve: ({ input }) => {
      // Of earlier calls, which have not run yet.
      for (const earlier of drafts) earlier.command = "rm";
      const { command } = input as { command: string };
      const draft = command === "pwd" ? { command: "pwd -P" } : (input as { command: string });
      drafts.push(draft);
      return { approved: true, input: draft };
    },
  });
  await agent.run("go");
  expect(ran).toEqual([{ command: "ls" }, { command: "pwd -P" }, { command: "id" }]);
});

test("nobody is asked about a run that was stopped while its answer was being stored", async () => {
  const stop = new AbortController();
  let isJudged = false;
  class SlowJournal extends MemoryJournal {
    async flush(): Promise<void> {
      if (isJudged) stop.abort();
    }
  }
  const asked: string[] = [];
  const agent = new Agent({
    model: new ScriptedModel([calls("pay", { n: 1 })]),
    tools: [tool("pay")],
    journal: new SlowJournal(),
    permission: {
      check: () => {
        isJudged = true;
        return { action: "ask", reason: "?" };
      },
    },
    approve: ({ name }) => asked.push(name) > 0,
  });
  const { stopReason } = await agent.run("go", { signal: stop.signal });
  expect({ stopReason, asked }).toEqual({ stopReason: "aborted", asked: [] });
});
