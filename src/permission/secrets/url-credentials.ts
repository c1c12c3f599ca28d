import { isPlaceholder } from "./secret-value.ts";

/** User and password in an address. Bounded on both sides, so that no text makes it slow. */
const CREDENTIALS = /(:\/\/[^\s/?#@:"'<>«»]{0,128}:)([^\s/?#@"'<>\\«»]{1,512})@/g;
const DEFAULTS: ReadonlySet<string> = new Set([
  "password",
  "pass",
  "passwd",
  "secret",
  "postgres",
  "root",
  "admin",
  "guest",
  "example",
  "changeme",
  "test",
  "x-oauth-basic",
]);

/** The passwords in the addresses of a text, as they stand there. Stand-ins and the defaults of the field are none. */
export function urlPasswords(text: string): readonly string[] {
  if (!text.includes("://")) return [];
  return [...text.matchAll(CREDENTIALS)]
    .filter(([, before = "", password = ""]) => isPassword(before, password))
    .map(([, , password = ""]) => password);
}

/** The text with `replace(password)` in place of each password in an address. */
export function replaceUrlPasswords(text: string, mark: string): string {
  if (!text.includes("://")) return text;
  return text.replace(CREDENTIALS, (all, before: string, password: string) =>
    isPassword(before, password) ? `${before}${mark}@` : all,
  );
}

function isPassword(before: string, password: string): boolean {
  const user = before.slice(3, -1);
  return (
    password.length >= 4 &&
    password !== user &&
    !DEFAULTS.has(password.toLowerCase()) &&
    !isPlaceholder(password)
  );
}
