import { expect, test } from "vitest";
import { createTaskTool } from "../../src/extensions/index.ts";
import {
  Agent,
  type AgentEvent,
  HOOK_POINTS,
  type HookOptions,
  type HookPoint,
  PlanAndSolveAgent,
  transcriptViolations,
} from "../../src/index.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool } from "../../src/tools/index.ts";
import { tool } from "../scenarios/conversation.ts";

const look = tool("look");
const agentWith = (hooks: HookOptions = {}): Agent =>
  new Agent({
    model: new ScriptedModel([calls("look"), says("Blue."), says("Still blue.")]),
    tools: [look],
    hooks,
  });

const replacing = HOOK_POINTS.filter((point) => point !== "post_print" && point !== "post_observe");

test.each(
  replacing.flatMap((point) =>
    [5, "x", [], { message: {}, request: 1, event: 5 }].map((made) => [point, made] as const),
  ),
)("a hook of %s that returns %o ends what it stands around, by name", async (point, made) => {
  const agent = agentWith({ [point]: { slip: () => made } });
  const failure = async (): Promise<unknown> => {
    if (point === "pre_observe") return agent.observe("ann: hi").catch((error: unknown) => error);
    return (await agent.run("Colour?")).error;
  };
  const error = await failure();
  expect(error instanceof Error && error.message).toMatch(
    new RegExp(`^The hook "slip" of ${point} failed: `),
  );
  expect(transcriptViolations(agent.getState().messages)).toEqual([]);
});

test("a hook that refuses a tool refuses it among parallel calls, in a batch, in a subagent and in a phase", async () => {
  const ran: string[] = [];
  const wipe = tool("wipe", { execute: ({ at }) => void ran.push(String(at)) });
  const veto: HookOptions = {
    pre_acting: async (_, args) => {
      await Promise.resolve();
      return args.name === "wipe" ? { ...args, refuse: "never" } : null;
    },
  };
  const helper = { name: "helper", description: "helps", systemPrompt: "Help.", tools: ["wipe", "batch"] };
  const inner = { calls: [{ tool: "wipe", input: { at: "batch" } }] };
  const worker = new ScriptedModel(({ system, messages }) => {
    if (messages.at(-1)?.content[0]?.type === "tool_result") return says("done");
    if (system?.startsWith("Help") === true) return [calls("wipe", { at: "sub" }), calls("batch", inner)];
    return [
      ...[1, 2, 3].map((at) => calls("wipe", { at })),
      calls("batch", inner),
      calls("task", { agent: "helper", prompt: "wipe" }),
    ];
  });
  const planner = new ScriptedModel([
    calls("generate_plan", { steps: ["wipe"] }),
    calls("wipe", { at: "step" }),
    says("done"),
  ]);
  const tools = [wipe, createBatchTool(), createTaskTool({ agents: [helper] })];
  const refused: string[] = [];
  const count = (event: AgentEvent): void => {
    if (event.type === "subagent") count(event.event);
    if (event.type === "tool_result" && event.name === "wipe") refused.push(event.status);
  };
  await new Agent({ model: worker, tools, hooks: veto }).run("go", { onEvent: count });
  await new PlanAndSolveAgent({ model: planner, tools, hooks: veto }).run("go", { onEvent: count });
  expect([ran, refused]).toEqual([[], Array.from({ length: 7 }, () => "denied")]);
});

test("a hook cannot put another call in the place of the one the model made", async () => {
  for (const change of [{ name: "other" }, { callId: "other" }]) {
    const ran: string[] = [];
    const agent = new Agent({
      model: new ScriptedModel([calls("look"), says("Blue.")]),
      tools: ["look", "other"].map((name) => tool(name, { execute: () => void ran.push(name) })),
      hooks: { pre_acting: (_, args) => ({ ...args, ...change }) },
    });
    const { stopReason, error } = await agent.run("Colour?");
    expect([ran, stopReason, error?.message]).toEqual([
      [],
      "error",
      expect.stringContaining("only input and refuse can be replaced"),
    ]);
  }
});

test("what a hook registers, replaces, removes or clears counts from the next moment on", async () => {
  const agent = agentWith();
  const ran: string[] = [];
  const point: HookPoint = "pre_reply";
  agent.hooks.register(point, "first", () => {
    ran.push("first");
    agent.hooks.register(point, `more ${ran.length}`, () => void ran.push("more"));
    agent.hooks.register(point, "second", () => void ran.push("second, replaced"));
    agent.hooks.remove(point, "third");
  });
  agent.hooks.register(point, "second", () => void ran.push("second"));
  agent.hooks.register(point, "third", () => void ran.push("third"));
  await agent.run("Colour?");
  expect(ran.splice(0)).toEqual(["first", "second", "third"]);
  agent.hooks.remove(point, "first");
  agent.hooks.register(point, "last", () => agent.hooks.clear());
  agent.hooks.register(point, "behind", () => void ran.push("behind"));
  await agent.run("Colour?");
  expect([ran, agent.hooks.names(point)]).toEqual([["second, replaced", "more", "behind"], []]);
});

test("a point nobody knows and a time that is none are misuse", () => {
  const { hooks } = agentWith();
  expect(() => hooks.names("pre_act" as HookPoint)).toThrow("Did you mean pre_acting?");
  expect(() => hooks.register("pre_reply", "x", () => null, { observer: true, timeoutMs: 0 })).toThrow(
    'timeoutMs of the hook "x" is 0: pass milliseconds above 0.',
  );
});
