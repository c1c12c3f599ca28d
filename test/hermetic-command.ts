import { NO_LOCAL_SERVERS } from "../scripts/hermetic-environment.ts";
import { tempFolder } from "./temp-folder.ts";

/**
 * The environment of a command that a test starts: programs, an empty home, no model server, and what the
 * test adds.
 */
export function withVariables(
  added: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const all = { PATH: process.env["PATH"], HOME: tempFolder(), ...NO_LOCAL_SERVERS, ...added };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
