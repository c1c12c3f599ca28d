import { safeParse } from "../../core/base/json.ts";
import { isCredentialName, isSecretValue } from "./credential-name.ts";
import type { Secret } from "./known-secrets.ts";
import { urlPasswords } from "./url-credentials.ts";

/** More is no set of credentials. */
const MAX_SECRETS = 500;
const MAX_LENGTH = 20_000;

/**
 * The secrets among named values (an environment, headers): values of at least 8 characters whose name says
 * that they are credentials, and passwords in addresses. Of values in several lines each line counts, of JSON
 * each text whose name says so.
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
  if (value.length > MAX_LENGTH) return [];
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
  if (isAddress || !isCredentialName(name)) return urlPasswords(value);
  const json = value.startsWith("{") ? jsonParts(value) : [];
  if (json.length > 0) return json;
  const lines = value.split("\n").map((line) => line.trim());
  if (lines.length > 1) return lines.filter((line) => line.length >= 16 && !line.startsWith("-----"));
  const secret = value.replace(/^(?:Bearer|Basic|Token)\s+/i, "");
  return isSecretValue(secret) ? [secret] : [];
}

function jsonParts(text: string): readonly string[] {
  const parts: string[] = [];
  const visit = (name: string, value: unknown): void => {
    if (typeof value === "string") parts.push(...partsOf(name, value.trim()));
    else if (typeof value === "object" && value !== null)
      for (const [key, item] of Object.entries(value)) visit(key, item);
  };
  const parsed = safeParse(text);
  if (parsed.ok) visit("", parsed.value);
  return parts;
}
