import { expect, test } from "vitest";
import {
  type Agent,
  type AgentEvent,
  type AgentOptions,
  PlanAndSolveAgent,
  ReActAgent,
  ReflectionAgent,
  SimpleAgent,
} from "../../src/index.ts";
import { calls, fails, type ScriptAnswer, says, thinks } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "../scenarios/conversation.ts";

/** A screen that writes what comes and knows nothing of who is speaking. */
class Screen {
  text = "";
  #open = "";

  show(event: AgentEvent): void {
    switch (event.type) {
      case "phase":
        return this.#line(`# ${[event.phase, event.round ?? event.step].filter(Boolean).join(" ")}`);
      case "thinking_delta":
        return this.#piece("~", event.text);
      case "text_delta":
        return this.#piece("", event.text);
      case "tool_intent":
        return this.#line(`> ${event.name} ${JSON.stringify(event.input)}`);
      case "tool_result":
        return this.#line(`< ${event.name} ${event.status}`);
      case "subagent":
        return event.event.type === "tool_intent" ? this.#line(`  > ${event.event.name}`) : undefined;
      case "done":
        return this.#line(`= ${event.result.stopReason}: ${event.result.text}`);
      default:
        return;
    }
  }

  #piece(mark: string, text: string): void {
    if (this.#open !== `piece${mark}`) this.text += `\n${mark}`;
    this.#open = `piece${mark}`;
    this.text += text;
  }

  #line(text: string): void {
    this.#open = "";
    this.text += `\n${text}`;
  }
}

/** What the person asks, what is looked up and what is found are the same for everybody. */
const look = [thinks("I must look."), calls("delegate", { place: "sky" })];
const inner = [calls("search", { q: "sky" }), says("blue")];
const found = says("It is blue.");

const kinds: readonly (readonly [
  string,
  (options: AgentOptions) => Agent,
  readonly ScriptAnswer[],
  readonly string[],
])[] = [
  ["SimpleAgent", (options) => new SimpleAgent(options), [look, ...inner, found], []],
  ["ReActAgent", (options) => new ReActAgent(options), [look, ...inner, found], []],
  [
    "PlanAndSolveAgent",
    (options) => new PlanAndSolveAgent(options),
    [calls("generate_plan", { steps: ["Find it"] }), look, ...inner, found],
    ["# planning 1", "# execution 1"],
  ],
  [
    "ReflectionAgent",
    (options) => new ReflectionAgent(options),
    [look, ...inner, found, says("no need for improvement")],
    ["# initial_execution", "# reflection 1"],
  ],
];

const tools = [
  tool("search"),
  tool("delegate", {
    execute: async (_input, context) =>
      (await context.runAgent({ agent: "helper", prompt: "Look up." })).text,
  }),
];

test.each(kinds)(
  "one screen shows the conversation of %s, its subagent included",
  async (_name, make, script, phases) => {
    const screen = new Screen();
    const model = new ScriptedModel(script);
    for await (const event of make({ model, tools }).stream("What colour?")) screen.show(event);
    model.assertFinished();
    const shown = screen.text.trim().split("\n");
    expect(shown.filter((line) => line.startsWith("#"))).toEqual(phases);
    expect(shown.filter((line) => /^[~>< ]/.test(line) && !line.includes("generate_plan"))).toEqual([
      "~I must look.",
      '> delegate {"place":"sky"}',
      "  > search",
      "< delegate ok",
    ]);
    expect(shown).toContain("It is blue.");
    expect(shown.at(-1)).toBe("= completed: It is blue.");
  },
);

test.each(kinds)("%s answers a second question in the light of the first", async (_name, make, script) => {
  const model = new ScriptedModel([...script, ...script]);
  const agent = make({ model, tools });
  await agent.run("What colour?");
  const before = model.requests.length;
  await agent.run("And at night?");
  const [request] = model.requests.slice(before);
  const [question, ...rest] = lines(request?.messages ?? []);
  expect([question, rest.includes("assistant: It is blue."), rest.at(-1)?.includes("And at night?")]).toEqual(
    ["user: What colour?", true, true],
  );
});

test.each(kinds)(
  "%s keeps no empty answer when the model fails, and can be asked again",
  async (_name, make, script) => {
    const model = new ScriptedModel([fails("gone"), ...script]);
    const agent = make({ model, tools });
    const failed = await agent.run("What colour?");
    expect([failed.stopReason, lines(failed.messages)]).toEqual(["error", ["user: What colour?"]]);
    const { text, messages } = await agent.run();
    expect([text, lines(messages).filter((line) => line.startsWith("user: What colour?"))]).toEqual([
      "It is blue.",
      ["user: What colour?"],
    ]);
  },
);
