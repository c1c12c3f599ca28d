import { expect, test } from "vitest";
import { tool } from "../../test/scenarios/conversation.ts";
import { tempFolder } from "../../test/temp-folder.ts";
import { Agent } from "../agent/agent.ts";
import type { ApproverAnswer, GateRequest } from "../core/agent/ports.ts";
import type { ToolInput } from "../core/message/message.ts";
import { calls, says } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import {
  type ApprovalPrompt,
  type ApprovalQuestion,
  type ApprovalReply,
  createApprover,
} from "./approver.ts";
import type { PermissionMode } from "./permission-mode.ts";
import { PolicyGate } from "./policy.ts";
import { SessionRules } from "./rule.ts";

/** Somebody who answers question after question, and what became of it. */
function person(replies: readonly ApprovalReply[], remember?: (rule: string) => Promise<string>) {
  const asked: ApprovalQuestion[] = [];
  const told: string[] = [];
  const left = [...replies];
  let isWaiting = false;
  let onMode = (): void => undefined;
  const prompt: ApprovalPrompt = {
    ask: async (question) => {
      asked.push(question);
      await Promise.resolve();
      if (isWaiting) return new Promise(() => undefined);
      const reply = left.shift();
      if (reply === undefined) throw new Error("nobody answers");
      return reply;
    },
    tell: (message) => void told.push(message),
  };
  const cwd = tempFolder();
  const session = new SessionRules();
  const gate = new PolicyGate({ cwd, home: cwd, workspace: [cwd], session });
  const approve = createApprover({
    prompt,
    session,
    recheck: (request) => gate.check(request),
    isInside: (place) => place.startsWith(`${cwd}/`),
    onModeChange: (listener) => {
      onMode = listener;
      return () => undefined;
    },
    ...(remember === undefined ? {} : { remember }),
  });
  const make = async (name: string, input: ToolInput, sessionId = "s"): Promise<ApproverAnswer> => {
    const signal = new AbortController().signal;
    const request: GateRequest = { callId: "c", tool: tool(name), name, input, cwd, sessionId, signal };
    const decision = gate.check(request);
    return decision.action === "ask" ? approve({ ...request, decision }) : decision.action === "allow";
  };
  return {
    call: (command: string, sessionId?: string) => make("bash", { command }, sessionId),
    edit: (path: string) => make("write", { path, content: "x" }),
    wait: () => {
      isWaiting = true;
    },
    isAsked: () => expect.poll(() => asked.length).toBeGreaterThan(0),
    setMode: (mode: PermissionMode) => {
      gate.setMode(mode);
      onMode();
    },
    asked,
    told,
    session,
  };
}

test("once allows one call and leaves nothing behind", async () => {
  const { call, session, asked } = person([{ choice: "once" }, { choice: "no" }]);
  expect([await call("make"), await call("make")]).toEqual([true, { approved: false }]);
  expect({ rules: session.rules, count: asked.length }).toEqual({ rules: [], count: 2 });
});

test("a yes to edits allows those inside the workspace until the session ends, and nothing else", async () => {
  const { edit, call, asked, session } = person(
    Array.from({ length: 5 }, () => ({ choice: "edits" }) as const),
  );
  const answers = [await edit("a.js"), await edit("b/c.js"), await edit(".git/config"), await edit(".env")];
  expect([...answers, await edit("/elsewhere/x"), await call("make")]).toEqual([
    true,
    true,
    { approved: false },
    { approved: false },
    { approved: false },
    { approved: false },
  ]);
  expect(asked.map(({ offersEdits, outside }) => [offersEdits, outside])).toEqual([
    [true, undefined],
    [false, undefined],
    [false, undefined],
    [false, "/elsewhere/x"],
    [false, undefined],
  ]);
  expect(session.rules.map(({ tool, pattern }) => [tool, pattern])).toEqual([
    ["write", "**"],
    ["edit", "**"],
  ]);
});

test("a yes is for the whole line that was shown: no part of it is asked about again", async () => {
  const { call, asked } = person([{ choice: "always" }], async () => "/u/config.json");
  expect([await call("make && rm x"), asked.length]).toEqual([true, 1]);
});

test("a question goes away when another mode decides it, and stays where it does not", async () => {
  const open = person([]);
  open.wait();
  const allowed = open.call("make");
  await open.isAsked();
  open.setMode("acceptEdits");
  open.setMode("bypassPermissions");
  expect(await allowed).toEqual({ approved: true, unasked: true });
  expect(open.asked[0]?.signal.aborted).toBe(true);
  open.setMode("default");
  const denied = open.call("rm x");
  await expect.poll(() => open.asked.length).toBe(2);
  open.setMode("plan");
  expect(await denied).toMatchObject({ approved: false, reason: expect.stringContaining("Plan mode") });
});

test("a call that can only fail ends with its error and counts as no refusal", async () => {
  const { call } = person([{ choice: "fails", error: "a.js was not changed (not_found)." }]);
  expect(await call("make")).toEqual({ approved: false, error: "a.js was not changed (not_found)." });
});

test("always writes exactly the rule that was shown, and says where", async () => {
  const written: string[] = [];
  const { call, told } = person([{ choice: "always" }], async (rule) => {
    written.push(rule);
    return "/u/config.json";
  });
  expect(await call("rm a.log")).toBe(true);
  expect({ written, told }).toEqual({
    written: ["bash(rm a.log)"],
    told: ["bash(rm a.log) is saved in /u/config.json"],
  });
});

test("a rule that cannot be written down holds for the session, and that is said", async () => {
  const { call, told } = person([{ choice: "always" }], () => Promise.reject(new Error("disk full")));
  expect([await call("make"), await call("make")]).toEqual([true, true]);
  expect(told).toEqual(["bash(make) holds for this session only, as it could not be saved: disk full"]);
});

test("an answer that was not offered refuses", async () => {
  const remember = async (): Promise<string> => "x";
  const hidden = person([{ choice: "always" }], remember);
  expect(await hidden.call("make \u202E")).toEqual({ approved: false });
  expect(hidden.asked[0]?.rule).toBeUndefined();
  const placeless = person([{ choice: "always" }]);
  expect(await placeless.call("make")).toEqual({ approved: false });
  expect(placeless.session.rules).toEqual([]);
  const long = person([{ choice: "always" }], remember);
  expect(await long.call(`make ${"x".repeat(5000)}`)).toEqual({ approved: false });
});

test("questions asked at the same time come one after the other, and an answer may answer the next one", async () => {
  const { call, asked } = person([{ choice: "always" }, { choice: "once" }], async () => "x");
  expect(await Promise.all([call("make"), call("make"), call("touch x")])).toEqual([
    true,
    // Nobody was shown it: it runs as the rules allow it, with arguments of its own.
    { approved: true, unasked: true },
    true,
  ]);
  expect(asked.map(({ part }) => part)).toEqual(["make", "touch x"]);
});

test("a question that fails refuses its own call only", async () => {
  const { call } = person([]);
  const other = person([{ choice: "once" }]);
  await expect(call("make")).rejects.toThrow("nobody answers");
  await expect(call("make")).rejects.toThrow("nobody answers");
  expect(await other.call("make")).toBe(true);
});

test("who wants the run to end is not asked what waits behind that question, and is asked again later", async () => {
  const { call, asked } = person([{ choice: "stop" }, { choice: "once" }]);
  const both = await Promise.all([call("make"), call("rm x")]);
  expect([both, asked.length]).toEqual([
    [
      { approved: false, stop: true },
      { approved: false, stop: true },
    ],
    1,
  ]);
  expect([await call("make"), asked.length]).toEqual([true, 2]);
});

test("who wants the run of one session to end is asked what waits of another", async () => {
  const { call, asked } = person([{ choice: "stop" }, { choice: "once" }]);
  const stopped = { approved: false, stop: true };
  expect(await Promise.all([call("make"), call("touch x", "t"), call("rm x")])).toEqual([
    stopped,
    true,
    stopped,
  ]);
  expect(asked.map(({ part }) => part)).toEqual(["make", "touch x"]);
});

test("a stop to the question of one agent leaves another with the same approver its run", async () => {
  const asked: string[] = [];
  const both = Promise.withResolvers<void>();
  let waiting = 0;
  const approve = createApprover({
    prompt: {
      ask: async ({ callId }) => {
        asked.push(callId);
        // Both wait by the time the first one is answered.
        await both.promise;
        return { choice: callId === "a" ? "stop" : "once" };
      },
      tell: () => undefined,
    },
    session: new SessionRules(),
    recheck: () => ({ action: "ask" }),
  });
  const ran: string[] = [];
  const run = (id: string) =>
    new Agent({
      model: new ScriptedModel([calls("deploy", {}, id), says("Done.")]),
      tools: [tool("deploy", { execute: () => void ran.push(id) })],
      permission: { check: () => ({ action: "ask" }) },
      approve: (request) => {
        if (++waiting === 2) both.resolve();
        return approve(request);
      },
    }).run("go");
  const [first, second] = await Promise.all([run("a"), run("b")]);
  expect([first.stopReason, second.stopReason, ran, asked]).toEqual([
    "denied",
    "completed",
    ["b"],
    ["a", "b"],
  ]);
});

test("a prompt that does not hear of the abort of its run holds up no later question", async () => {
  const asked = Promise.withResolvers<void>();
  const approve = createApprover({
    prompt: {
      ask: ({ callId }) => {
        if (callId !== "a") return Promise.resolve({ choice: "once" });
        asked.resolve();
        return new Promise(() => undefined);
      },
      tell: () => undefined,
    },
    session: new SessionRules(),
    recheck: () => ({ action: "ask" }),
  });
  const run = (id: string, signal?: AbortSignal) =>
    new Agent({
      model: new ScriptedModel([calls("deploy", {}, id), says("Done.")]),
      tools: [tool("deploy")],
      permission: { check: () => ({ action: "ask" }) },
      approve,
    }).run("go", signal && { signal });
  const stop = new AbortController();
  const first = run("a", stop.signal);
  await asked.promise;
  const second = run("b");
  stop.abort();
  expect([(await first).stopReason, (await second).stopReason]).toEqual(["aborted", "completed"]);
});
