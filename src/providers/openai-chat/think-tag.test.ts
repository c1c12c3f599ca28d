import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replayBody, sseBody } from "../../../test/replay-stream.ts";
import { openAiChat } from "./chat-wire.ts";

function answerOf(pieces: readonly string[]): readonly unknown[] {
  const events = pieces.map((content) => ({
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  }));
  const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const { message } = replayBody(openAiChat, sseBody(...events, end));
  return message.content.map((block) =>
    block.type === "text" ? block.text : { thinking: block.type === "thinking" && block.thinking },
  );
}

describe("reasoning in tags", () => {
  it.each<readonly [string, readonly unknown[]]>([
    ["<think>\nLet me see.\n</think>\n\nIt is 4.", [{ thinking: "Let me see." }, "It is 4."]],
    ["\n<think>a < b && b </thin</think>ok", [{ thinking: "a < b && b </thin" }, "ok"]],
    ["<think>\n\n</think>\n\nIt is 4.", ["It is 4."]],
    ["<think>never ended", [{ thinking: "never ended" }]],
    [
      "Let me see: `a` and\n```\n</b>\n```\n</think>\n\nIt is 4.",
      [{ thinking: "Let me see: `a` and\n```\n</b>\n```" }, "It is 4."],
    ],
    ["Let me see.</think>\n\nIt is 4.", [{ thinking: "Let me see." }, "It is 4."]],
    ["<thinker> is a tag", ["<thinker> is a tag"]],
    [
      "It writes <think>so</think>\n\nand then answers.",
      ["It writes <think>so</think>\n\nand then answers."],
    ],
    [
      "Reasoning ends with `</think>`\n\nand then it answers.",
      ["Reasoning ends with `</think>`\n\nand then it answers."],
    ],
    ["```\nso\n</think>\n\n```", ["```\nso\n</think>\n\n```"]],
    ["It ends with </think> most often.", ["It ends with </think> most often."]],
    ["<thin", ["<thin"]],
  ])("%j is parted, however it arrives", (text, answer) => {
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (given) => {
        const cuts = [0, ...given.toSorted((left, right) => left - right), text.length];
        const pieces = cuts.slice(1).map((end, at) => text.slice(cuts[at], end));
        expect(answerOf(pieces)).toEqual(answer);
      }),
    );
  });
});
