import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { Agent } from "../../agent/agent.ts";
import { defineTool } from "../../core/tool/tool.ts";
import { calls, says, thinks } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { fileTools } from "../../tools/file-tools.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import type { DressedAnswer } from "../text/dressed-answer.ts";
import { Progress } from "./progress.ts";
import { StreamOutput } from "./standard-output.ts";
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
      '● echo {"text":"a\\u001bb","times":2}',
      "● fails",
      "  └ echo: 2 echoes, 9 B · 0 ms",
      "  ✗ fails: Error: no luck · 0 ms",
      "",
    ].join("\n"),
  );
});

test("a result directly below its call needs no name, and a failure with much to say by its title and its last lines", async () => {
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
      content: `${"no such file\n".repeat(lines)}[exit code 1 after 12 ms]`,
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
    '● run {"lines":1}',
    "  ✗ no such file [exit code 1 after 0 ms] · 0 ms",
    '● run {"lines":40}',
    "  ✗ exit code 1 · 41 lines, 545 B · 0 ms",
    ...Array.from({ length: 6 }, () => "    no such file"),
    "",
  ]);
});

test("an edit shows the lines that changed, at most twelve of them, and a new file none", async () => {
  const { output, text } = screen(true);
  const style = styleFor(true, { NO_COLOR: "1" });
  const progress = new Progress({ stderr: output, style, liveText: undefined });
  const cwd = tempFolder({ "a.txt": `${Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n")}\n` });
  const many = Array.from({ length: 7 }, (_, at) => ({
    old_string: `line ${at + 20}\n`,
    new_string: `row ${at}\n`,
  }));
  const model = new ScriptedModel([
    calls("read", { path: "a.txt" }),
    calls("edit", { path: "a.txt", edits: [{ old_string: "line 3\n", new_string: "three\nand more\n" }] }),
    calls("edit", { path: "a.txt", edits: many }),
    calls("write", { path: "b.txt", content: "new\n" }),
    says("Done."),
  ]);
  const agent = new Agent({ model, tools: fileTools({ cwd }) });
  await agent.run("go", { onEvent: (event) => progress.show(event) });
  expect(
    text()
      .replaceAll(/\d+ ms/g, "0 ms")
      .split("\n"),
  ).toEqual([
    "● read a.txt",
    expect.stringMatching(/^ {2}└ /),
    "● edit a.txt",
    expect.stringMatching(/^ {2}└ 1 replacement/),
    "    4 -line 3",
    "    4 +three",
    "    5 +and more",
    "● edit a.txt",
    expect.stringMatching(/^ {2}└ 7 replacements/),
    ...Array.from({ length: 7 }, (_, at) => `    ${at + 22} -line ${at + 20}`),
    ...Array.from({ length: 5 }, (_, at) => `    ${at + 22} +row ${at}`),
    "    … 2 more lines",
    "● write b.txt",
    expect.stringMatching(/^ {2}└ /),
    "",
  ]);
});

test("an answer that is watched is dressed row by row, and what is left of it comes with its end", async () => {
  const { output, text } = screen(true);
  const style = styleFor(true, {});
  const dress = (): DressedAnswer => ({ push: (more) => `<${more}>`, end: () => "<end>" });
  const progress = new Progress({ stderr: output, style, liveText: output, dress });
  progress.show({ type: "text_delta", index: 0, text: "a" });
  progress.show({ type: "text_delta", index: 0, text: "b" });
  progress.closeLine();
  progress.closeLine();
  expect(text()).toBe("<a><b><end>");
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
