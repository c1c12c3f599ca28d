import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { Model } from "../../src/core/model/model.ts";

test("a model of one's own may leave out its usage, and is told what is no part of an answer", async () => {
  const endOf = async (...parts: readonly unknown[]) => {
    const model = {
      provider: "own",
      id: "own",
      async *stream() {
        yield { type: "text_delta", index: 0, text: "Hello." };
        yield* parts;
      },
    } as unknown as Model;
    const { text, error } = await new Agent({ model }).run("Hi");
    return error === undefined ? text : `${error.code}: ${error.message}`;
  };
  expect([
    await endOf({ type: "finish", finishReason: { unified: "stop", raw: "stop" } }),
    await endOf({ type: "finish" }),
    await endOf({ type: "text", text: "Hi" }),
  ]).toEqual([
    "Hello.",
    'invalid_response: The model\'s stream has a finish part without a finishReason such as { unified: "stop", raw: "stop" }.',
    'invalid_response: The model\'s stream has a part of the unknown type "text".',
  ]);
});
