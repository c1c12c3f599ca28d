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
