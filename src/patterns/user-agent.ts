import { Agent } from "../agent/agent.ts";
import type { AgentStream } from "../agent/agent-stream.ts";
import type { AgentOptions, OutputOf, RunOptions } from "../agent/options.ts";
import type { RunResult } from "../core/agent/result.ts";
import { orAborted } from "../core/base/async.ts";
import { misuse, NanoAgentError } from "../core/base/errors.ts";
import { defined, isRecord } from "../core/base/json.ts";
import type { JsonSchema, SchemaInput, SchemaResult } from "../core/base/schema.ts";
import { compileValidator } from "../core/base/validate-json.ts";
import type { Input } from "../core/message/input.ts";
import { type Message, NO_USAGE, textOf } from "../core/message/message.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";

/** Asks a person one question; the answer is one text. */
export type AskPerson = (
  question: string,
  options: { readonly signal: AbortSignal },
) => string | Promise<string>;

/** A reader of lines from a terminal: the interface of `node:readline/promises` is one. */
export interface LineReader {
  question(query: string, options: { readonly signal: AbortSignal }): Promise<string>;
  /** Tells of the end of the input; without it a question cut off by that waits until the run is aborted. */
  once?(event: "close", listener: () => void): unknown;
  /** Tells of lines that no question waited for. Without it they are lost. */
  on?(event: "line", listener: (line: string) => void): unknown;
  off?(event: "close", listener: () => void): unknown;
}

/** Where a person's answers come from: a function, a line reader, or any async iterable of texts. */
export type PersonInput = AskPerson | LineReader | AsyncIterable<string>;

/** How a {@link UserAgent} is made. */
export interface UserAgentOptions
  extends Pick<AgentOptions, "journal" | "messages" | "sessionId" | "budget" | "maxIterations"> {
  /** Where the answers come from. */
  readonly input: PersonInput;
  /** The question to the person when a run has no input. Default `Your message:`. */
  readonly prompt?: string;
  /** Names the person in the journal. Default `user`. */
  readonly name?: string;
}

/**
 * A person as an agent: what a run is given is shown as a question, what the person answers is the result.
 * With a schema every field is asked for on its own and required ones cannot be skipped. It has a
 * conversation, events and a journal as every agent has.
 */
export class UserAgent extends Agent {
  readonly #prompt: string;

  /** Throws `invalid_argument` for an input that cannot be asked. */
  constructor(options: UserAgentOptions) {
    const { input, prompt = "Your message:", name = "user", ...own } = options;
    super({ ...own, model: new PersonModel(toAsk(input), name), onMaxIterations: "last" });
    this.#prompt = prompt;
  }

  /** Asks the person. Without an input: what was said since their last answer, else the `prompt`. */
  override run<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options?: RunOptions<S>,
  ): Promise<RunResult<OutputOf<S>>> {
    return super.run(input ?? this.#question(), options);
  }

  /** The same as {@link UserAgent.run}, event by event. */
  override stream<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options?: RunOptions<S>,
  ): AgentStream<OutputOf<S>> {
    return super.stream(input ?? this.#question(), options);
  }

  #question(): string | undefined {
    return this.getState().messages.at(-1)?.role === "user" ? undefined : this.#prompt;
  }
}

/**
 * A person in the place of a model: what was said since the last answer is the question; the answer is text,
 * or, when a tool is offered, the arguments of a call of it, asked for field by field. Costs nothing.
 */
class PersonModel implements Model {
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

/** A question and the signal that takes it back. Rejects with `aborted`: person left, signal fired. */
type Ask = (question: string, signal: AbortSignal) => Promise<string>;

/** One way to ask, whatever answers come from. Throws `invalid_argument` for what cannot be asked. */
function toAsk(input: PersonInput): Ask {
  if (typeof input === "function")
    return async (question, signal) => {
      const answer: unknown = await orAborted(Promise.resolve(input(question, { signal })), signal);
      if (typeof answer === "string") return answer;
      throw new NanoAgentError(
        "invalid_response",
        `The input of the person answered with ${answer === null ? "null" : typeof answer}: return the text that was typed.`,
      );
    };
  if (typeof input === "object" && input !== null) {
    if ("question" in input) return readerAsk(input);
    if (Symbol.asyncIterator in input) return queueAsk(input);
  }
  throw misuse(
    `input is ${input === null ? "null" : typeof input}: pass a function, an async iterable of texts, or something with question().`,
  );
}

function readerAsk(reader: LineReader): Ask {
  const lines = LINES.get(reader) ?? new LinesBetween(reader);
  LINES.set(reader, lines);
  return async (question, signal) => {
    const early = lines.take();
    if (early !== undefined) return early;
    const { promise: closed, reject } = Promise.withResolvers<never>();
    const close = (): void => reject(inputEnded());
    if (lines.hasEnded) throw inputEnded();
    reader.once?.("close", close);
    try {
      return await orAborted(Promise.race([reader.question(`${question}\n> `, { signal }), closed]), signal);
    } finally {
      reader.off?.("close", close);
    }
  };
}

/** Lines while nobody asked: a pipe writes them all at once, and a reader drops what nothing waits for. */
class LinesBetween {
  readonly #lines: string[] = [];
  hasEnded = false;

  constructor(reader: LineReader) {
    reader.on?.("line", (line) => this.#lines.push(line));
    reader.once?.("close", () => {
      this.hasEnded = true;
    });
  }

  take(): string | undefined {
    return this.#lines.shift();
  }
}

/** One for each reader, for agents that share it share its lines. */
const LINES = new WeakMap<LineReader, LinesBetween>();

function inputEnded(): NanoAgentError {
  return new NanoAgentError("aborted", "The person's input ended before there was an answer.");
}

function queueAsk(answers: AsyncIterable<string>): Ask {
  let iterator: AsyncIterator<string> | undefined;
  /** Kept over an abort, so that the answer that comes later is not lost. */
  let pending: Promise<IteratorResult<string>> | undefined;
  return async (_question, signal) => {
    iterator ??= answers[Symbol.asyncIterator]();
    pending ??= iterator.next();
    const step = await orAborted(pending, signal);
    pending = undefined;
    if (step.done === true) throw inputEnded();
    return step.value;
  };
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

/** Answers to one field before it is given up. */
const MAX_ANSWERS = 20;
const YES = /^(?:y|yes|true|是|对|好)$/i;
const NO = /^(?:n|no|false|否|不|不是)$/i;

type AskText = (question: string) => Promise<string>;

/**
 * Asks for the value of an object schema field by field, in the order of its properties; objects inside are
 * asked for the same way. An empty answer leaves an optional field out; a required one, and an answer that
 * does not fit, is asked again with the reason. Numbers, yes and no, lists (with commas) and JSON are read
 * from the text. Rejects with `invalid_response` after twenty answers that were of no use. `root` is the
 * document that references point into.
 */
async function askFields(
  schema: JsonSchema,
  ask: AskText,
  root: JsonSchema = schema,
  prefix = "",
): Promise<{ [name: string]: unknown }> {
  const { required } = schema as { readonly required?: unknown };
  const fields = isRecord(schema["properties"]) ? schema["properties"] : {};
  const value: { [name: string]: unknown } = {};
  for (const [key, field] of Object.entries(fields)) {
    if (!isRecord(field)) continue;
    const name = prefix + key;
    const isRequired = Array.isArray(required) && required.includes(key);
    // An optional object is asked for as JSON in one go, so that it can be left out.
    const isOpened = isRequired && field["type"] === "object" && isRecord(field["properties"]);
    const answer = isOpened
      ? await askFields(field, ask, root, `${name}.`)
      : await askField({ name, field, root, required: isRequired }, ask);
    if (answer !== undefined) value[key] = answer;
  }
  return value;
}

interface FieldQuestion {
  readonly name: string;
  readonly field: JsonSchema;
  readonly root: JsonSchema;
  readonly required: boolean;
}

async function askField(question: FieldQuestion, ask: AskText): Promise<unknown> {
  const validate = validatorOf(question);
  const text = questionText(question);
  let complaint = "";
  for (let tries = 0; tries < MAX_ANSWERS; tries++) {
    const answer = (await ask(complaint + text)).trim();
    if (answer === "") {
      if (!question.required) return undefined;
      complaint = "This field is required.\n";
      continue;
    }
    const checked = validate(readAnswer(answer, question.field));
    if (checked.ok) return checked.value;
    complaint = `${checked.issues.map(({ message }) => message).join("; ")}\n`;
  }
  throw new NanoAgentError(
    "invalid_response",
    `No usable answer for "${question.name}" after ${MAX_ANSWERS} tries. Last problem: ${complaint.trim()}`,
  );
}

function questionText({ name, field, required }: FieldQuestion): string {
  const { description, enum: choices, format, default: usual } = field;
  const kinds = Array.isArray(choices) ? choices.map(String) : typesOf(field);
  const facts = [
    ...(kinds.length > 0 ? [kinds.join(" | ")] : []),
    ...(typeof format === "string" ? [format] : []),
    ...(required ? [] : ["optional"]),
    ...(usual === undefined ? [] : [`without an answer ${JSON.stringify(usual)}`]),
  ];
  const about = typeof description === "string" ? `: ${description}` : "";
  return `${name}${about}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

/** Names of the types a field may have, those of its alternatives included. */
function typesOf({ type, anyOf, nullable }: { readonly [keyword: string]: unknown }): readonly string[] {
  const own = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string");
  const others = Array.isArray(anyOf) ? anyOf.filter(isRecord).flatMap((each) => typesOf(each)) : [];
  return [...new Set([...own, ...others, ...(nullable === true ? ["null"] : [])])];
}

function readAnswer(answer: string, field: JsonSchema): unknown {
  const { type, enum: choices } = field;
  if (Array.isArray(choices)) {
    const meant = choices.find((choice) => String(choice).toLowerCase() === answer.toLowerCase());
    return meant ?? answer;
  }
  if (answer === "null" && typesOf(field).includes("null")) return null;
  // A number that does not fit is told as what it is, not as a text.
  if ((type === "integer" || type === "number") && Number.isFinite(Number(answer))) return Number(answer);
  if (type === "boolean") return YES.test(answer) ? true : NO.test(answer) ? false : answer;
  if (type === "array" && !answer.startsWith("[")) return answer.split(/[,，]/).map((item) => item.trim());
  return answer;
}

/** The check of one field. If it cannot be made (an outside reference) the whole value's check decides. */
function validatorOf({ field, root }: FieldQuestion): (value: unknown) => SchemaResult {
  const { $defs, definitions } = root;
  try {
    return compileValidator({ ...defined({ $defs, definitions }), ...field });
  } catch {
    return (value) => ({ ok: true, value });
  }
}
