import type { CodingSession, CodingSessionOptions } from "./coding-session.ts";
import { prepareCodingSession } from "./prepare-coding-session.ts";

/**
 * Opens a coding session in a folder: settings, model, built-in tools, permission, undo, subagents and skills
 * as the command has them. Throws for settings that cannot be used, a session, model or folder that does not
 * exist, missing credentials, and a sandbox that does not work. Close it, or declare it with `await using`.
 */
export async function createCodingSession(options: CodingSessionOptions = {}): Promise<CodingSession> {
  return (await prepareCodingSession(options)).open();
}
