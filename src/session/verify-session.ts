import { closeSync } from "node:fs";
import { idOfPath, sessionHeader } from "./inspect-session.ts";
import { RECORD_VERSION } from "./record.ts";
import { type DamagedLine, scanJournal } from "./scan-journal.ts";
import { openNamedFile } from "./session-file.ts";

/** The findings of a check of a session file. */
export interface SessionCheck {
  readonly file: string;
  readonly ok: boolean;
  /** Whole records. */
  readonly records: number;
  readonly damaged: readonly DamagedLine[];
  /** From the first record; the name of the file where that is damaged. */
  readonly session_id: string;
}

/** Checks every line of a session file, changing nothing. Throws `invalid_argument`: no readable file. */
export function verifySession(file: string): SessionCheck {
  const descriptor = openNamedFile(file);
  try {
    const { records, damaged, newer } = scanJournal(descriptor);
    const all =
      newer === undefined
        ? damaged
        : [
            ...damaged,
            { line: newer.line, reason: `version ${newer.version}, newer than ${RECORD_VERSION}` },
          ];
    return {
      file,
      ok: all.length === 0,
      records: records.length,
      damaged: all,
      session_id: sessionHeader(descriptor, records)?.sessionId ?? idOfPath(file),
    };
  } finally {
    closeSync(descriptor);
  }
}
