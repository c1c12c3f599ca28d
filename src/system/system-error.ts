import { isNanoAgentError } from "../core/base/errors.ts";

/** The system's name of an error (`ENOENT`); undefined for what is no error of the system. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || isNanoAgentError(error)) return undefined;
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** True when an error says that nothing stands at a path. */
export function isAbsent(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** The name of the system's error that others are about; `undefined`: they are about something else. */
export function systemCodeBehind(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = systemCode(each);
    if (code !== undefined) return code;
  }
  return undefined;
}
