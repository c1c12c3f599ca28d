import { dirname, relative, sep } from "node:path";
import type { IsTrusted } from "../../extensions/markdown/origin.ts";
import type { TrustedProject } from "../../permission/trust/trusted-project.ts";
import { skillItem, textItem } from "./acting-files.ts";
import { readProjectFile } from "./project-files.ts";

const MAX_TEXT_BYTES = 1_000_000;

/**
 * Whether subagents, skills and commands of a project may act: their content as it is now must be what the
 * user approved. What may not is noted for the report. A subagent whose file changed after it was read is
 * another one, and is not trusted.
 */
export function extensionTrust(trust: TrustedProject): IsTrusted {
  return async ({ kind, path, contentHash }) => {
    const shown = (place: string): string => relative(trust.folder, place).split(sep).join("/");
    if (kind === "skill") {
      const folder = dirname(path);
      const item = skillItem(folder, shown(folder));
      return item !== undefined && trust.admits(item);
    }
    const text = readProjectFile(path, MAX_TEXT_BYTES)?.toString("utf8");
    const item =
      text === undefined
        ? undefined
        : await textItem(text, { kind: kind === "command" ? "command" : "agent", path: shown(path) });
    return item !== undefined && trust.admits(item) && item.hash === contentHash;
  };
}
