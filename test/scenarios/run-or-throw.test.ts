import { expect, expectTypeOf, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { RunError, type RunResult } from "../../src/core/agent/result.ts";
import { isNanoAgentError, NanoAgentError } from "../../src/core/base/errors.ts";
import { calls, fails, finishes, type ScriptStep, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tool } from "./conversation.ts";

const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;

function agentWith(steps: readonly ScriptStep[]): Agent {
  return new Agent({
    model: new ScriptedModel(steps),
    tools: [tool("read")],
    maxIterations: 2,
    onMaxIterations: "last",
  });
}

async function thrownBy(work: Promise<unknown>): Promise<RunError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof RunError) return error;
  throw new Error("No RunError was thrown.", { cause: error });
}

test("a stop reason of structured_output says that the output is there", async () => {
  const result = await agentWith([calls("finish", { city: "Bonn" })]).run("Where?", { schema: CITY });
  if (result.stopReason !== "structured_output") throw new Error(result.stopReason);
  expectTypeOf(result.output.city).toEqualTypeOf<string>();
  expect(result.output.city).toBe("Bonn");
});

test("a stop reason of error says that the error is there", () => {
  expectTypeOf<Extract<RunResult, { stopReason: "error" }>["error"]>().toEqualTypeOf<NanoAgentError>();
  expectTypeOf<RunResult["error"]>().toEqualTypeOf<NanoAgentError | undefined>();
});

test("runOrThrow resolves to an answer, and with a schema to the value", async () => {
  expect((await agentWith([says("Hi.")]).runOrThrow("hello")).text).toBe("Hi.");
  const { output } = await agentWith([calls("finish", { city: "Bonn" })]).runOrThrow("Where?", {
    schema: CITY,
  });
  expectTypeOf(output.city).toEqualTypeOf<string>();
  expect(output).toEqual({ city: "Bonn" });
});

test("runOrThrow throws what made a run fail, with the result and how to go on", async () => {
  const cause = new NanoAgentError("network", "No route.", { retryable: true, details: { host: "a" } });
  const agent = agentWith([fails(cause), says("Here.")]);
  const error = await thrownBy(agent.runOrThrow("hello"));
  expect(error).toMatchObject({
    code: "network",
    message: "No route. The conversation is kept: run() without an input continues it.",
    retryable: true,
    details: { host: "a", stopReason: "error" },
    cause,
    result: { stopReason: "error", error: cause },
  });
  expect(isNanoAgentError(error, "network")).toBe(true);
  expect((await agent.runOrThrow()).text).toBe("Here.");
});

test("runOrThrow throws for a run that ended without an answer", async () => {
  const reads = [calls("read"), calls("read", { path: "b" })];
  expect(await thrownBy(agentWith(reads).runOrThrow("go"))).toMatchObject({
    code: "incomplete",
    message:
      "The run ended with max_iterations. The conversation is kept: run() without an input continues it.",
    details: { stopReason: "max_iterations" },
  });
  expect(await thrownBy(agentWith([[says("No."), finishes("refusal")]]).runOrThrow("go"))).toMatchObject({
    code: "incomplete",
    details: { stopReason: "refusal" },
  });
});

test("sendMessage gives back an empty answer, and throws for a run that was stopped without one", async () => {
  expect(await agentWith([says("")]).sendMessage("hello")).toBe("");
  const agent = agentWith([
    () => {
      agent.stop();
      return says("too late");
    },
  ]);
  expect(await thrownBy(agent.sendMessage("hello"))).toMatchObject({
    code: "aborted",
    message: "The run ended with aborted. The conversation is kept: run() without an input continues it.",
  });
});
