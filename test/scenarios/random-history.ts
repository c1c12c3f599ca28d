import fc from "fast-check";
import {
  type ContentBlock,
  type Message,
  type ToolResultBlock,
  userMessage,
} from "../../src/core/message/message.ts";
import { Transcript } from "../../src/core/message/transcript.ts";

type Step =
  | { readonly type: "user"; readonly text: string }
  | { readonly type: "says"; readonly text: string }
  | { readonly type: "works"; readonly text: string; readonly calls: readonly Call[] };

interface Call {
  readonly name: string;
  readonly path: string;
  readonly result: string;
  readonly fails: boolean;
  readonly image: boolean;
}

const WORDS = ["alpha ", "src/index.ts ", "错误：超时 ", '{"a":1} ', "0123456789 ", "\n", "é\u{1f600} "];
const long = fc
  .tuple(fc.constantFrom(...WORDS), fc.constantFrom(1, 20, 400, 2_000))
  .map(([word, times]) => word.repeat(times).trim() || "x");
const CALL: fc.Arbitrary<Call> = fc.record({
  name: fc.constantFrom("read", "edit", "write", "bash", "todo", "batch"),
  path: fc.constantFrom("src/a.ts", "src/b.ts", "文件.md", "deep/er/c.json"),
  result: long,
  fails: fc.boolean(),
  image: fc.boolean(),
});
const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    type: fc.constant("user" as const),
    text: fc.string({ minLength: 1, maxLength: 120 }).filter((text) => text.trim() !== ""),
  }),
  fc.record({ type: fc.constant("says" as const), text: long }),
  fc.record({
    type: fc.constant("works" as const),
    text: long,
    calls: fc.array(CALL, { minLength: 1, maxLength: 3 }),
  }),
);

/**
 * A conversation as the loop makes them; with `isOpen` its last message may have calls that wait for their
 * answers.
 */
export interface RandomHistory {
  readonly messages: readonly Message[];
  readonly isOpen: boolean;
}

/** Conversations of all kinds, each one that can be sent. */
export const RANDOM_HISTORY: fc.Arbitrary<RandomHistory> = fc
  .tuple(fc.array(STEP, { minLength: 1, maxLength: 24 }), fc.boolean())
  .map(([steps, mayEndOpen]) => {
    const transcript = new Transcript();
    transcript.addUser(userMessage("Find out why the build fails."));
    steps.forEach((step, at) => {
      if (step.type === "user") transcript.addUser(userMessage(step.text));
      else if (step.type === "says")
        transcript.addAssistant({ role: "assistant", content: [{ type: "text", text: step.text }] });
      else addWork(transcript, step, { at, answers: !(mayEndOpen && at === steps.length - 1) });
    });
    return { messages: transcript.messages, isOpen: transcript.pending.length > 0 };
  });

function addWork(
  transcript: Transcript,
  step: Extract<Step, { type: "works" }>,
  { at, answers }: { readonly at: number; readonly answers: boolean },
): void {
  transcript.addAssistant({
    role: "assistant",
    content: [
      { type: "text", text: step.text },
      ...step.calls.map(({ name, path }, index) => ({
        type: "tool_use" as const,
        id: `c${at}_${index}`,
        name,
        input: inputOf(name, path),
      })),
    ],
  });
  if (answers) step.calls.forEach((call, index) => transcript.addResult(resultOf(call, `c${at}_${index}`)));
}

function inputOf(name: string, path: string): { readonly [key: string]: unknown } {
  if (name === "todo") return { todos: [{ content: `mend ${path}`, status: "pending" }] };
  return name === "batch" ? { calls: [{ tool: "edit", input: { path } }, null] } : { path };
}

function resultOf({ result, fails, image }: Call, id: string): ToolResultBlock {
  const picture: ContentBlock = { type: "image", source: { type: "url", url: "https://x/y.png" } };
  return {
    type: "tool_result",
    tool_use_id: id,
    content: image ? [{ type: "text", text: result }, picture] : result,
    ...(fails ? { is_error: true } : {}),
  };
}
