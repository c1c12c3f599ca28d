import { expect, test } from "vitest";
import { says } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";

const CANNOT_WORK: readonly (readonly [option: string, value: unknown, says: string])[] = [
  ["budget", 5, "budget is 5; it must be an object."],
  ["budget", { USD: 1 }, 'Unknown option "USD" of budget. Known: usd, tokens, wallTimeMs.'],
  ["loopGuard", { stop: 9 }, 'Unknown option "stop" of loopGuard. Known: warnAt, stopAt, window.'],
  ["permission", () => true, "permission is a function; it must be an object with check()."],
  ["checkpointer", {}, "checkpointer is {}; it must be an object with before() and after()."],
  ["journal", "file", 'journal is "file"; it must be an object with entries() and append().'],
  ["redact", {}, "redact is {}; it must be an object with text() and stream()."],
  ["approve", "yes", 'approve is "yes"; it must be a function.'],
  ["onAsk", "maybe", 'onAsk is "maybe"; it must be "deny", "pause".'],
  ["onMaxIterations", "explode", 'it must be "summarize", "last", "throw" or a function.'],
  ["memory", "some", 'memory is "some"; it must be "full", "final-only".'],
  ["effort", "extreme", 'it must be "none", "minimal", "low", "medium", "high", "xhigh".'],
  ["parallelToolCalls", "no", 'parallelToolCalls is "no"; it must be true or false.'],
  ["maxParallelToolCalls", 0, "maxParallelToolCalls is 0; it must be a whole number from 1, or Infinity."],
  ["toolTimeoutMs", Number.NaN, "toolTimeoutMs is NaN; it must be a number from 0."],
  ["maxToolResultChars", 0, "maxToolResultChars is 0; it must be a number from 1."],
  ["maxOutputTokens", -1, "maxOutputTokens is -1; it must be a whole number from 1, or Infinity."],
  ["temperature", "hot", 'temperature is "hot"; it must be a number from 0.'],
  ["stopSequences", "stop", 'stopSequences is "stop"; it must be a list of texts.'],
  ["tools", [null], "tools is [null]; it must be a list of objects."],
  ["messages", "hello", 'messages is "hello"; it must be a list of objects.'],
  ["systemPrompt", 5, "systemPrompt is 5; it must be a text."],
  ["sessionId", "", 'sessionId is ""; it must be a text that is not empty.'],
];

test.each(CANNOT_WORK)("%s: %j is refused when the agent is made", (option, value, words) => {
  const options = { model: new ScriptedModel([]), [option]: value } as AgentOptions;
  expect(() => new Agent(options)).toThrow(words);
  expect(() => new Agent(options)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
});

test("an option that is undefined is one left out", () => {
  const options = Object.fromEntries(CANNOT_WORK.map(([option]) => [option, undefined]));
  expect(new Agent({ model: new ScriptedModel([]), ...options }).isRunning).toBe(false);
});

test.each([
  [{ maxIteration: 3 }, 'Unknown option "maxIteration" of the run.'],
  [{ signal: "now" }, 'signal is "now"; it must be an AbortSignal.'],
  [{ onEvent: "log" }, 'onEvent is "log"; it must be a function.'],
  [{ onAsk: "maybe" }, 'onAsk is "maybe"; it must be "deny", "pause".'],
])("a run with %j is refused before its request", async (options, words) => {
  const model = new ScriptedModel([says("hello")]);
  const agent = new Agent({ model });
  await expect(agent.run("go", options as object)).rejects.toThrow(words);
  expect([model.requests.length, (await agent.run("go")).text]).toEqual([0, "hello"]);
});

test.each([null, 5, {}, [{ role: "system", content: "x" }], [{ role: "user" }], [1]])(
  "%j is no input",
  async (input) => {
    const agent = new Agent({ model: new ScriptedModel([]) });
    await expect(agent.run(input as unknown as string)).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("pass a text, content blocks, a message or messages"),
    });
  },
);
