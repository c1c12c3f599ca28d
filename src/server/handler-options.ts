import type { Clock } from "../core/base/async.ts";
import { checkOptions, objectOf } from "../core/base/check.ts";
import { misuse } from "../core/base/errors.ts";
import type { Redaction } from "../core/base/text.ts";
import type { AgentMaker, AgentStore } from "./agent-sessions.ts";
import type { SessionHost } from "./session-host.ts";

/** A file of a page. */
export interface WebAsset {
  readonly bytes: Uint8Array;
  /** Media type. */
  readonly type: string;
  /** True when its name changes with its bytes. */
  readonly isImmutable?: boolean;
}

/** Options of {@link createHandler}. */
export interface HandlerOptions {
  /** Each request must carry it (`Authorization: Bearer`). At least 20 characters; take random ones. */
  readonly token: string;
  /** Makes the agent of each session. Either this or `sessions`. */
  readonly agent?: AgentMaker;
  /** Where the journals of those sessions are kept. Default: in memory, as long as the handler lives. */
  readonly store?: AgentStore;
  /** Sessions from elsewhere, in place of `agent`. */
  readonly sessions?: SessionHost;
  /**
   * Host names this server answers to, beside `localhost` and `127.0.0.1`, e.g. `agents.example.com`; `"ip"`:
   * any IP address. Requests to another name are refused.
   */
  readonly hosts?: readonly string[];
  /** True: clients can only look. Default false. */
  readonly readOnly?: boolean;
  /**
   * Takes secrets out of all that is sent; out of questions only what its `known` does. Default: nothing is
   * taken out.
   */
  readonly redaction?: Redaction | undefined;
  /** The files of a page, by their paths, `/` for the first. They need no token. */
  readonly assets?: (path: string) => Promise<WebAsset | undefined>;
  /**
   * Gets unexpected errors; the client only sees status 500, a list without the session whose agent could not
   * be made, or a warning of the run that failed. Default: nobody.
   */
  readonly onError?: (error: unknown) => void;
  /** Ends every run and every stream when it is aborted. */
  readonly signal?: AbortSignal;
  /** Times limits and waits. Default: the machine's clock. */
  readonly clock?: Clock;
}

/** Throws `invalid_argument` for options that cannot work. */
export function assertHandlerOptions(options: HandlerOptions): void {
  checkOptions(options, OPTIONS);
  const { agent, sessions } = options;
  if ((agent === undefined) === (sessions === undefined))
    throw misuse("createHandler() needs agent, a function that makes one, or sessions.");
}

const FUNCTION = { "x-function": true } as const;
const OPTIONS = objectOf<HandlerOptions>(
  {
    token: {
      type: "string",
      pattern: "^[\\x21-\\x7e]{20,}$",
      "x-say": "at least 20 characters: letters, digits and signs without blanks",
      "x-secret": true,
    },
    agent: FUNCTION,
    store: { "x-has": ["list", "open", "create"] },
    sessions: { "x-has": ["list", "find", "start"], "x-say": "a SessionHost" },
    hosts: { type: "array", items: { type: "string", minLength: 1 } },
    readOnly: { type: "boolean" },
    redaction: {
      "x-has": ["text", "stream"],
      "x-say": "what createRedaction() of nano-agent/permission returns",
    },
    assets: FUNCTION,
    onError: FUNCTION,
    signal: {
      "x-has": ["throwIfAborted", "addEventListener"],
      "x-say": "an AbortSignal: the signal of an AbortController",
    },
    clock: { "x-has": ["now", "sleep"] },
  },
  ["token"],
);
