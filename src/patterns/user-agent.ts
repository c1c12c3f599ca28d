import { Agent } from "../agent/agent.ts";
import type { AgentStream } from "../agent/agent-stream.ts";
import type { AgentOptions, OutputOf, RunOptions } from "../agent/options.ts";
import type { RunResult } from "../core/agent/result.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { defined, isRecord } from "../core/base/json.ts";
import type { JsonSchema, SchemaInput, SchemaResult } from "../core/base/schema.ts";
import { compileValidator } from "../core/base/validate-json.ts";
import type { Input } from "../core/message/input.ts";
import { type Message, NO_USAGE, textOf } from "../core/message/message.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";
import { type Ask, type PersonInput, toAsk } from "./person-input.ts";

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

/** One question of {@link askFields}, as text for the person. */
type AskText = (question: string) => Promise<string>;

/**
 * Asks for the value of an object schema field by field, in the order of its properties; objects inside are
 * asked for the same way. An empty answer leaves an optional field out; a required one, and an answer that
 * does not fit, is asked again with the reason. Numbers, yes and no, lists (with commas) and JSON are read
 * from the text. Rejects with `invalid_response` after twenty answers that were of no use.
 */
async function askFields(schema: JsonSchema, ask: AskText): Promise<{ [name: string]: unknown }> {
  return askObject({ schema, root: schema, prefix: "" }, ask);
}

interface ObjectQuestion {
  readonly schema: JsonSchema;
  /** The document references point into. */
  readonly root: JsonSchema;
  readonly prefix: string;
}

async function askObject(
  { schema, root, prefix }: ObjectQuestion,
  ask: AskText,
): Promise<{ [name: string]: unknown }> {
  const { required } = schema as { readonly required?: unknown };
  const fields = isRecord(schema["properties"]) ? schema["properties"] : {};
  const value: { [name: string]: unknown } = {};
  for (const [name, field] of Object.entries(fields)) {
    if (!isRecord(field)) continue;
    const question = {
      name: prefix + name,
      field,
      root,
      required: Array.isArray(required) && required.includes(name),
    };
    const answer = isPlainObjectField(question)
      ? await askObject({ schema: question.field, root, prefix: `${question.name}.` }, ask)
      : await askField(question, ask);
    if (answer !== undefined) value[name] = answer;
  }
  return value;
}

interface FieldQuestion {
  readonly name: string;
  readonly field: JsonSchema;
  readonly root: JsonSchema;
  readonly required: boolean;
}

/** An optional object is asked for as JSON in one go, so that it can be left out. */
function isPlainObjectField({ field, required }: FieldQuestion): boolean {
  return required && field["type"] === "object" && isRecord(field["properties"]);
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
