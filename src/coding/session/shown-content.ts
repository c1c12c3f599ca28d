import { createHash } from "node:crypto";
import type { FileContent } from "../../tools/files/file-port.ts";
import type { ShownChange } from "./question-diff.ts";

/** The digest of the file that a change was made from; `undefined` where nobody can say. */
export function contentOf(change: ShownChange | undefined): string | undefined {
  return change?.file && digestOf(change.file.content);
}

/** The digest of a file that is not there. */
export const NO_FILE = "none";

/** The digest of a file. */
export function digestOf(content: FileContent): string {
  if (content === undefined || content === "too large") return content ?? NO_FILE;
  return createHash("sha256").update(content).digest("hex");
}
