import { isNanoAgentError } from "../core/base/errors.ts";

/** The code of a system error (`ENOENT`); undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || isNanoAgentError(error)) return undefined;
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** True if an error means that nothing exists at a path. */
export function isNotFound(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** The code of the system error in the chain of causes; `undefined` if there is none. */
export function rootSystemCode(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = systemCode(each);
    if (code !== undefined) return code;
  }
  return undefined;
}
