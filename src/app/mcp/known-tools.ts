import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newUuid } from "../../core/base/ids.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { ListedTool } from "../../extensions/mcp/connection.ts";
import type { KnownTools } from "../../extensions/mcp/mcp-hub.ts";
import type { UserPaths } from "../config/paths.ts";

const VERSION = 1;
const MAX_BYTES = 5_000_000;

/** Remembers lists of tools as files of the user's state, one a configuration. What cannot be read or written is not remembered. */
export function knownToolsFiles({ stateFolder }: Pick<UserPaths, "stateFolder">): KnownTools {
  const folder = join(stateFolder, "mcp", "tools");
  const pathOf = (hash: string): string => join(folder, `${hash}.json`);
  return {
    read: (hash) => {
      try {
        const path = pathOf(hash);
        if (statSync(path).size > MAX_BYTES) return undefined;
        return toolsIn(readFileSync(path, "utf8"));
      } catch {
        // Not there, or nothing we may read: then the server is asked.
        return undefined;
      }
    },
    write: (hash, tools) => {
      const text = JSON.stringify({ version: VERSION, tools });
      const path = pathOf(hash);
      const draft = `${path}.${newUuid()}.tmp`;
      try {
        if (text.length > MAX_BYTES || readIfThere(path) === text) return;
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
        renameSync(draft, path);
      } catch {
        // Costs the next run a moment, and nothing else.
        rmSync(draft, { force: true });
      }
    },
  };
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function toolsIn(text: string): readonly ListedTool[] | undefined {
  const parsed = safeParse(text);
  if (!parsed.ok || !isRecord(parsed.value) || parsed.value["version"] !== VERSION) return undefined;
  const { tools } = parsed.value;
  return Array.isArray(tools) ? tools.filter(isListed) : undefined;
}

function isListed(value: unknown): value is ListedTool {
  return isRecord(value) && typeof value["name"] === "string";
}
