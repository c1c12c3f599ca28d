import { isSecretValue } from "./credential-name.ts";

/** `://user:password@host`, or a token instead of a user: `://token@host`. */
const LOGIN =
  /(:\/\/)(?:([^\s/?#@:"'`<>\\«»]{0,128}:)([^\s@"'`<>\\«»]{4,256})|([^\s/?#@:"'`<>\\«»]{16,512}))@(?=[\w.[-])/g;
/** A port with its path looks like a password: `localhost:8080/a@b`. A variable or a format is not one. */
const NO_PASSWORD = /^(?:\d{1,5}[/?#,;:)\]]|[${]|%[sd]$|\*+$)|\$\{|\{\{/;

/** The passwords and tokens in the addresses of a text, as written and decoded. */
export function urlPasswords(text: string): readonly string[] {
  const found: string[] = [];
  replaceUrlPasswords(text, (secret) => {
    found.push(secret, decoded(secret));
    return "";
  });
  return [...new Set(found)];
}

/** True when an address in the text holds a password or token, default ones such as `postgres` included. */
export function hasUrlLogin(text: string): boolean {
  return /:\/\/[^\s/?#@]*:[^\s@]+@|:\/\/[^\s/?#@:]{16,}@/.test(text);
}

/** The text with `mark(secret)` for each password in an address; defaults such as `postgres` remain. */
export function replaceUrlPasswords(text: string, mark: (secret: string) => string): string {
  if (!text.includes("://")) return text;
  return text.replace(LOGIN, (all, start: string, user = "", password = "", token = "") => {
    const secret = `${password}${token}`;
    if (NO_PASSWORD.test(secret) || !isSecretValue(secret) || (token !== "" && !/\d/.test(token))) return all;
    return `${start}${user}${mark(secret)}@`;
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that encodes nothing.
    return text;
  }
}
