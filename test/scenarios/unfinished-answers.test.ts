import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { calls, finishes, says, thinks } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "./conversation.ts";

const read = tool("read", { execute: () => "seen" });
const EMPTY = finishes({ unified: "stop", raw: "end_turn" });

test("an empty answer to results is asked for once more, and what follows is the answer", async () => {
  for (const empty of [EMPTY, [thinks("Hm."), EMPTY], [says(" \n"), EMPTY]]) {
    const model = new ScriptedModel([calls("read", {}), empty, says("It says: seen.")]);
    const result = await new Agent({ model, tools: [read] }).run("go");
    expect([result.stopReason, result.text, result.iterations]).toEqual(["completed", "It says: seen.", 3]);
    expect(lines(result.messages)).toContainEqual(
      expect.stringMatching(/^user: Your last answer was empty\./),
    );
    model.assertFinished();
  }
});

test("a second empty answer ends the run with an error, and the next run may try again", async () => {
  const model = new ScriptedModel([calls("read", {}), EMPTY, EMPTY, calls("read", {}), EMPTY, says("Seen.")]);
  const agent = new Agent({ model, tools: [read] });
  const result = await agent.run("go");
  expect(result).toMatchObject({
    stopReason: "error",
    iterations: 3,
    error: {
      code: "invalid_response",
      retryable: true,
      message: expect.stringContaining("two empty answers"),
    },
  });
  expect(await agent.run("Please go on.")).toMatchObject({ stopReason: "completed", text: "Seen." });
  model.assertFinished();
});

test("an empty answer to the user is an answer, and a refusal stays one", async () => {
  const model = new ScriptedModel([EMPTY]);
  expect(await new Agent({ model, tools: [read] }).run("Say nothing.")).toMatchObject({
    stopReason: "completed",
    text: "",
  });
  const refusing = new ScriptedModel([calls("read", {}), finishes("refusal")]);
  expect((await new Agent({ model: refusing, tools: [read] }).run("go")).stopReason).toBe("refusal");
});

const HERMES = 'I look.\n<tool_call>\n{"name": "read", "arguments": {}}\n</tool_call>';

test("a run that ends in a call which is only text has failed, and says what to do", async () => {
  const agent = new Agent({ model: new ScriptedModel([says(HERMES)]), tools: [read] });
  const result = await agent.run("go");
  expect([result.stopReason, result.text, result.error?.code, result.error?.details["calledAsText"]]).toEqual(
    ["error", HERMES, "invalid_response", "read"],
  );
  expect(result.error?.message).toMatch(/--tool-call-parser.*--jinja.*"toolCalls": "text"/);
});

test("the same text is an answer where there is no such tool, and where it is only shown", async () => {
  for (const [text, tools] of [
    [HERMES, []],
    [`Hermes writes:\n\`\`\`\n${HERMES}\n\`\`\``, [read]],
    [`${HERMES}\n\nThis is the format.`, [read]],
  ] as const) {
    const result = await new Agent({ model: new ScriptedModel([says(text)]), tools }).run("go");
    expect([result.stopReason, result.text]).toEqual(["completed", text]);
  }
});
