import type { WireName } from "../core/message/message.ts";
import type { ScriptAnswer } from "./script.ts";

/** Record of a request. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** The parsed JSON, or the text where it is none. */
  readonly body: unknown;
  /** By its path; `undefined` for a path of no wire. */
  readonly wire: WireName | undefined;
  /** The findings of `checkRequest`; such a request was refused with status 400 and used no step. */
  readonly violations: readonly string[];
}

/** Ways to answer badly. Byte counts are of the body. */
export interface ReplyFaults {
  /** Sends the body in pieces of these many bytes, the last size again and again: 1 is byte by byte. */
  readonly splitBytes?: number | readonly number[];
  /** Waits this many milliseconds between the pieces. */
  readonly dripMs?: number;
  /** Breaks the connection: before the headers, or after so many bytes. */
  readonly cut?: "before_headers" | number;
  /** Says nothing more, with the connection open: before the headers, or after so many bytes. */
  readonly stall?: "before_headers" | number;
}

/** An HTTP answer in full. */
export interface ServerReply extends ReplyFaults {
  readonly type: "replies";
  /** Default 200. */
  readonly status?: number;
  /** They win over the headers the body brings. */
  readonly headers?: { readonly [name: string]: string };
  /** Sent as it is: bytes or text. */
  readonly body?: string | Uint8Array;
  /** Rendered as events of the wire that asked; beginning with `fails`, as its HTTP error. */
  readonly answer?: ScriptAnswer;
  /** Rendered into the error body of the wire that asked. */
  readonly error?: string;
}

/** One answer of the server: what the model says, in the words of a script, or an HTTP answer in full. */
export type ServerAnswer = ScriptAnswer | ServerReply;

/** One step of the server's script. `index` counts the requests that reached a step, from 0. */
export type ServerStep =
  | ServerAnswer
  | ((request: RecordedRequest, index: number) => ServerAnswer | Promise<ServerAnswer>);

/** An HTTP answer in full, or what the model says with faults of the network on top. */
export function replies(reply: Omit<ServerReply, "type">): ServerReply {
  return { type: "replies", ...reply };
}

/** An error status with the error body of the wire that asked. */
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
