import {
  anything,
  assertEach,
  assertIs,
  type Checks,
  having,
  isOf,
  texts,
} from "../core/base/check-option.ts";
import { misuse } from "../core/base/errors.ts";
import type { HandlerOptions } from "./create-handler.ts";

const MIN_TOKEN = 20;

/** Throws `invalid_argument` for options of `createHandler` that cannot work, and for names it does not know. */
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
