import { wordSet } from "../match-text.ts";
import { isPlaceholder, looksGenerated } from "./secret-value.ts";

/**
 * User and password in an address: `://user:password@host`. Bounded on both sides, so that no text makes it
 * slow. A password may hold what should have been encoded.
 */
const CREDENTIALS = /(:\/\/[^\s/?#@:"'`<>«»]{0,128}:)([^\s@"'`<>\\«»]{1,256})@(?=[\w.[-])/g;
/** A token in the place of the user: `://token@host`. */
const USER_ALONE = /(:\/\/)([^\s/?#@:"'`<>\\«»]{16,512})(?::|:x-oauth-basic)?@(?=[\w.[-])/g;
/** The port and path of an address that look like a password: `localhost:8080/a@b`. */
const PORT = /^\d{1,5}[/?#,;:)\]]/;
const DEFAULTS: ReadonlySet<string> = wordSet(`
  password pass passwd secret postgres root admin guest example changeme test x-oauth-basic`);

/** Passwords in a text's addresses, as written and decoded if that differs. No stand-ins, no defaults. */
export function urlPasswords(text: string): readonly string[] {
  if (!text.includes("://")) return [];
  const found = [
    ...[...text.matchAll(CREDENTIALS)].filter(([, before, password]) => isPassword(before, password)),
    ...[...text.matchAll(USER_ALONE)].filter(([, , user = ""]) => looksGenerated(user)),
  ].map(([, , secret = ""]) => secret);
  return [...new Set(found.flatMap((secret) => [secret, decoded(secret)]))];
}

/** True when any address in the text holds a password or token: for what is handed on, not only shown. */
export function holdsUrlLogin(text: string): boolean {
  return /:\/\/[^\s/?#@]*:[^\s@]+@/.test(text) || urlPasswords(text).length > 0;
}

/** The text with `mark` in place of each password in an address. */
export function replaceUrlPasswords(text: string, mark: string): string {
  if (!text.includes("://")) return text;
  return text
    .replace(CREDENTIALS, (all, before: string, password: string) =>
      isPassword(before, password) ? `${before}${mark}@` : all,
    )
    .replace(USER_ALONE, (all, before: string, user: string) =>
      looksGenerated(user) ? `${before}${mark}${all.slice(before.length + user.length)}` : all,
    );
}

function isPassword(before = "", password = ""): boolean {
  const user = before.slice(3, -1);
  return (
    password.length >= 4 &&
    password !== user &&
    !PORT.test(password) &&
    !DEFAULTS.has(password.toLowerCase()) &&
    !isPlaceholder(password)
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that encodes nothing.
    return text;
  }
}
