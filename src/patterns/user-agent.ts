import { Agent } from "../agent/agent.ts";
import type { AgentStream } from "../agent/agent-stream.ts";
import type { AgentOptions, OutputOf, RunOptions } from "../agent/options.ts";
import type { RunResult } from "../core/agent/result.ts";
import { raceAbort } from "../core/base/async.ts";
import { invalidArgument, NanoAgentError } from "../core/base/errors.ts";
import { isRecord, omitUndefined } from "../core/base/json.ts";
import type { JsonSchema, SchemaInput, SchemaResult } from "../core/base/schema.ts";
import { compileValidator } from "../core/base/validate-json.ts";
import type { Input } from "../core/message/input.ts";
import { type Message, NO_USAGE, textOf } from "../core/message/message.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";

/** Asks a person one question; resolves to their answer. */
export type AskPerson = (
  question: string,
  options: { readonly signal: AbortSignal },
) => string | Promise<string>;

/** A reader of terminal lines, such as `node:readline/promises`. */
export interface LineReader {
  question(query: string, options: { readonly signal: AbortSignal }): Promise<string>;
  /** Reports the end of the input; without it a pending question waits until the run is aborted. */
  once?(event: "close", listener: () => void): unknown;
  /** Reports lines that answer no question. Without it they are lost. */
  on?(event: "line", listener: (line: string) => void): unknown;
  off?(event: "close", listener: () => void): unknown;
}

/** Where a person's answers come from: a function, a line reader, or an async iterable of texts. */
export type PersonInput = AskPerson | LineReader | AsyncIterable<string>;

/** Options of a {@link UserAgent}. */
export interface UserAgentOptions
  extends Pick<AgentOptions, "journal" | "messages" | "sessionId" | "budget" | "maxIterations"> {
  /** Where the answers come from. */
  readonly input: PersonInput;
  /** The question asked if a run has no input. Default `Your message:`. */
  readonly prompt?: string;
  /** The person's name in the journal. Default `user`. */
  readonly name?: string;
}

/**
 * A person as an agent: the input of a run is shown as a question, and the answer is its result. With a
 * schema each field is asked separately, and required ones cannot be skipped. It has conversation, events and
 * journal like every agent.
 */
export class UserAgent extends Agent {
  readonly #prompt: string;

  /** Throws `invalid_argument` for an input that cannot be asked. */
  constructor(options: UserAgentOptions) {
    const { input, prompt = "Your message:", name = "user", ...own } = options;
    super({ ...own, model: new PersonModel(asAskFunction(input), name), onMaxIterations: "last" });
    this.#prompt = prompt;
  }

  /** Asks the person: with the input, else what was said since their last answer, else the `prompt`. */
  override run<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options?: RunOptions<S>,
  ): Promise<RunResult<OutputOf<S>>> {
    return super.run(input ?? this.#question(), options);
  }

  /** {@link UserAgent.run} event by event. */
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
 * A person in place of a model. The question is what was said since the last answer; the reply is text or, if
 * a tool is offered, a call of it with arguments asked field by field. Costs nothing.
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

/**
 * A question and the signal that cancels it. Rejects with `aborted` if the person left or the signal fired.
 */
type Ask = (question: string, signal: AbortSignal) => Promise<string>;

/** Turns any source of answers into a function that asks. Throws `invalid_argument` for anything else. */
function asAskFunction(input: PersonInput): Ask {
  if (typeof input === "function")
    return async (question, signal) => {
      const answer: unknown = await raceAbort(Promise.resolve(input(question, { signal })), signal);
      if (typeof answer === "string") return answer;
      throw new NanoAgentError(
        "invalid_response",
        `The input of the person answered with ${answer === null ? "null" : typeof answer}: return the text that was typed.`,
      );
    };
  if (typeof input === "object" && input !== null) {
    if ("question" in input) return askReader(input);
    if (Symbol.asyncIterator in input) return askIterable(input);
  }
  throw invalidArgument(
    `input is ${input === null ? "null" : typeof input}: pass a function, an async iterable of texts, or something with question().`,
  );
}

function askReader(reader: LineReader): Ask {
  const lines = EARLY_LINES.get(reader) ?? new EarlyLines(reader);
  EARLY_LINES.set(reader, lines);
  return async (question, signal) => {
    const early = lines.take();
    if (early !== undefined) return early;
    const { promise: closed, reject } = Promise.withResolvers<never>();
    const close = (): void => reject(inputEnded());
    if (lines.hasEnded) throw inputEnded();
    reader.once?.("close", close);
    try {
      return await raceAbort(Promise.race([reader.question(`${question}\n> `, { signal }), closed]), signal);
    } finally {
      reader.off?.("close", close);
    }
  };
}

/** Buffers lines that arrive between questions: a pipe writes all at once, and readline drops the rest. */
class EarlyLines {
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

/** One per reader, so that agents sharing a reader share its lines. */
const EARLY_LINES = new WeakMap<LineReader, EarlyLines>();

function inputEnded(): NanoAgentError {
  return new NanoAgentError("aborted", "The person's input ended before there was an answer.");
}

function askIterable(answers: AsyncIterable<string>): Ask {
  let iterator: AsyncIterator<string> | undefined;
  /** Kept after an abort, so that an answer that comes later is not lost. */
  let pending: Promise<IteratorResult<string>> | undefined;
  return async (_question, signal) => {
    iterator ??= answers[Symbol.asyncIterator]();
    pending ??= iterator.next();
    const step = await raceAbort(pending, signal);
    pending = undefined;
    if (step.done === true) throw inputEnded();
    return step.value;
  };
}

/** Everything said since the last answer, including errors about a refused answer. */
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

/** How many answers a field gets before it is given up. */
const MAX_ANSWERS = 20;
const YES = /^(?:y|yes|true|是|对|好)$/i;
const NO = /^(?:n|no|false|否|不|不是)$/i;

type AskText = (question: string) => Promise<string>;

/**
 * Asks for the value of an object schema field by field, in property order and including nested objects. An
 * empty answer skips an optional field; for a required one, or an answer that does not fit, the question is
 * repeated with the reason. Numbers, yes and no, lists (comma-separated) and JSON are parsed from text.
 * Rejects with `invalid_response` after twenty useless answers. `root` is the document that references point
 * into.
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
    // An optional object is asked for as one JSON text, so that it can be skipped.
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
  for (let attempt = 0; attempt < MAX_ANSWERS; attempt++) {
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
  const descriptionText = typeof description === "string" ? `: ${description}` : "";
  return `${name}${descriptionText}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

/** Names of the types a field may have, including alternatives. */
function typesOf({ type, anyOf, nullable }: { readonly [keyword: string]: unknown }): readonly string[] {
  const own = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string");
  const others = Array.isArray(anyOf) ? anyOf.filter(isRecord).flatMap((each) => typesOf(each)) : [];
  return [...new Set([...own, ...others, ...(nullable === true ? ["null"] : [])])];
}

function readAnswer(answer: string, field: JsonSchema): unknown {
  const { type, enum: choices } = field;
  if (Array.isArray(choices)) {
    const choice = choices.find((choice) => String(choice).toLowerCase() === answer.toLowerCase());
    return choice ?? answer;
  }
  if (answer === "null" && typesOf(field).includes("null")) return null;
  // An invalid number is reported as entered, not as text.
  if ((type === "integer" || type === "number") && Number.isFinite(Number(answer))) return Number(answer);
  if (type === "boolean") return YES.test(answer) ? true : NO.test(answer) ? false : answer;
  if (type === "array" && !answer.startsWith("[")) return answer.split(/[,，]/).map((item) => item.trim());
  return answer;
}

/**
 * The check for one field. If it cannot be compiled (an external reference), only the whole value is checked.
 */
function validatorOf({ field, root }: FieldQuestion): (value: unknown) => SchemaResult {
  const { $defs, definitions } = root;
  try {
    return compileValidator({ ...omitUndefined({ $defs, definitions }), ...field });
  } catch {
    return (value) => ({ ok: true, value });
  }
}
