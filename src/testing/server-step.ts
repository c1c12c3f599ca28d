import type { WireName } from "../core/message/message.ts";
import type { ScriptAnswer } from "./script.ts";

/** A recorded request. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names are lower-case. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** The parsed JSON, or the text if it is not JSON. */
  readonly body: unknown;
  /** Determined by the path; `undefined` if it belongs to no wire. */
  readonly wire: WireName | undefined;
  /** Findings of `checkRequest`; a request with any is refused with status 400 and uses no step. */
  readonly violations: readonly string[];
}

/** Network faults of an answer. Byte counts refer to the body. */
export interface ReplyFaults {
  /** Sends the body in pieces of these sizes in bytes, repeating the last size: 1 is byte by byte. */
  readonly splitBytes?: number | readonly number[];
  /** Milliseconds to wait between the pieces. */
  readonly dripMs?: number;
  /** Breaks the connection: before the headers, or after this many bytes. */
  readonly cut?: "before_headers" | number;
  /** Goes silent with the connection open: before the headers, or after this many bytes. */
  readonly stall?: "before_headers" | number;
}

/** A complete HTTP answer. */
export interface ServerReply extends ReplyFaults {
  readonly type: "replies";
  /** Default 200. */
  readonly status?: number;
  /** Override the headers derived from the body. */
  readonly headers?: { readonly [name: string]: string };
  /** Sent unchanged: bytes or text. */
  readonly body?: string | Uint8Array;
  /** Rendered as events of the requested wire, or as its HTTP error if it begins with `fails`. */
  readonly answer?: ScriptAnswer;
  /** Rendered as the error body of the requested wire. */
  readonly error?: string;
}

/** One answer of the server: a scripted model answer, or a complete HTTP answer. */
export type ServerAnswer = ScriptAnswer | ServerReply;

/** One step of the server's script. `index` counts the requests that reached a step, from 0. */
export type ServerStep =
  | ServerAnswer
  | ((request: RecordedRequest, index: number) => ServerAnswer | Promise<ServerAnswer>);

/** A complete HTTP answer, or a scripted model answer with network faults. */
export function replies(reply: Omit<ServerReply, "type">): ServerReply {
  return { type: "replies", ...reply };
}

/** An error status with the error body of the requested wire. */
export function refuses(
  status: number,
  message: string,
  headers: { readonly [name: string]: string } = {},
): ServerReply {
  return { type: "replies", status, error: message, headers };
}

/** An HTML page, as proxies and captive portals send instead of an answer. */
export function showsHtml(status = 200): ServerReply {
  const body =
    "<!DOCTYPE html>\n<html><head><title>Gateway</title></head><body><h1>Sign in to go on</h1></body></html>\n";
  return { type: "replies", status, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

/** A redirect. */
export function redirects(location: string, status = 307): ServerReply {
  return { type: "replies", status, headers: { location }, body: "" };
}
