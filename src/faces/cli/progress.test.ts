import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { defineTool } from "../../core/tool/define-tool.ts";
import { calls, says, thinks } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import { StreamOutput } from "./output.ts";
import { Progress } from "./progress.ts";
import { styleFor } from "./style.ts";

interface Screen {
  readonly output: StreamOutput;
  readonly text: () => string;
}

function screen(isTerminal: boolean): Screen {
  let text = "";
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  return { output: new StreamOutput(() => stream, isTerminal), text: () => text };
}

async function shown(options: { readonly isTerminal: boolean; readonly live?: Screen }): Promise<string> {
  const { output, text } = screen(options.isTerminal);
  const progress = new Progress({
    stderr: output,
    style: styleFor(options.isTerminal, { NO_COLOR: "1" }),
    liveText: options.live?.output,
  });
  const echo = defineTool({
    name: "echo",
    description: "says it again",
    parameters: {
      type: "object",
      properties: { text: { type: "string" }, times: { type: "integer" } },
    } as const,
    execute: ({ text: said }) => ({ content: `${said}\nagain`, title: "2 echoes" }),
  });
  const fails = defineTool({
    name: "fails",
    description: "fails",
    execute: () => Promise.reject(new Error("no luck")),
  });
  const agent = new Agent({
    model: new ScriptedModel([
      [thinks("Let me see."), says("Trying."), calls("echo", { text: "a\u001Bb", times: 2 }), calls("fails")],
      says("The end."),
    ]),
    tools: [echo, fails],
  });
  await agent.run("go", { onEvent: (event) => progress.show(event) });
  progress.closeLine();
  return text().replaceAll(/\d+ ms/g, "0 ms");
}

test("a person sees reasoning, calls with arguments, and what came of them", async () => {
  expect(await shown({ isTerminal: true })).toBe(
    [
      "Let me see.",
      "Trying.",
      "● echo a␛b times: 2",
      "● fails",
      "  └ echo: 2 echoes, 9 B · 0 ms",
      "  ✗ fails: Error: no luck · 0 ms",
      "",
    ].join("\n"),
  );
});

test("a result directly below its call needs no name, and a failure with much to say is told by its title", async () => {
  const { output, text } = screen(true);
  const progress = new Progress({
    stderr: output,
    style: styleFor(true, { NO_COLOR: "1" }),
    liveText: undefined,
  });
  const run = defineTool({
    name: "run",
    description: "runs",
    parameters: { type: "object", properties: { lines: { type: "integer" } }, required: ["lines"] } as const,
    execute: ({ lines }) => ({
      content: "no such file\n".repeat(lines),
      isError: true,
      title: "exit code 1",
    }),
  });
  const model = new ScriptedModel([
    calls("run", { lines: 1 }),
    calls("run", { lines: 40 }),
    says("Both failed."),
  ]);
  await new Agent({ model, tools: [run] }).run("go", { onEvent: (event) => progress.show(event) });
  expect(
    text()
      .replaceAll(/\d+ ms/g, "0 ms")
      .split("\n"),
  ).toEqual([
    "● run lines: 1",
    "  ✗ no such file · 0 ms",
    "● run lines: 40",
    "  ✗ exit code 1 · 40 lines, 520 B · 0 ms",
    "",
  ]);
});

test("where a person watches the answer too, text goes there as it comes", async () => {
  const live = screen(true);
  const stderr = await shown({ isTerminal: true, live });
  expect(live.text()).toBe("Trying.\nThe end.\n");
  expect(stderr).not.toContain("Trying.");
});

test("nobody looks: nothing is written", async () => {
  expect(await shown({ isTerminal: false })).toBe("");
});

test("colours follow NO_COLOR, FORCE_COLOR and TERM", () => {
  const red = (isTerminal: boolean, environment: { readonly [name: string]: string }): boolean =>
    styleFor(isTerminal, environment).red("x") !== "x";
  expect([
    red(true, {}),
    red(false, {}),
    red(true, { NO_COLOR: "1", FORCE_COLOR: "1" }),
    red(false, { FORCE_COLOR: "1" }),
    red(true, { FORCE_COLOR: "0" }),
    red(true, { TERM: "dumb" }),
  ]).toEqual([true, false, false, true, false, false]);
});

test("times are told in the unit people would use", () => {
  expect([12.4, 2_449, 61_500].map(describeDuration)).toEqual(["12 ms", "2.4 s", "1 min 2 s"]);
});

test("phases of a pattern stand on lines of their own", () => {
  const { output, text } = screen(true);
  const progress = new Progress({
    stderr: output,
    style: styleFor(true, { NO_COLOR: "1" }),
    liveText: undefined,
  });
  progress.show({ type: "phase", phase: "planning", round: 1 });
  progress.show({ type: "phase", phase: "execution", step: 2, plan: ["Find it", "Read\nit"] });
  progress.show({ type: "phase", phase: "final_answer" });
  progress.show({ type: "phase", phase: "reflection", round: 2 });
  expect(text().split("\n")).toEqual([
    "── planning",
    expect.stringMatching(/^── step 2 of 2: Read.*it$/),
    "── final answer",
    "── reflection 2",
    "",
  ]);
});

test("that the model repeats itself is one line for a person, and one on a pipe", async () => {
  const seen = async (isTerminal: boolean): Promise<readonly string[]> => {
    const { output, text } = screen(isTerminal);
    const style = styleFor(isTerminal, { NO_COLOR: "1" });
    const progress = new Progress({ stderr: output, style, liveText: undefined });
    const look = defineTool({ name: "look", description: "looks", execute: () => "the same" });
    const model = new ScriptedModel([calls("look"), calls("look"), calls("look"), says("I see.")]);
    await new Agent({ model, tools: [look] }).run("go", { onEvent: (event) => progress.show(event) });
    return text()
      .split("\n")
      .filter((line) => line.includes("repeating itself"));
  };
  const line =
    "The model is repeating itself and has been warned. The last 3 calls of look had the same arguments and the same result.";
  expect([await seen(true), await seen(false)]).toEqual([[line], [`nano-agent: ${line}`]]);
});
