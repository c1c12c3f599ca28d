import { join } from "node:path";
import {
  parseTrustRecord,
  TrustedProject,
  type TrustRecord,
  trustRecordText,
} from "../../permission/trusted-project.ts";
import { systemCode } from "../../system/system-error.ts";
import type { UserPaths } from "../settings/paths.ts";
import { changePrivateFile, readPrivateFile } from "../settings/private-file.ts";

/** The user's approvals: none without a readable file. Throws `invalid_config` when it is damaged. */
export function readTrust(paths: Pick<UserPaths, "stateFolder">): TrustRecord {
  const path = join(paths.stateFolder, "trust.json");
  try {
    const text = readPrivateFile(path);
    return text === undefined ? new Map() : parseTrustRecord(text, path);
  } catch (error) {
    if (error instanceof Error && systemCode(error.cause) === "EACCES") return new Map();
    throw error;
  }
}

/** Changes what is approved. Throws `invalid_config` when the file cannot be read or written. */
export async function changeTrust(
  paths: Pick<UserPaths, "stateFolder">,
  change: (record: TrustRecord) => TrustRecord,
): Promise<void> {
  const path = join(paths.stateFolder, "trust.json");
  await changePrivateFile(path, (text) =>
    trustRecordText(change(text === undefined ? new Map() : parseTrustRecord(text, path))),
  );
}

/** The parts that may act of the project in `folder` (links resolved). */
export function openTrustedProject(folder: string, paths: Pick<UserPaths, "stateFolder">): TrustedProject {
  return new TrustedProject(folder, readTrust(paths).get(folder));
}
