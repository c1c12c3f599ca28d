import { closeSync, fsyncSync, unlinkSync, writeFileSync } from "node:fs";
import type { EntryBase } from "../core/agent/entries.ts";
import { errorMessage } from "../core/base/errors.ts";
import { createIds } from "../core/base/ids.ts";
import { parseRecord } from "./read-entries.ts";
import { encodeRecord, type SessionEntry } from "./record.ts";
import { sessionError, systemReason, withoutUnkept } from "./session-error.ts";
import { openSessionFile } from "./session-file.ts";
import { assertSessionId } from "./session-id.ts";

/** A session that was kept elsewhere. */
export interface ForeignRecords {
  readonly sessionId: string;
  readonly cwd: string;
  /** Lines of a session file without its first one, in order. */
  readonly records: readonly string[];
}

/** Writes a session file, which must not be there yet: all of it or none. Throws `journal`. */
export function writeSessionFile(path: string, { sessionId, cwd, records }: ForeignRecords): void {
  assertSessionId(sessionId, "The session id");
  const [line = "", ...others] = records;
  const first = parseRecord(line) as (EntryBase & { readonly type: string }) | undefined;
  const time = first?.time ?? Date.now();
  const header: SessionEntry = {
    id: createIds()("entry"),
    parent: null,
    time,
    type: "session",
    sessionId,
    cwd,
  };
  const descriptor = opened(path);
  try {
    writeFileSync(descriptor, encodeRecord(header).bytes);
    if (first !== undefined) writeFileSync(descriptor, encodeRecord({ ...first, parent: header.id }).bytes);
    for (const record of others) writeFileSync(descriptor, `${record}\n`);
    fsyncSync(descriptor);
  } catch (error) {
    unlinkSync(path);
    throw sessionError(`The session file ${path} cannot be written: ${systemReason(error)}.`, {
      cause: error,
    });
  } finally {
    closeSync(descriptor);
  }
}

function opened(path: string): number {
  try {
    return openSessionFile(path, "create");
  } catch (error) {
    // Whoever writes one has no run that could do without it.
    throw sessionError(withoutUnkept(errorMessage(error)), { cause: error });
  }
}
