import { defined } from "../base/defined.ts";
import { type Json, NanoAgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { Redaction, RedactionStream } from "../base/redaction.ts";
import { mapTexts } from "../message/message.ts";
import { errorResult } from "./output.ts";
import type { ToolResult, ToolUpdate } from "./tool.ts";

/** A result without secrets in content, title and metadata. Images and what ends a run stay. */
export function redactResult(redaction: Redaction | undefined, result: ToolResult): ToolResult {
  if (redaction === undefined) return result;
  try {
    return redacted(redaction, result);
  } catch {
    // A result that could not be searched may hold anything, the error too.
    return errorResult("The result of the call is withheld: looking for secrets in it failed.");
  }
}

function redacted(redaction: Redaction, result: ToolResult): ToolResult {
  const { content, title, metadata } = result;
  return {
    ...result,
    content: mapTexts(content, (text) => redaction.text(text)),
    ...defined({
      title: title && redaction.text(title),
      metadata: metadata && redactJson(redaction, metadata),
    }),
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

/** Names below this length are none of a secret. */
const MIN_NAME = 8;

/** The texts and names in a JSON value without secrets. */
export function redactJson<T extends Json | { readonly [key: string]: Json | undefined } | undefined>(
  redaction: Pick<Redaction, "text">,
  value: T,
): T {
  const visit = (item: unknown): unknown => {
    if (typeof item === "string") return redaction.text(item);
    if (Array.isArray(item)) return item.map(visit);
    if (!isRecord(item)) return item;
    const shown = (name: string): string => (name.length < MIN_NAME ? name : redaction.text(name));
    return Object.fromEntries(Object.entries(item).map(([name, field]) => [shown(name), visit(field)]));
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
  let stream: RedactionStream | undefined;
  const safely = (work: (stream: RedactionStream) => void): void => {
    try {
      work((stream ??= redaction.stream()));
    } catch {
      // Input that could not be searched is not shown; the result of the call says that searching fails.
    }
  };
  return {
    push: ({ text, metadata }) =>
      safely((through) => {
        const shown = text === undefined ? undefined : through.push(text);
        if (metadata === undefined && (shown === undefined || shown === "")) return;
        publish(defined({ text: shown, metadata: metadata && redactJson(redaction, metadata) }));
      }),
    end: () => {
      if (stream === undefined) return;
      safely((through) => {
        const text = through.flush();
        if (text !== "") publish({ text });
      });
    },
  };
}
