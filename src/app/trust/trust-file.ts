import { join } from "node:path";
import { parseTrustRecord, TrustRecord } from "../../permission/trust/trust-record.ts";
import { TrustedProject } from "../../permission/trust/trusted-project.ts";
import { systemCode } from "../../system/system-error.ts";
import type { UserPaths } from "../config/paths.ts";
import { changePrivateFile, readPrivateFile } from "../config/private-file.ts";

/** Where it is kept what the user approved. */
export function trustFile({ stateFolder }: Pick<UserPaths, "stateFolder">): string {
  return join(stateFolder, "trust.json");
}

/** The approvals of the user so far: none without a readable file. Throws `invalid_config` for damage. */
export function readTrust(paths: Pick<UserPaths, "stateFolder">): TrustRecord {
  const path = trustFile(paths);
  const text = readable(path);
  return text === undefined ? new TrustRecord() : parseTrustRecord(text, path);
}

function readable(path: string): string | undefined {
  try {
    return readPrivateFile(path);
  } catch (error) {
    if (error instanceof Error && systemCode(error.cause) === "EACCES") return undefined;
    throw error;
  }
}

/** Changes what is approved. Throws `invalid_config` when the file cannot be read or written. */
export async function changeTrust(
  paths: Pick<UserPaths, "stateFolder">,
  change: (record: TrustRecord) => TrustRecord,
): Promise<void> {
  const path = trustFile(paths);
  await changePrivateFile(path, (text) => {
    const record = text === undefined ? new TrustRecord() : parseTrustRecord(text, path);
    return change(record).toText();
  });
}

/** The parts that may act of the project in `folder` (links resolved). */
export function openTrustedProject(folder: string, paths: Pick<UserPaths, "stateFolder">): TrustedProject {
  return new TrustedProject({ folder, approved: readTrust(paths).contentsOf(folder) });
}
