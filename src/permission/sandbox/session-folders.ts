import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolders } from "../../system/private-folders.ts";
import { ownIdentity, type ProcessIdentity, processState } from "../../system/process-identity.ts";
import { realPath } from "../../system/real-path.ts";
import { smallText } from "../paths/git-settings.ts";

/** The folders of a session on disk. */
export interface SandboxFolders {
  /** The one around those below. */
  readonly session: string;
  /** Files that the wall needs inside: no command writes there. */
  readonly own: string;
  /** Temporary files of the session. */
  readonly temporary: string;
  /** Caches of tool chains, which stay with the workspace. */
  readonly cache: string;
  /** An empty folder that nobody may enter, put over folders that commands may not read. */
  readonly closed: string;
  /** The file with what a killed session has left to look for. */
  readonly pending: string;
}

const OWNER = "owner.json";

/** Makes the folders of a new session in a state folder. */
export function makeSessionFolders(state: string, workspace: string): SandboxFolders {
  const name = createHash("sha256").update(workspace).digest("hex").slice(0, 16);
  const [sessions, cache] = [join(state, "s"), join(state, "caches", name)];
  for (const folder of [sessions, cache]) makePrivateFolders(folder);
  // Short, for names of sockets have at most 107 bytes.
  const folders = foldersOf(realPath(mkdtempSync(join(sessions, "x"))), realPath(cache));
  writeFileSync(join(folders.session, OWNER), JSON.stringify(ownIdentity()), { mode: 0o600 });
  for (const folder of [folders.temporary, folders.own]) mkdirSync(folder, { mode: 0o700 });
  mkdirSync(folders.closed, { mode: 0o000 });
  return folders;
}

/** The folders of sessions that a killed process left in a state folder. */
export function endedSessions(state: string): readonly SandboxFolders[] {
  const sessions = join(state, "s");
  return namesIn(sessions)
    .map((name) => foldersOf(join(sessions, name), ""))
    .filter(({ session }) => {
      const owner = smallText(join(session, OWNER));
      // Without one it is just being made, or being removed.
      return owner !== undefined && processState(JSON.parse(owner) as ProcessIdentity) === "ended";
    });
}

/** Removes them, but for caches. Never throws: what a command has closed is left to the next session. */
export function removeSession({ session, closed }: SandboxFolders): void {
  try {
    // Nobody enters it to see that it is empty.
    chmodSync(closed, 0o700);
    rmSync(session, { recursive: true, force: true });
  } catch {
    // A folder that this user may not change.
  }
}

function foldersOf(session: string, cache: string): SandboxFolders {
  const [own, temporary] = [join(session, "own"), join(session, "tmp")];
  return {
    session,
    own,
    temporary,
    cache,
    closed: join(own, "closed"),
    pending: join(session, "pending.json"),
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // No session yet.
    return [];
  }
}
