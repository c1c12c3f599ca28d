import { misuse } from "../core/base/errors.ts";

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** True when a text can name a session: `[A-Za-z0-9][A-Za-z0-9_-]{0,127}`, safe as a file name. */
export function isSessionId(text: string): boolean {
  return typeof text === "string" && SESSION_ID.test(text);
}

/** Throws `invalid_argument` for a text that cannot name a session. `what` says where it came from. */
export function assertSessionId(text: string, what: string): void {
  if (isSessionId(text)) return;
  throw misuse(
    `${what} ${JSON.stringify(text)} is not a session id. Write up to 128 letters, digits, _ and -, a letter or digit first.`,
  );
}
