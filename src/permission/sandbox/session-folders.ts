import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolders } from "../../system/private-folders.ts";
import { ownIdentity, type ProcessIdentity, processState } from "../../system/process-identity.ts";
import { realPath } from "../../system/real-path.ts";
import type { SandboxFolders } from "./mount-plan.ts";

/** The folders of a session on disk. */
export interface SessionFolders extends SandboxFolders {
  /** The folder that takes what was put back; it outlives the session. */
  readonly kept: string;
  /** The file with what a killed session has left to look for. */
  readonly pending: string;
  readonly remove: () => void;
}

/** A session whose process is gone, with its file of what was left to look for. */
export interface EndedSession {
  readonly pending: string;
  readonly remove: () => void;
}

const OWNER = "owner.json";
const PENDING = "pending.json";

/** Makes the folders of a new session in a state folder. Caches stay with the workspace. */
export function makeSessionFolders(state: string, workspace: string): SessionFolders {
  const name = createHash("sha256").update(workspace).digest("hex").slice(0, 16);
  const [sessions, cache] = [join(state, "s"), join(state, "caches", name)];
  for (const folder of [sessions, cache]) makePrivateFolders(folder);
  // Short, for names of sockets have at most 107 bytes.
  const session = realPath(mkdtempSync(join(sessions, "x")));
  const own = join(session, "own");
  const [temporary, closed] = [join(session, "tmp"), join(own, "closed")];
  writeFileSync(join(session, OWNER), JSON.stringify(ownIdentity()), { mode: 0o600 });
  mkdirSync(temporary, { mode: 0o700 });
  mkdirSync(own, { mode: 0o700 });
  mkdirSync(closed, { mode: 0o000 });
  const pending = join(session, PENDING);
  const kept = join(state, "put-back");
  return { own, temporary, cache: realPath(cache), closed, kept, pending, remove: () => remove(session) };
}

/** The sessions that a killed process left in a state folder. */
export function endedSessions(state: string): readonly EndedSession[] {
  const sessions = join(state, "s");
  return namesIn(sessions).flatMap((name) => {
    const session = join(sessions, name);
    const owner = readOwner(join(session, OWNER));
    if (owner === undefined || processState(owner) !== "ended") return [];
    return [{ pending: join(session, PENDING), remove: () => remove(session) }];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // No session yet.
    return [];
  }
}

function readOwner(path: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ProcessIdentity;
  } catch {
    // Just being made, or being removed.
    return undefined;
  }
}

function remove(session: string): void {
  try {
    // Nobody enters it to see that it is empty.
    chmodSync(join(session, "own", "closed"), 0o700);
    rmSync(session, { recursive: true, force: true });
  } catch {
    // A folder that a command has closed: what is left is removed with the next session.
  }
}
