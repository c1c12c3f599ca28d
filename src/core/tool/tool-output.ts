import { errorMessage, type Json, NanoAgentError } from "../base/errors.ts";
import { isRecord, omitUndefined } from "../base/json.ts";
import type { SchemaIssue } from "../base/schema.ts";
import { didYouMean, type Redaction, type RedactionStream, truncateMiddle } from "../base/text.ts";
import { type ImageBlock, mapTexts, type TextBlock, type ToolResultBlock } from "../message/message.ts";
import type { ToolOutput, ToolResult, ToolUpdate } from "./tool.ts";

const NO_OUTPUT = "(no output)";

/** An error result the model can act on. It starts with `Error: `, because some wires have no error flag. */
export function errorResult(
  message: string,
  extra: Omit<ToolResult, "content" | "isError"> = {},
): ToolResult {
  return { ...extra, content: message.startsWith("Error: ") ? message : `Error: ${message}`, isError: true };
}

/**
 * Turns whatever a tool returned into a {@link ToolResult}; see {@link ToolOutput} for the rules. A generator
 * runs to its end, each yielded value going to `onUpdate`; it is closed once `isOver`. Throws what
 * the tool throws.
 */
export async function toToolResult(
  output: ToolOutput,
  onUpdate: (update: ToolUpdate | string) => void,
  isOver: () => boolean = () => false,
): Promise<ToolResult> {
  const value: unknown = await output;
  if (isGenerator(value)) return drain(value, onUpdate, isOver);
  return toResult(value);
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
      return step.value === undefined && collected !== "" ? { content: collected } : toResult(step.value);
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

function toResult(value: unknown): ToolResult {
  if (value === undefined || value === null) return { content: NO_OUTPUT };
  if (typeof value === "string") return { content: value === "" ? NO_OUTPUT : value };
  // It has no own fields, so it would be serialized as {}.
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

/** True if a value is valid content: text, or blocks that can be sent to a model. */
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

/** A result as a block of a message: within its limit, without split characters. */
export function toResultBlock(callId: string, result: ToolResult, maxChars: number): ToolResultBlock {
  return {
    type: "tool_result",
    tool_use_id: callId,
    content: mapTexts(result.content, (text) => truncateMiddle(text, maxChars).toWellFormed()),
    ...(result.isError === true ? { is_error: true } : {}),
  };
}

/** A result without secrets in content, title and metadata. Images and `finish` are unchanged. */
export function redactResult(redaction: Redaction | undefined, result: ToolResult): ToolResult {
  if (redaction === undefined) return result;
  try {
    return redactFields(redaction, result);
  } catch {
    // A result that could not be searched may contain anything, as may the error.
    return errorResult("The result of the call is withheld: looking for secrets in it failed.");
  }
}

function redactFields(redaction: Redaction, result: ToolResult): ToolResult {
  const { content, title, metadata } = result;
  return {
    ...result,
    content: mapTexts(content, (text) => redaction.text(text)),
    ...omitUndefined({
      title: title && redaction.text(title),
      metadata: metadata && redactJson(redaction, metadata),
    }),
  };
}

/** An error without secrets in its message and details: some servers echo what they were sent. */
export function redactError(redaction: Redaction | undefined, error: NanoAgentError): NanoAgentError {
  if (redaction === undefined) return error;
  const message = redaction.text(error.message);
  const details = redactJson(redaction, error.details);
  if (message === error.message && JSON.stringify(details) === JSON.stringify(error.details)) return error;
  const { code, cause, retryable } = error;
  return new NanoAgentError(code, message, { cause, details, retryable });
}

/** Shorter field names cannot be secrets. */
const MIN_SECRET_NAME = 8;

/** A JSON value with secrets removed from its texts and field names. */
export function redactJson<T extends Json | { readonly [key: string]: Json | undefined } | undefined>(
  redaction: Pick<Redaction, "text">,
  value: T,
): T {
  const visit = (item: unknown): unknown => {
    if (typeof item === "string") return redaction.text(item);
    if (Array.isArray(item)) return item.map(visit);
    if (!isRecord(item)) return item;
    const redactName = (name: string): string =>
      name.length < MIN_SECRET_NAME ? name : redaction.text(name);
    return Object.fromEntries(Object.entries(item).map(([name, field]) => [redactName(name), visit(field)]));
  };
  return visit(value) as T;
}

/** Progress of one call, ready to publish. */
export interface Updates {
  readonly push: (update: ToolUpdate) => void;
  /** Publishes what was held back. */
  readonly end: () => void;
}

/** Publishes progress without secrets, even ones split over two pieces. */
export function redactUpdates(
  redaction: Redaction | undefined,
  publish: (update: ToolUpdate) => void,
): Updates {
  if (redaction === undefined) return { push: publish, end: () => undefined };
  let stream: RedactionStream | undefined;
  const guarded = (work: (stream: RedactionStream) => void): void => {
    try {
      work((stream ??= redaction.stream()));
    } catch {
      // Text that could not be searched is not shown; the result of the call will say so.
    }
  };
  return {
    push: ({ text, metadata }) =>
      guarded((redactor) => {
        const cleanText = text === undefined ? undefined : redactor.push(text);
        if (metadata === undefined && (cleanText === undefined || cleanText === "")) return;
        publish(omitUndefined({ text: cleanText, metadata: metadata && redactJson(redaction, metadata) }));
      }),
    end: () => {
      if (stream === undefined) return;
      guarded((redactor) => {
        const text = redactor.flush();
        if (text !== "") publish({ text });
      });
    },
  };
}

export function unknownToolText(name: string, known: readonly string[]): string {
  if (known.length === 0) return `Unknown tool: ${name}. No tools are available: answer in text.`;
  return `Unknown tool: ${name}.${didYouMean(name, known)} Available: ${known.join(", ")}.`;
}

export function invalidArgumentsText(name: string, issues: readonly SchemaIssue[]): string {
  const lines = issues.map((issue) =>
    issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`,
  );
  return `Invalid arguments for ${name}, so it was not run:\n${lines.join("\n")}`;
}

/** The beginning of a text to show to the model. */
export function modelExcerpt(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 500).toWellFormed()}… (${text.length} characters)`;
}
