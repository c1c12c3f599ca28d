import { expect, test } from "vitest";
import { NO_USAGE } from "../core/message/message.ts";
import { finishPart } from "./wire.ts";

test("what a provider says about the end of an answer is kept without escape sequences, as far as a person reads", () => {
  const { finishReason, model } = finishPart(
    {
      unified: "refusal",
      raw: "r\u001b[2J".repeat(1_000),
      detail: `no\u001b]0;title\u0007${"d".repeat(1e7)}`,
    },
    NO_USAGE,
    { model: "m\u001b[31m" },
  );
  expect([finishReason.raw.length, finishReason.detail?.length, model]).toEqual([501, 2_001, "m\ufffd[31m"]);
  expect(`${finishReason.raw}${finishReason.detail}`).not.toContain("\u001b");
});
