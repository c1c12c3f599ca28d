import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { ListedPrompt } from "../../extensions/mcp/connection.ts";
import type { KnownServer, KnownServers } from "../../extensions/mcp/mcp-hub.ts";
import { replaceFile } from "../../system/replace-file.ts";
import type { UserPaths } from "../settings/paths.ts";

const VERSION = 1;
const MAX_BYTES = 5_000_000;

/** Remembers servers in the user's state, a file each. What cannot be read or written is forgotten. */
export function knownServerFiles({ stateFolder }: Pick<UserPaths, "stateFolder">): KnownServers {
  const folder = join(stateFolder, "mcp", "tools");
  const pathOf = (hash: string): string => join(folder, `${hash}.json`);
  return {
    read: (hash) => {
      try {
        const path = pathOf(hash);
        if (statSync(path).size > MAX_BYTES) return undefined;
        return serverIn(readFileSync(path, "utf8"));
      } catch {
        // Not there, or nothing we may read: then the server is asked.
        return undefined;
      }
    },
    write: (hash, server) => {
      const text = JSON.stringify({ version: VERSION, ...server });
      const path = pathOf(hash);
      try {
        if (text.length > MAX_BYTES || (existsSync(path) && readFileSync(path, "utf8") === text)) return;
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        replaceFile(path, text);
      } catch {
        // Costs the next run a moment, and nothing else.
      }
    },
  };
}

function serverIn(text: string): KnownServer | undefined {
  const parsed = safeParse(text);
  if (!parsed.ok || !isRecord(parsed.value) || parsed.value["version"] !== VERSION) return undefined;
  const { tools, prompts } = parsed.value;
  if (!Array.isArray(tools)) return undefined;
  return { tools: tools.filter(isListed), prompts: Array.isArray(prompts) ? prompts.filter(isPrompt) : [] };
}

function isListed(value: unknown): value is { readonly name: string } {
  return isRecord(value) && typeof value["name"] === "string";
}

function isPrompt(value: unknown): value is ListedPrompt {
  return isListed(value) && Array.isArray((value as Partial<ListedPrompt>).arguments);
}
