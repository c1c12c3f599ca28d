import type { NanoAgentError } from "../core/base/errors.ts";

/**
 * Sends requests and streams the answers back, over connections it keeps open. One transport may serve any
 * number of models and requests at once. Idle connections keep no process alive.
 */
export interface Transport {
  /**
   * Starts a POST. Everything that happens is told to `sink`, never thrown: `onAnswer` at most once, then any
   * number of `onText`, then exactly one of `onEnd` and `onError`; `onError` alone when there was no answer.
   * After `cancel` or `release` nothing more.
   */
  readonly send: (request: HttpRequest, sink: AnswerSink) => Exchange;
  /** Closes the idle connections and ends the running ones. */
  readonly close: () => void;
}

/** One POST. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** Who is told what happens to a request. Its functions must not throw. */
export interface AnswerSink {
  readonly onAnswer: (answer: AnswerHead) => void;
  /** The next piece of the decoded body (decompressed, UTF-8); never cut inside a character. */
  readonly onText: (text: string) => void;
  /** The body is complete. */
  readonly onEnd: () => void;
  readonly onError: (error: NanoAgentError) => void;
}

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string | undefined };
}

/** A request under way. */
export interface Exchange {
  /** Stops the flow of the body until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends the request at once; its connection is closed unless the body was complete. */
  readonly cancel: () => void;
  /** The rest of the body is of no interest. A body that ends within a second keeps its connection usable. */
  readonly release: () => void;
}

/** Posts a request to one address, wherever its redirects lead. What cannot be sent rejects the answer. */
export type Post = (url: string, request: HttpRequest) => Connection;

/** A request on its way to one address. */
export interface Connection {
  /** Rejects with what the system said when there is none. */
  readonly answer: Promise<OpenAnswer>;
  /** Ends the request, or the answer, at once. */
  readonly close: () => void;
}

/** An answer whose body is still to be read. */
export interface OpenAnswer extends AnswerHead {
  /** Hands over the text of the body. Resolves at its end; rejects when it breaks or cannot be decoded. */
  readonly read: (onText: (text: string) => void) => Promise<void>;
  /** Stops the flow of the body until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** The body is of no interest. */
  readonly discard: () => void;
}

/** Milliseconds a request may take. 0 switches a limit off. */
export interface HttpTimeouts {
  /** Until status and headers are there, connecting included. */
  readonly headerTimeoutMs: number;
  /** Without a sign of life before the first event of the answer, and between two events after it. */
  readonly idleTimeoutMs: number;
  /** From the head of the answer to its first event, whatever signs of life there are. */
  readonly firstEventTimeoutMs: number;
  /** The whole request. */
  readonly requestTimeoutMs: number;
}

/** Addresses like `http://user:password@proxy.example:3128`. Loopback hosts are always reached directly. */
export interface ProxyOptions {
  /** For `http:` addresses. */
  readonly http?: string;
  /** For `https:` addresses, by a CONNECT tunnel. */
  readonly https?: string;
  /** Hosts to reach directly, as in `NO_PROXY`: `example.com`, `10.0.0.0/8`, `fd00::1`, `host:8080`. */
  readonly noProxy?: string;
}

/** True when a host name, as it stands in a parsed address, is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(?:\.\d+){3}$/.test(hostname)
  );
}
