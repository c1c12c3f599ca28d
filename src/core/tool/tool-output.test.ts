import { expect, test } from "vitest";
import { toToolResult } from "./tool-output.ts";

test("a generator that is still at work when its call is over is closed", async () => {
  let isOver = false;
  let isClosed = false;
  async function* endless(): AsyncGenerator<string> {
    try {
      for (;;) yield "more";
    } finally {
      isClosed = true;
    }
  }
  const updates: unknown[] = [];
  const result = await toToolResult(
    endless(),
    (update) => {
      updates.push(update);
      isOver = updates.length === 2;
    },
    () => isOver,
  );
  expect({ isClosed, updates, result }).toEqual({
    isClosed: true,
    updates: ["more", "more"],
    result: { content: "moremore" },
  });
});

test("an error that is returned is an error result, as one that is thrown", async () => {
  expect(await toToolResult(new TypeError("no such place"), () => undefined)).toEqual({
    content: "Error: no such place",
    isError: true,
  });
});
