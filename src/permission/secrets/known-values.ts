import { isRecord, safeParse } from "../../core/base/json.ts";
import type { Secret } from "./known-secrets.ts";
import { isCredentialName, looksSecret } from "./secret-value.ts";
import { urlPasswords } from "./url-credentials.ts";

/** More is no set of credentials. */
const MAX_SECRETS = 500;
const MAX_LENGTH = 20_000;

/**
 * The secrets among named values (an environment, headers): the values whose name says so and that look like
 * one, and passwords in addresses. Values of several lines, and JSON, are taken apart: their lines, the texts
 * under names of credentials.
 */
export function secretsOf(values: { readonly [name: string]: string | undefined }): readonly Secret[] {
  const secrets = new Map<string, Secret>();
  for (const [name, value] of Object.entries(values)) {
    for (const part of partsOf(name, value?.trim() ?? "")) {
      if (secrets.size < MAX_SECRETS && !secrets.has(part)) secrets.set(part, { name, value: part });
    }
  }
  return [...secrets.values()];
}

function partsOf(name: string, value: string): readonly string[] {
  if (value.length < 8 || value.length > MAX_LENGTH) return [];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return urlPasswords(value).filter((part) => part.length >= 6);
  const embedded = urlPasswords(value);
  if (!isCredentialName(name)) return embedded;
  if (value.startsWith("{")) return jsonParts(value);
  if (!value.includes("\n")) return looksSecret(withoutScheme(value)) ? [withoutScheme(value)] : embedded;
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= 16 && !line.startsWith("-----") && looksSecret(line));
}

/** `Bearer abc` is `abc`. */
function withoutScheme(value: string): string {
  return value.replace(/^(?:Bearer|Basic|Token)\s+/i, "");
}

function jsonParts(text: string): readonly string[] {
  const parts: string[] = [];
  const visit = (name: string, value: unknown): void => {
    if (typeof value === "string") parts.push(...partsOf(name, value.trim()));
    else if (isRecord(value)) for (const [key, item] of Object.entries(value)) visit(key, item);
  };
  const parsed = safeParse(text);
  if (!parsed.ok) return looksSecret(text) ? [text] : [];
  visit("secret", parsed.value);
  return parts;
}
