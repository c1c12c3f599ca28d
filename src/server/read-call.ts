import { compileSchema } from "../core/base/compile-schema.ts";
import { safeParse } from "../core/base/json.ts";
import type { JsonSchema } from "../core/base/schema.ts";
import { badRequest, Refusal } from "./refusal.ts";

/** Bytes of the longest body, of somebody who has the token. */
export const MAX_BODY_BYTES = 10_000_000;
/** The same of everybody: many who send one each must not fill the memory. */
export const OPEN_BODY_BYTES = 4_000;

/** The parameters of a query, as `schema` has them. Throws for unknown, doubled and wrong ones. */
export function readQuery(
  parameters: URLSearchParams,
  schema: JsonSchema,
): { readonly [name: string]: unknown } {
  const given = new Map<string, string>();
  for (const [name, text] of parameters) {
    if (given.has(name)) throw badRequest(`The query has ${name} twice.`);
    given.set(name, text);
  }
  const checked = compileSchema(schema).validate(Object.fromEntries(given));
  if (checked instanceof Promise) throw badRequest("The query cannot be checked.");
  if (!checked.ok) throw badRequest(`The query does not fit: ${faultsOf(checked.issues)}.`);
  return checked.value;
}

/**
 * The JSON of a body, as `schema` has it; without a body it is `{}`. Throws for another media type, for more
 * than `maxBytes`, and for fields that are unknown, missing or wrong.
 */
export async function readBody(request: Request, schema: JsonSchema, maxBytes: number): Promise<unknown> {
  const bytes = await bytesOf(request, maxBytes);
  const type = request.headers.get("content-type");
  if (type === null ? bytes.length > 0 : !/^application\/json *(?:;|$)/i.test(type))
    throw new Refusal(415, "wrong_type", "Send the body as JSON: Content-Type: application/json.");
  const value = bytes.length === 0 ? {} : parsed(bytes);
  const checked = compileSchema(schema).validate(value);
  if (checked instanceof Promise) throw badRequest("The body cannot be checked.");
  if (!checked.ok) throw badRequest(`The body does not fit: ${faultsOf(checked.issues)}.`);
  // What a model may write for a number, a program must not.
  if (checked.value !== value) throw badRequest("The body has a field of a wrong type: see openapi.json.");
  return value;
}

function faultsOf(issues: readonly { readonly path: string; readonly message: string }[]): string {
  return issues.map(({ path, message }) => (path === "" ? message : `${path} ${message}`)).join("; ");
}

function parsed(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw badRequest("The body is not UTF-8.");
  }
  const read = safeParse(text);
  if (read.ok) return read.value;
  throw badRequest("The body is not JSON.");
}

async function bytesOf({ body, headers }: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw tooLong(maxBytes);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunksOf(body)) {
    length += chunk.length;
    if (length > maxBytes) throw tooLong(maxBytes);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** The chunks of a body; whoever leaves them leaves the rest to whoever brought it. */
async function* chunksOf(body: Request["body"]): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (let read = await next(reader); !read.done; read = await next(reader)) yield read.value;
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

async function next(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]> {
  try {
    return await reader.read();
  } catch {
    // Whoever sends it is gone, or took too long: the server has not failed.
    throw badRequest("The body was broken off.", "broken_off");
  }
}

function tooLong(maxBytes: number): Refusal {
  const most = maxBytes < 1_000_000 ? `${maxBytes / 1_000} kB` : `${maxBytes / 1_000_000} MB`;
  return new Refusal(413, "too_long", `The body has more than ${most}.`);
}
