import {
  anything,
  assertEach,
  assertIs,
  type Checks,
  having,
  isOf,
  texts,
} from "../core/base/check-option.ts";
import type { Clock } from "../core/base/clock.ts";
import { misuse } from "../core/base/errors.ts";
import type { Redaction } from "../core/base/redaction.ts";
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

const MIN_TOKEN = 20;

/** Throws `invalid_argument` for options that cannot work, and for names that are none. */
export function assertHandlerOptions(options: HandlerOptions): void {
  assertEach(options, CHECKS, "option of createHandler()");
  const { token, agent, sessions } = options;
  assertIs("The token", token, "string");
  if (token.length < MIN_TOKEN || !/^[\x21-\x7e]+$/.test(token))
    throw misuse(
      `The token needs at least ${MIN_TOKEN} characters, letters, digits and signs without blanks.`,
    );
  if ((agent === undefined) === (sessions === undefined))
    throw misuse("createHandler() needs agent, a function that makes one, or sessions.");
}

const CHECKS: Checks<HandlerOptions> = {
  token: anything,
  agent: isOf("function"),
  store: having(
    ["list", "open", "create"],
    "store is none: pass an object with list(), open() and create().",
  ),
  sessions: having(["list", "find", "start"], "sessions is none: pass a SessionHost."),
  hosts: texts,
  readOnly: isOf("boolean"),
  redaction: having(
    ["text", "stream"],
    "redaction is none: pass createRedaction() of nano-agent/permission.",
  ),
  assets: isOf("function"),
  onError: isOf("function"),
  signal: having(
    ["throwIfAborted", "addEventListener"],
    "signal is not an AbortSignal: of an AbortController pass its signal.",
  ),
  clock: having(["now", "sleep"], "clock is none: pass an object with now(), elapsed() and sleep()."),
};
