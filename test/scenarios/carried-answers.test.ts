import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { Approver, Gate, GateDecision } from "../../src/core/agent/ports.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { PermissionManager } from "../../src/permission/policy.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { fileTools } from "../../src/tools/file-tools.ts";
import { tempFolder } from "../temp-folder.ts";
import { lines, tool } from "./conversation.ts";

/** A call of `deploy` that waits for its answer, and agents that go on with it. */
async function waiting(options: Partial<AgentOptions>) {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([calls("deploy", { to: "test" }), says("Done.")]);
  const ran: unknown[] = [];
  const deploy = tool("deploy", { execute: (input: unknown) => ran.push(input) && "deployed" });
  const open = (more: Partial<AgentOptions>): Agent =>
    new Agent({ model, journal, tools: [deploy], onAsk: "pause", ...options, ...more });
  const { pending = [] } = await open({}).run("go");
  expect(pending).toHaveLength(1);
  return { journal, model, ran, open };
}

/** A gate that always gives one answer. */
const always = (decision: GateDecision): Partial<AgentOptions> => ({ permission: { check: () => decision } });
const ASKS: GateDecision = { action: "ask", reason: "it is live", code: "no_rule", part: "a", place: "/x" };
const YES = { approvals: { call_1: true } };

const NOWHERE: GateDecision = { action: "ask", reason: "it is live" };

test.each<readonly [what: string, first: GateDecision, then: Partial<AgentOptions>]>([
  ["in another folder", NOWHERE, { cwd: "/elsewhere" }],
  ["that leads to another place", ASKS, always({ ...ASKS, place: "/y" })],
  ["that is asked about for another reason", ASKS, always({ ...ASKS, code: "protected_path" })],
  ["of which another part is asked about", ASKS, always({ ...ASKS, part: "b" })],
])("a yes that comes later is none for a call %s: it is asked about anew", async (_, first, then) => {
  const { open, ran, journal } = await waiting({ ...always(first), cwd: "/here" });
  // Nobody there: it waits for another answer.
  const again = await open({ cwd: "/here", ...then }).run(undefined, YES);
  expect([again.stopReason, ran]).toEqual(["awaiting_approval", []]);
  const asked = [...journal.entries()].filter(({ type }) => type === "approval_request");
  expect(asked).toHaveLength(2);
  // That one is for what it is now.
  const end = await open({ cwd: "/here", ...then }).run(undefined, YES);
  expect([end.stopReason, ran]).toEqual(["completed", [{ to: "test" }]]);
});

test("where somebody is there, they are asked about what has changed", async () => {
  for (const [answer, deployed] of [
    [true, 1],
    [false, 0],
  ] as const) {
    const { open, ran } = await waiting(always(ASKS));
    const shown: unknown[] = [];
    const approve: Approver = ({ decision }) => {
      shown.push(decision.place);
      return answer;
    };
    const { stopReason } = await open({ ...always({ ...ASKS, place: "/y" }), approve }).run(undefined, YES);
    expect([stopReason, shown, ran.length]).toEqual(["completed", ["/y"], deployed]);
  }
});

test("a no holds whatever has become of the call, and a rule of today wins over a yes", async () => {
  const no = await waiting(always(ASKS));
  const moved = always({ ...ASKS, place: "/y" });
  const refused = await no.open(moved).run(undefined, { approvals: { call_1: false } });
  expect([lines(refused.messages)[2], no.ran]).toEqual([
    "error call_1: Error: Tool call was not approved: the user refused it",
    [],
  ]);
  const late = await waiting(always(ASKS));
  const denied = await late.open(always({ action: "deny", reason: "not today" })).run(undefined, YES);
  expect([lines(denied.messages)[2], late.ran]).toEqual([
    "error call_1: Error: Tool call was not approved: not today",
    [],
  ]);
});

test("what a person put in the place of the arguments does not run where the call has changed", async () => {
  const changed = { approvals: { call_1: { approved: true, input: { to: "live" } } } };
  const moved = await waiting({ ...always(ASKS), cwd: "/here" });
  const again = await moved.open({ ...always({ action: "allow" }), cwd: "/there" }).run(undefined, changed);
  expect([again.stopReason, moved.ran]).toEqual(["awaiting_approval", []]);
  const same = await waiting({ ...always(ASKS), cwd: "/here" });
  await same.open({ ...always({ action: "allow", place: "/x" }), cwd: "/here" }).run(undefined, changed);
  expect(same.ran).toEqual([{ to: "live" }]);
});

test("what the rules allow by now runs, though its question was about another folder", async () => {
  const { open, ran } = await waiting({ ...always(ASKS), cwd: "/here" });
  await open({ ...always({ action: "allow" }), cwd: "/there" }).run(undefined, YES);
  expect(ran).toEqual([{ to: "test" }]);
});

test("a link that leads elsewhere by the time the yes comes is not written through", async () => {
  const cwd = tempFolder();
  for (const name of ["a", "b"]) {
    mkdirSync(join(cwd, name));
    writeFileSync(join(cwd, name, "key"), name);
  }
  const link = join(cwd, "link");
  symlinkSync(join(cwd, "a"), link);
  const journal = new MemoryJournal();
  const model = new ScriptedModel([
    [calls("read", { path: "link/new" }), calls("write", { path: "link/new", content: "x" })],
    says("Done."),
  ]);
  const open = (): Agent =>
    new Agent({
      model,
      journal,
      cwd,
      tools: fileTools(),
      onAsk: "pause",
      permission: new PermissionManager({ rules: [], cwd, home: cwd, defaults: true }),
    });
  const { pending = [] } = await open().run("go");
  const waits = pending.map(({ callId }) => callId);
  expect(pending.map(({ name }) => name)).toEqual(["write"]);
  rmSync(link);
  symlinkSync(join(cwd, "b"), link);
  const approvals = Object.fromEntries(waits.map((id) => [id, true]));
  expect(await open().run(undefined, { approvals })).toMatchObject({ stopReason: "awaiting_approval" });
  expect(() => readFileSync(join(cwd, "b", "new"))).toThrow("ENOENT");
  expect(await open().run(undefined, { approvals })).toMatchObject({ stopReason: "completed" });
  expect(readFileSync(join(cwd, "b", "new"), "utf8")).toBe("x");
});

test("a date of a call is what it was when the answer comes", async () => {
  const journal = new MemoryJournal();
  const ran: unknown[] = [];
  let day = "2026-01-02";
  const book = defineTool({
    name: "book",
    description: "Books.",
    parameters: {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => ({ value: { on: new Date(day) } }),
        jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
      },
    },
    needsApproval: true,
    execute: (input) => ran.push(input) && "booked",
  });
  const model = new ScriptedModel([calls("book", { on: day }), says("Done.")]);
  const agent = new Agent({ model, journal, tools: [book], onAsk: "pause" });
  await agent.run("go");
  day = "2026-01-03";
  expect(await agent.run(undefined, YES)).toMatchObject({ stopReason: "awaiting_approval" });
  expect(await agent.run(undefined, YES)).toMatchObject({ stopReason: "completed" });
  expect(ran).toEqual([{ on: new Date("2026-01-03") }]);
});

test("runs with carried answers are replayed the same, whether these fit or were asked for again", async () => {
  for (const then of [ASKS, { ...ASKS, place: "/y" }]) {
    const { open, journal } = await waiting({ ...always(ASKS), cwd: "/here" });
    await open({ ...always(then), cwd: "/here", approve: () => true }).run(undefined, YES);
    const report = await replaySession([...journal.entries()]);
    expect([report.same, report.differences]).toEqual([true, []]);
  }
});

test("a yes that comes behind a stop is none", async () => {
  const stopped = Promise.withResolvers<void>();
  const ran: unknown[] = [];
  const deploy = tool("deploy", { execute: (input: unknown) => ran.push(input) && "deployed" });
  const outer = tool("outer", {
    access: "none",
    execute: async (_input, context) => (await context.callTool("deploy", {})).content,
  });
  const agent = new Agent({
    model: new ScriptedModel([[calls("outer"), calls("outer")], says("Done.")]),
    tools: [outer, deploy],
    permission: { check: ({ name }) => ({ action: name === "outer" ? "allow" : "ask" }) },
    approve: async ({ parentCallId }) => {
      if (parentCallId === "call_1") return { approved: false, stop: true };
      await stopped.promise;
      return true;
    },
  });
  const { stopReason } = await agent.run("go", {
    onEvent: (event) => {
      if (event.type === "permission_decision" && event.stop === true) stopped.resolve();
    },
  });
  expect([stopReason, ran]).toEqual(["denied", []]);
});

test("a call made from within runs with what it was made with, whatever becomes of that object", async () => {
  const ran: unknown[] = [];
  const deploy = tool("deploy", { execute: (input: unknown) => ran.push(input) && "deployed" });
  const outer = tool("outer", {
    execute: async (_input, context) => {
      const input: { to: string } = { to: "test" };
      const made = context.callTool("deploy", input);
      input.to = "live";
      await made;
      await expect(context.callTool("deploy", { to: () => "live" })).rejects.toThrow(
        "The input of deploy must be data, without functions",
      );
      return "done";
    },
  });
  const model = new ScriptedModel([calls("outer", {}), says("Done.")]);
  const asked: unknown[] = [];
  const permission: Gate = {
    check: ({ name, input }) => {
      if (name === "deploy") asked.push({ ...input });
      return { action: "allow" };
    },
  };
  const { stopReason } = await new Agent({ model, tools: [outer, deploy], permission }).run("go");
  expect([stopReason, asked, ran]).toEqual(["completed", [{ to: "test" }], [{ to: "test" }]]);
});
