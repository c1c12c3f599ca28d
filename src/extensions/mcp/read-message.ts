import { parseJSONRPCMessage } from "@modelcontextprotocol/client";
import { errorMessage } from "../../core/base/errors.ts";
import { type Fields, isRecord } from "../../core/base/json.ts";

export const MAX_MESSAGE_BYTES: number = 32 * 1024 * 1024;

/** Splits bytes into lines. A line that is too long is reported as `undefined`, and reading stops. */
export function lineReader(
  onLine: (line: string | undefined) => void,
  maxBytes: number = MAX_MESSAGE_BYTES,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let size = 0;
  let isDone = false;
  return (chunk) => {
    let rest = chunk;
    while (!isDone) {
      const end = rest.indexOf(0x0a);
      const part = end === -1 ? rest : rest.subarray(0, end);
      size += part.length;
      if (size > maxBytes) {
        isDone = true;
        parts = [];
        onLine(undefined);
        return;
      }
      parts.push(part);
      if (end === -1) return;
      const line = parts.length === 1 ? part : Buffer.concat(parts);
      parts = [];
      size = 0;
      rest = rest.subarray(end + 1);
      onLine(line.toString("utf8"));
    }
  };
}

export type RequestId = string | number;

/**
 * The messages in a server's text, in the form the protocol's library accepts; empty if it holds none. `null`
 * counts as absent unless the protocol allows it. An unreadable answer becomes an error for its call, which
 * would otherwise wait forever. `openId`: the request that the text answers, if known.
 */
export function readMessages(text: string, pendingId?: RequestId): readonly object[] {
  const json = text.replace(/^\uFEFF/, "");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const id = /^\s*\{[^]*"jsonrpc"/.test(json) ? (idAtEdge(json) ?? pendingId) : undefined;
    return id === undefined ? [] : [unreadableAnswer(id, errorMessage(error))];
  }
  return (Array.isArray(value) ? value : [value]).flatMap(readMessage);
}

function readMessage(value: unknown): readonly object[] {
  if (!isRecord(value)) return [];
  const message = withoutNulls(value) as Fields;
  if (typeof message["method"] === "string") return message["jsonrpc"] === "2.0" ? [message] : [];
  const { id, result, error } = message;
  if (!isRequestId(id)) return message["jsonrpc"] === "2.0" ? [message] : [];
  if (isRecord(error)) return [{ jsonrpc: "2.0", id, error: toError(error) }];
  if (!isRecord(result)) return [errorAnswer(id, "The server's answer is not a result.")];
  const answer = { jsonrpc: "2.0", id, result };
  try {
    parseJSONRPCMessage(answer);
    return [answer];
  } catch (problem) {
    return [unreadableAnswer(id, errorMessage(problem))];
  }
}

/** Members with arbitrary data, in which `null` is a value. */
const OPAQUE_MEMBERS: ReadonlySet<string> = new Set([
  "_meta",
  "arguments",
  "data",
  "default",
  "inputSchema",
  "outputSchema",
  "requestedSchema",
  "structuredContent",
]);

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) =>
      each === null ? [] : [[key, OPAQUE_MEMBERS.has(key) ? each : withoutNulls(each)] as const],
    ),
  );
}

function toError(error: Fields): object {
  const { code, message } = error;
  return {
    ...error,
    code: Number.isSafeInteger(code) ? code : INTERNAL_ERROR,
    message: typeof message === "string" ? message : JSON.stringify(error),
  };
}

const INTERNAL_ERROR = -32_603;

function errorAnswer(id: RequestId, message: string): object {
  return { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } };
}

function unreadableAnswer(id: RequestId, reason: string): object {
  return errorAnswer(id, `The server's answer cannot be read: ${reason.slice(0, 500)}`);
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "number" || typeof value === "string";
}

/** The id of a broken message: next to its first or last brace, where it cannot be part of its content. */
function idAtEdge(text: string): RequestId | undefined {
  const [, first] = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/.exec(text) ?? [];
  const [, last] =
    /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(text.slice(-200)) ?? [];
  const id = first ?? last;
  return id === undefined ? undefined : Number(id);
}
