import { newId } from "../../core/base/ids.ts";
import { type ParsedToolInput, parseToolInput } from "../../core/base/json.ts";
import {
  type ContentBlock,
  type ImageBlock,
  type Message,
  type TextBlock,
  type ToolResultBlock,
  textOf,
} from "../../core/message/message.ts";
import { withStream } from "../../core/model/answer.ts";
import type { FinishPart, Model, ModelRequest, StreamPart, ToolSpec } from "../../core/model/model.ts";
import { imagesOf } from "../wire.ts";

/**
 * Wraps a model without native tool calls so that it makes them in text: the system prompt describes the
 * tools, a call is written as `Action: name` with `Action Input: {…}` below it, and its result comes back as
 * an observation. One call per answer. Otherwise it behaves like any model: the same calls, results and
 * errors.
 */
export function callsAsText(model: Model): Model {
  /** Converts each message once: encoders recognise messages by identity. */
  const known = new WeakMap<Message, Message>();
  const toTextMessage = (message: Message): Message => {
    const textMessage = known.get(message) ?? messageAsText(message);
    known.set(message, textMessage);
    return textMessage;
  };
  return withStream(model, async function* (request, options = {}) {
    const { tools = [] } = request;
    let reader = new AnswerReader(tools);
    for await (const part of model.stream(requestAsText(request, toTextMessage), options)) {
      if (part.type === "retry") reader = new AnswerReader(tools);
      yield* reader.take(part);
    }
  });
}

const STOP = "\nObservation:";

function requestAsText(
  { tools = [], toolChoice, parallelToolCalls: _parallel, ...request }: ModelRequest,
  toTextMessage: (message: Message) => Message,
): ModelRequest {
  const messages = request.messages.map(toTextMessage);
  if (tools.length === 0 || toolChoice === "none") return { ...request, messages };
  const { system = "", stopSequences = [] } = request;
  return {
    ...request,
    messages: toolChoice === undefined || toolChoice === "auto" ? messages : withDemand(messages, toolChoice),
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
    "You have tools. To use one, write exactly this and nothing after it:",
    "Thought: why you need the tool\nAction: the name of the tool\nAction Input: its arguments as one JSON object",
    "The result comes in the next message and begins with Observation. Never write an observation yourself. Use one tool at a time. When you know enough, answer without Action.",
    `The tools:\n${listed.join("\n")}`,
  ].join("\n\n");
}

/** A tool choice cannot be forced, so the prompt asks for it. */
function withDemand(messages: readonly Message[], choice: ModelRequest["toolChoice"]): readonly Message[] {
  const what = typeof choice === "object" ? `the tool ${choice.name}` : "a tool";
  return [...messages, { role: "user", content: [{ type: "text", text: `Use ${what} now.` }] }];
}

function messageAsText(message: Message): Message {
  const blocks = message.content as readonly ContentBlock[];
  if (!blocks.some(({ type }) => type === "tool_use" || type === "tool_result")) return message;
  if (message.role === "user") return { ...message, content: blocks.flatMap(toObservation) };
  const text = blocks.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "tool_use" ? actionText(block) : "";
  });
  const content = [{ type: "text", text: text.filter((each) => each !== "").join("\n") } as const];
  return { ...message, content };
}

function actionText({ name, input, invalid_input }: Extract<ContentBlock, { type: "tool_use" }>): string {
  return `Action: ${name}\nAction Input: ${invalid_input?.raw ?? JSON.stringify(input)}`;
}

function toObservation(block: ContentBlock): readonly (TextBlock | ImageBlock)[] {
  if (block.type === "text" || block.type === "image") return [block];
  if (block.type !== "tool_result") return [];
  return [{ type: "text", text: `Observation: ${resultText(block)}` }, ...imagesOf(block)];
}

function resultText({ content, is_error }: ToolResultBlock): string {
  const text = textOf(content, "\n");
  if (is_error === true && !/^error\b/i.test(text)) return `Error: ${text}`;
  return text === "" ? "(no output)" : text;
}

/** Reads the text of one answer line by line: emits lines that are no call, holds those that may be one. */
class AnswerReader {
  readonly #tools: readonly ToolSpec[];
  #index = 0;
  /** Position of the text; calls come after everything else. */
  #textIndex = 0;
  /** The current line, while it may still begin a call. */
  #line = "";
  /** True if the beginning of the current line was already emitted. */
  #isLineEmitted = false;
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
    if (this.#isLineEmitted) {
      // A line that begins with something else contains no call.
      const end = text.indexOf("\n") + 1;
      yield this.#textDelta(end === 0 ? text : text.slice(0, end));
      if (end === 0) return;
      this.#isLineEmitted = false;
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
      if (at < lines.length - 1) yield this.#textDelta(`${line}\n`);
    }
    if (this.#line === "" || mayBeginAction(this.#line)) return;
    yield this.#textDelta(this.#line);
    this.#line = "";
    this.#isLineEmitted = true;
  }

  *#finish(part: FinishPart): Generator<StreamPart> {
    if (this.#action === undefined && this.#line !== "") yield this.#textDelta(this.#line);
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

  #textDelta(text: string): StreamPart {
    return { type: "text_delta", index: this.#textIndex, text };
  }
}

interface ActionText extends ParsedToolInput {
  readonly name: string;
}

const ACTION = /^[ \t]*(?:[*_]{2})?action(?:[*_]{2})?[ \t]*:(?:[*_]{2})?[ \t]*/i;
const INPUT = /^[ \t]*(?:[*_]{2})?action[ _]input(?:[*_]{2})?[ \t]*:(?:[*_]{2})?[ \t]*/im;
const OBSERVATION = /^[ \t]*(?:[*_]{2})?observation(?:[*_]{2})?[ \t]*:/im;

function beginsAction(line: string): boolean {
  return ACTION.test(line);
}

function mayBeginAction(line: string): boolean {
  const start = line
    .trimStart()
    .replace(/^[*_]+/, "")
    .toLowerCase();
  return start.length < 40 && ("action:".startsWith(start.replaceAll(/[*_ ]/g, "")) || beginsAction(line));
}

/**
 * Parses a call from text that begins with its `Action:` line: `Action: name` with `Action Input: {…}` below
 * it, `Action: name[…]`, `Action: name(…)` or `Action: {"name": …, "arguments": …}`. Text from `Observation:`
 * on is made up by the model. Never throws: an unreadable call gets `invalid_input`, which its result reports
 * to the model. `cut`: the answer ended inside it.
 */
function parseAction(text: string, tools: readonly ToolSpec[], cut: boolean): ActionText {
  const body = text.slice(0, OBSERVATION.exec(text)?.index).replace(ACTION, "");
  const input = INPUT.exec(body);
  if (input !== null)
    return toAction(body.slice(0, input.index), body.slice(input.index + input[0].length), { tools, cut });
  const whole = parseToolInput(withoutFence(body));
  if (whole.invalid_input === undefined && body.trim() !== "") {
    const { name, tool, action, ...rest } = whole.input;
    const given = rest["arguments"] ?? rest["action_input"] ?? rest["input"] ?? rest["parameters"] ?? {};
    return toAction(String(name ?? tool ?? action ?? ""), given, { tools, cut });
  }
  const [, name = body, , inside = ""] = /^\s*([\w.-]+)\s*([[(])([\s\S]*)[\])]\s*$/.exec(body) ?? [];
  return toAction(name, inside, { tools, cut });
}

function toAction(
  name: string,
  input: unknown,
  { tools, cut }: { readonly tools: readonly ToolSpec[]; readonly cut: boolean },
): ActionText {
  const wanted = name.trim().replace(/^[`"'*]+|[`"'*.]+$/g, "");
  const tool = tools.find((each) => each.name.toLowerCase() === wanted.toLowerCase());
  const text = typeof input === "string" ? withoutFence(input) : JSON.stringify(input);
  const parsed = parseToolInput(text, { truncated: cut && text !== "" });
  const only = parsed.invalid_input === undefined || cut ? undefined : soleTextParameter(tool);
  const value = text.replace(/^(["'])([\s\S]*)\1$/, "$2");
  return { name: tool?.name ?? wanted, ...(only === undefined ? parsed : { input: { [only]: value } }) };
}

/** The argument of a tool that takes a single string, for which plain text is unambiguous. */
function soleTextParameter(tool: ToolSpec | undefined): string | undefined {
  const properties = Object.entries(
    (tool?.parameters["properties"] ?? {}) as Record<string, { type?: unknown }>,
  );
  const required = (tool?.parameters["required"] ?? []) as readonly string[];
  const [name] = required.length === 1 ? required : properties.length === 1 ? [properties[0]?.[0]] : [];
  return properties.find(([each]) => each === name)?.[1]?.type === "string" ? name : undefined;
}

function withoutFence(text: string): string {
  return text
    .trim()
    .replace(/^```\w*\n?([\s\S]*?)\n?```[\s\S]*$/, "$1")
    .trim();
}
