import { type Json, NanoAgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { Redaction } from "../base/redaction.ts";
import type { ToolResult, ToolUpdate } from "../tool/tool.ts";

/** A result without secrets: what the model sees, the title and the metadata. Images and what ends a run stay as they are. */
export function redactResult(redaction: Redaction | undefined, result: ToolResult): ToolResult {
  if (redaction === undefined) return result;
  const { content, title, metadata } = result;
  return {
    ...result,
    content:
      typeof content === "string"
        ? redaction.text(content)
        : content.map((block) =>
            block.type === "text" ? { ...block, text: redaction.text(block.text) } : block,
          ),
    ...(title === undefined ? {} : { title: redaction.text(title) }),
    ...(metadata === undefined ? {} : { metadata: redactJson(redaction, metadata) }),
  };
}

/** An error without secrets in its message and details: some servers answer with what they were sent. */
export function redactError(redaction: Redaction | undefined, error: NanoAgentError): NanoAgentError {
  if (redaction === undefined) return error;
  const message = redaction.text(error.message);
  const details = redactJson(redaction, error.details);
  if (message === error.message && JSON.stringify(details) === JSON.stringify(error.details)) return error;
  const { code, cause, retryable } = error;
  return new NanoAgentError(code, message, { cause, details, retryable });
}

/** The texts in a JSON value without secrets; the names in it stay. */
export function redactJson<T extends Json | { readonly [key: string]: Json | undefined } | undefined>(
  redaction: Redaction,
  value: T,
): T {
  const visit = (item: unknown): unknown => {
    if (typeof item === "string") return redaction.text(item);
    if (Array.isArray(item)) return item.map(visit);
    if (!isRecord(item)) return item;
    return Object.fromEntries(Object.entries(item).map(([key, field]) => [key, visit(field)]));
  };
  return visit(value) as T;
}

/** Progress of one call, ready to be shown. */
export interface Updates {
  readonly push: (update: ToolUpdate) => void;
  /** Shows what was held back. */
  readonly end: () => void;
}

/** Passes progress on to `publish` without secrets, also such as come in two pieces. */
export function redactUpdates(
  redaction: Redaction | undefined,
  publish: (update: ToolUpdate) => void,
): Updates {
  if (redaction === undefined) return { push: publish, end: () => undefined };
  const stream = redaction.stream();
  return {
    push: ({ text, metadata }) => {
      const shown = text === undefined ? undefined : stream.push(text);
      if (metadata === undefined && (shown === undefined || shown === "")) return;
      publish({
        ...(shown === undefined ? {} : { text: shown }),
        ...(metadata === undefined ? {} : { metadata: redactJson(redaction, metadata) }),
      });
    },
    end: () => {
      const text = stream.flush();
      if (text !== "") publish({ text });
    },
  };
}
