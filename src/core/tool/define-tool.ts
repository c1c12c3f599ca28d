import { compileSchema } from "../base/compile-schema.ts";
import { defined } from "../base/defined.ts";
import { misuse } from "../base/errors.ts";
import type { JsonSchema, SchemaInput } from "../base/schema.ts";
import type { Tool, ToolDefinition } from "./tool.ts";

/** The form of tool names that every provider accepts. */
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const NO_PARAMETERS: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

/**
 * Makes a {@link Tool}; the type of `execute`'s input follows from `parameters`. Throws `invalid_argument`
 * for a name that a provider would refuse, a missing description, or a schema that is not an object schema or
 * cannot be expressed as JSON Schema.
 */
export function defineTool<const S extends SchemaInput = JsonSchema>(definition: ToolDefinition<S>): Tool {
  const { parameters, ...own } = definition;
  const { name, description, execute, needsApproval } = own;
  assertToolName(name);
  if (typeof description !== "string")
    throw misuse(`Tool "${name}" needs a description: the model chooses by it.`);
  if (!["undefined", "function"].includes(typeof execute))
    throw misuse(`execute of tool "${name}" is ${typeof execute}; pass a function, or leave it out.`);
  if (!["undefined", "boolean", "function"].includes(typeof needsApproval))
    throw misuse(
      `needsApproval of tool "${name}" is ${typeof needsApproval}; pass true, false or a function of the input.`,
    );
  assertOwnNames(name, definition);
  const schema = compileSchema(parameters ?? NO_PARAMETERS);
  const { type = "unknown" } = schema.jsonSchema;
  if (type !== "object")
    throw misuse(
      `Parameters of tool "${name}" are of type ${JSON.stringify(type)}; providers accept an object schema only. Wrap the value in an object.`,
    );
  return { ...defined(own), schema };
}

/** Without them a tool would have no arguments, or wait for the caller to do its work. */
function assertOwnNames(tool: string, definition: object): void {
  for (const [own, others] of [
    ["parameters", ["inputSchema", "input_schema", "schema"]],
    ["execute", ["run", "handler", "func", "invoke", "callback"]],
  ] as const) {
    if (own in definition) continue;
    const other = others.find((name) => name in definition);
    if (other === undefined) continue;
    throw misuse(`Tool "${tool}" has ${other}, which is ${own} here: rename it.`);
  }
}

/** Throws `invalid_argument` for a tool name that some provider refuses. */
export function assertToolName(name: unknown): asserts name is string {
  if (typeof name === "string" && TOOL_NAME.test(name)) return;
  throw misuse(
    `Tool name ${JSON.stringify(name)} is not usable: providers accept 1 to 64 letters, digits, "_" and "-", not starting with a digit or "-".`,
  );
}
