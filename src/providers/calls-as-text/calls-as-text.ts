import { newId } from "../../core/base/ids.ts";
import type { ContentBlock, ImageBlock, TextBlock, ToolResultBlock } from "../../core/message/block.ts";
import { type Message, textOf } from "../../core/message/message.ts";
import { modelWith } from "../../core/model/answer.ts";
import type { FinishPart, Model, ModelRequest, StreamPart, ToolSpec } from "../../core/model/model.ts";
import { beginsAction, mayBeginAction, parseAction } from "./action-text.ts";

/**
 * A model whose calls stand in its text, for models without another way: the tools are described in the
 * system prompt, a call is written as `Action: name` with `Action Input: {…}` below it, and its result comes
 * back as an observation. One call an answer. Everything else is as with any model: the same calls, results
 * and errors.
 */
export function callsAsText(model: Model): Model {
  /** Each message is put into words once: encoders know messages by their identity. */
  const known = new WeakMap<Message, Message>();
  const inWords = (message: Message): Message => {
    const words = known.get(message) ?? worded(message);
    known.set(message, words);
    return words;
  };
  return modelWith(model, async function* (request, options = {}) {
    const { tools = [] } = request;
    let reader = new AnswerReader(tools);
    for await (const part of model.stream(requestInWords(request, inWords), options)) {
      if (part.type === "retry") reader = new AnswerReader(tools);
      yield* reader.take(part);
    }
  });
}

const STOP = "\nObservation:";

function requestInWords(
  { tools = [], toolChoice, parallelToolCalls: _parallel, ...request }: ModelRequest,
  inWords: (message: Message) => Message,
): ModelRequest {
  const messages = request.messages.map(inWords);
  if (tools.length === 0 || toolChoice === "none") return { ...request, messages };
  const { system = "", stopSequences = [] } = request;
  return {
    ...request,
    messages: toolChoice === undefined || toolChoice === "auto" ? messages : demanded(messages, toolChoice),
    system: `${system}${system === "" ? "" : "\n\n"}${instructions(tools)}`,
    stopSequences: [...stopSequences, STOP],
  };
}

function instructions(tools: readonly ToolSpec[]): string {
  const listed = tools.map(
    ({ name, description, parameters }) =>
      `- ${name}: ${description}\n  Action Input is JSON of this schema: ${JSON.stringify(parameters)}`,
  );
  return [
    "You have tools. To use one, write exactly this and nothing behind it:",
    "Thought: why you need the tool\nAction: the name of the tool\nAction Input: its arguments as one JSON object",
    "The result comes in the next message and begins with Observation. Never write an observation yourself. Use one tool at a time. When you know enough, answer without Action.",
    `The tools:\n${listed.join("\n")}`,
  ].join("\n\n");
}

/** A choice of tools cannot be forced; it is asked for. */
function demanded(messages: readonly Message[], choice: ModelRequest["toolChoice"]): readonly Message[] {
  const what = typeof choice === "object" ? `the tool ${choice.name}` : "a tool";
  return [...messages, { role: "user", content: [{ type: "text", text: `Use ${what} now.` }] }];
}

function worded(message: Message): Message {
  const blocks = message.content as readonly ContentBlock[];
  if (!blocks.some(({ type }) => type === "tool_use" || type === "tool_result")) return message;
  if (message.role === "user") return { ...message, content: blocks.flatMap(observation) };
  const text = blocks.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "tool_use" ? actionOf(block) : "";
  });
  const content = [{ type: "text", text: text.filter((each) => each !== "").join("\n") } as const];
  return { ...message, content };
}

function actionOf({ name, input, invalid_input }: Extract<ContentBlock, { type: "tool_use" }>): string {
  return `Action: ${name}\nAction Input: ${invalid_input?.raw ?? JSON.stringify(input)}`;
}

function observation(block: ContentBlock): readonly (TextBlock | ImageBlock)[] {
  if (block.type === "text" || block.type === "image") return [block];
  if (block.type !== "tool_result") return [];
  const images =
    typeof block.content === "string" ? [] : block.content.filter(({ type }) => type === "image");
  return [{ type: "text", text: `Observation: ${resultText(block)}` }, ...(images as readonly ImageBlock[])];
}

function resultText({ content, is_error }: ToolResultBlock): string {
  const text = textOf(content, "\n");
  if (is_error === true && !/^error\b/i.test(text)) return `Error: ${text}`;
  return text === "" ? "(no output)" : text;
}

/** Reads the text of one answer line by line: shows what is no call, holds what may be one. */
class AnswerReader {
  readonly #tools: readonly ToolSpec[];
  #index = 0;
  /** Where the text stands; calls come behind everything else. */
  #textIndex = 0;
  /** The line that is being written, as long as it may begin a call. */
  #line = "";
  /** The line that is being written begins with something that was shown. */
  #isSaid = false;
  #action: string | undefined;

  constructor(tools: readonly ToolSpec[]) {
    this.#tools = tools;
  }

  *take(part: StreamPart): Generator<StreamPart> {
    if ("index" in part) this.#index = Math.max(this.#index, part.index + 1);
    if (part.type === "finish") yield* this.#finish(part);
    else if (part.type === "block" && part.block.type === "text") return;
    else if (part.type !== "text_delta" || this.#tools.length === 0) yield part;
    else {
      this.#textIndex = part.index;
      yield* this.#text(part.text);
    }
  }

  *#text(given: string): Generator<StreamPart> {
    let text = given;
    if (this.#isSaid) {
      // A line that begins with something else holds no call.
      const end = text.indexOf("\n") + 1;
      yield this.#said(end === 0 ? text : text.slice(0, end));
      if (end === 0) return;
      this.#isSaid = false;
      text = text.slice(end);
    }
    if (this.#action !== undefined) {
      this.#action += text;
      return;
    }
    const lines = (this.#line + text).split("\n");
    this.#line = lines.at(-1) ?? "";
    for (const [at, line] of lines.entries()) {
      if (beginsAction(line)) {
        this.#action = lines.slice(at).join("\n");
        this.#line = "";
        return;
      }
      if (at < lines.length - 1) yield this.#said(`${line}\n`);
    }
    if (this.#line === "" || mayBeginAction(this.#line)) return;
    yield this.#said(this.#line);
    this.#line = "";
    this.#isSaid = true;
  }

  *#finish(part: FinishPart): Generator<StreamPart> {
    if (this.#action === undefined && this.#line !== "") yield this.#said(this.#line);
    if (this.#action === undefined) {
      yield part;
      return;
    }
    const cut = part.finishReason.unified === "length";
    const block = {
      type: "tool_use",
      id: newId("call"),
      ...parseAction(this.#action, this.#tools, cut),
    } as const;
    yield { type: "tool_call_start", index: this.#index, id: block.id, name: block.name };
    yield { type: "block", index: this.#index, block };
    yield cut ? part : { ...part, finishReason: { ...part.finishReason, unified: "tool_use" } };
  }

  #said(text: string): StreamPart {
    return { type: "text_delta", index: this.#textIndex, text };
  }
}
