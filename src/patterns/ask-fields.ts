import { defined } from "../core/base/defined.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import type { JsonSchema, SchemaResult } from "../core/base/schema.ts";
import { compileValidator } from "../core/base/validate-json.ts";

/** Answers to one field before it is given up. */
const MAX_ANSWERS = 20;
const YES = /^(?:y|yes|true|是|对|好)$/i;
const NO = /^(?:n|no|false|否|不|不是)$/i;

/** One question of {@link askFields}, as text for the person. */
export type AskText = (question: string) => Promise<string>;

/**
 * Asks for the value of an object schema field by field, in the order of its properties; objects inside are
 * asked for the same way. An empty answer leaves an optional field out; a required one, and an answer that
 * does not fit, is asked again with the reason. Numbers, yes and no, lists (with commas) and JSON are read
 * from the text. Rejects with `invalid_response` after twenty answers that were of no use.
 */
export async function askFields(schema: JsonSchema, ask: AskText): Promise<{ [name: string]: unknown }> {
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
