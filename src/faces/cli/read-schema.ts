import { compileSchema } from "../../core/base/compile-schema.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import { readTextFile } from "./prompt.ts";
import { usageError } from "./usage-error.ts";

/** The schema of `--json-schema`: JSON itself, or the name of a file. Throws `invalid_argument` for one that cannot be used. */
export function readSchema(value: string, cwd: string): JsonSchema {
  const inline = value.trimStart().startsWith("{");
  const text = inline ? value : readTextFile(value, { what: "--json-schema", cwd });
  const where = inline ? "--json-schema" : `--json-schema ${value}`;
  const parsed = safeParse(text);
  if (!parsed.ok)
    throw usageError(`${where} is not JSON: ${parsed.error}. Pass a JSON Schema, or a file that holds one.`);
  if (!isRecord(parsed.value))
    throw usageError(`${where} is not a JSON object. Pass a JSON Schema such as {"type":"object"}.`);
  const schema = parsed.value as JsonSchema;
  try {
    compileSchema(schema);
  } catch (error) {
    throw usageError(`${where} cannot be used: ${errorMessage(error)}`, error);
  }
  return schema;
}
