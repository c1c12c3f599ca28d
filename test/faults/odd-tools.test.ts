import { expect, it } from "vitest";
import { Agent } from "../../src/core/agent/agent.ts";
import { defineTool } from "../../src/core/tool/define-tool.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";

const cycle: { self?: unknown } = {};
cycle.self = cycle;

it.each<[string, () => unknown]>([
  ["a cycle", () => cycle],
  ["a BigInt", () => ({ many: 10n })],
  [
    "a toJSON that throws",
    () => ({
      toJSON: () => {
        throw new Error("no JSON of me");
      },
    }),
  ],
  [
    "a getter that throws",
    () => ({
      get x(): never {
        throw new Error("no x");
      },
    }),
  ],
  ["a function", () => () => 1],
  ["a symbol", () => Symbol("s")],
  ["nothing", () => undefined],
  ["a promise that never says why it failed", () => Promise.reject(undefined)],
  [
    "an error whose message throws",
    () => {
      throw Object.defineProperty(new Error("x"), "message", {
        get: () => {
          throw new Error("y");
        },
      });
    },
  ],
  [
    "a proxy that throws at everything",
    () =>
      new Proxy(
        {},
        {
          get: () => {
            throw new Error("trap");
          },
          ownKeys: () => {
            throw new Error("trap");
          },
        },
      ),
  ],
  ["a lone surrogate", () => "a\ud83d"],
])("a tool that gives %s has one result, and the run goes on", async (_, give) => {
  const odd = defineTool({
    name: "odd",
    description: "Gives what it gives.",
    parameters: { type: "object", properties: {} },
    execute: async () => give() as string,
  });
  const model = new ScriptedModel([calls("odd"), says("done")]);
  const result = await new Agent({ model, tools: [odd] }).run("go");
  expect({ stopReason: result.stopReason, text: result.text, error: result.error }).toEqual({
    stopReason: "completed",
    text: "done",
    error: undefined,
  });
  const results = model.requests
    .flatMap(({ messages }) => messages)
    .flatMap(({ content }): readonly { readonly type: string }[] => content)
    .filter(({ type }) => type === "tool_result");
  expect(results).toHaveLength(1);
  expect(JSON.stringify(results).isWellFormed()).toBe(true);
});
