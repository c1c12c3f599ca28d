import { type Message, textOf } from "../core/message/message.ts";
import { NO_USAGE } from "../core/message/usage.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";
import { askFields } from "./ask-fields.ts";
import type { Ask } from "./person-input.ts";

/**
 * A person in the place of a model: what was said since the last answer is the question; the answer is text,
 * or, when a tool is offered, the arguments of a call of it, asked for field by field. Costs nothing.
 */
export class PersonModel implements Model {
  readonly provider: string = "person";
  readonly id: string;
  readonly info: ModelInfo = { price: { input: 0, output: 0 } };
  readonly #ask: Ask;

  constructor(ask: Ask, name: string) {
    this.#ask = ask;
    this.id = name;
  }

  async *stream(
    request: ModelRequest,
    options: ModelCallOptions = {},
  ): AsyncGenerator<StreamPart, void, undefined> {
    const signal = options.signal ?? new AbortController().signal;
    const question = questionOf(request.messages);
    const [tool] = request.tools ?? [];
    if (tool === undefined) {
      yield { type: "text_delta", index: 0, text: await this.#ask(question, signal) };
      yield { type: "finish", finishReason: { unified: "stop", raw: "answered" }, usage: NO_USAGE };
      return;
    }
    let before = `${question}\n`;
    const input = await askFields(tool.parameters, (field) => {
      const text = before + field;
      before = "";
      return this.#ask(text, signal);
    });
    const block = { type: "tool_use", id: "answer", name: tool.name, input } as const;
    yield { type: "tool_call_start", index: 0, id: block.id, name: block.name };
    yield { type: "block", index: 0, block };
    yield { type: "finish", finishReason: { unified: "tool_use", raw: "answered" }, usage: NO_USAGE };
  }
}

/** All that was said since the last answer, errors of a refused answer included. */
function questionOf(messages: readonly Message[]): string {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  return since
    .flatMap(({ content }) =>
      content.flatMap((block) => {
        if (block.type === "text") return [block.text];
        return block.type === "tool_result" ? [textOf(block.content)] : [];
      }),
    )
    .join("\n");
}
