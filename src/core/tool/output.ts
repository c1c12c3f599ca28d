import { errorMessage } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { ImageBlock, TextBlock } from "../message/block.ts";
import type { ToolOutput, ToolResult, ToolUpdate } from "./tool.ts";

/** Text the model sees where a tool returned nothing. */
const NO_OUTPUT = "(no output)";

/** An error result the model can act on. It starts with `Error: `: some wires have no error flag. */
export function errorResult(
  message: string,
  extra: Omit<ToolResult, "content" | "isError"> = {},
): ToolResult {
  return { ...extra, content: message.startsWith("Error: ") ? message : `Error: ${message}`, isError: true };
}

/**
 * Brings whatever a tool returned to one {@link ToolResult}: see {@link ToolOutput} for the rules. Generators
 * are run to their end, each yielded value going to `onUpdate`; one that is still at work when its call
 * `isOver` is closed. Throws what the tool throws.
 */
export async function toToolResult(
  output: ToolOutput,
  onUpdate: (update: ToolUpdate | string) => void,
  isOver: () => boolean = () => false,
): Promise<ToolResult> {
  const value: unknown = await output;
  if (isGenerator(value)) return drain(value, onUpdate, isOver);
  return fromValue(value);
}

async function drain(
  generator: AsyncIterator<unknown> | Iterator<unknown>,
  onUpdate: (update: ToolUpdate | string) => void,
  isOver: () => boolean,
): Promise<ToolResult> {
  let collected = "";
  for (;;) {
    const step = await generator.next();
    if (step.done === true)
      return step.value === undefined && collected !== "" ? { content: collected } : fromValue(step.value);
    if (isOver()) {
      await generator.return?.();
      return { content: collected };
    }
    const update = isUpdate(step.value) ? step.value : String(step.value);
    collected += typeof update === "string" ? update : (update.text ?? "");
    onUpdate(update);
  }
}

function isUpdate(value: unknown): value is ToolUpdate {
  return typeof value === "object" && value !== null;
}

function fromValue(value: unknown): ToolResult {
  if (value === undefined || value === null) return { content: NO_OUTPUT };
  if (typeof value === "string") return { content: value === "" ? NO_OUTPUT : value };
  // Its fields are not its own, so it would be said as {}.
  if (value instanceof Error) return errorResult(errorMessage(value));
  if (isToolResult(value)) return value.content.length === 0 ? { ...value, content: NO_OUTPUT } : value;
  if (isTitledOutput(value)) {
    const { output, ...rest } = value;
    return { ...rest, content: output === "" ? NO_OUTPUT : output };
  }
  return { content: serialise(value) };
}

function serialise(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? String(item) : item)) ??
      String(value)
    );
  } catch (error) {
    throw new TypeError(`The tool returned a value that cannot be serialised: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** True when a value is a result as it stands: text, or blocks that a model can be sent. */
export function isToolResult(value: unknown): value is ToolResult {
  if (typeof value !== "object" || value === null || !("content" in value)) return false;
  const { content } = value;
  return typeof content === "string" || (Array.isArray(content) && content.every(isResultBlock));
}

function isResultBlock(block: unknown): block is TextBlock | ImageBlock {
  if (!isRecord(block)) return false;
  if (block["type"] === "text") return typeof block["text"] === "string";
  return block["type"] === "image" && isRecord(block["source"]);
}

function isTitledOutput(value: unknown): value is { readonly output: string } {
  return (
    typeof value === "object" &&
    value !== null &&
    "output" in value &&
    typeof value.output === "string" &&
    ("title" in value || "metadata" in value)
  );
}

function isGenerator(value: unknown): value is AsyncIterator<unknown> | Iterator<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "next" in value &&
    typeof value.next === "function" &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}
