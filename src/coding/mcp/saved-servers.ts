import { join } from "node:path";
import { invalidConfig } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import { checkConfigText } from "../settings/load-config.ts";
import { parseConfigText } from "../settings/parse-config.ts";
import { editPrivateFile } from "../settings/saved-rules.ts";

/** The file in a folder that holds the servers for everybody who works on it. */
export function projectServersFile(folder: string): string {
  return join(folder, ".mcp.json");
}

/** Saves a server in a settings file, or removes it (`undefined`). Resolves to the previous definition. */
export async function saveServer(
  path: string,
  name: string,
  definition: object | undefined,
): Promise<unknown> {
  const read = path.endsWith(".mcp.json") ? readServersFile : checkConfigText;
  const before = await editPrivateFile(
    path,
    async (text) => ({ mcpServers: (await read(text, path)).mcpServers ?? {} }),
    ({ mcpServers }) =>
      mcpServers[name] === undefined && definition === undefined
        ? undefined
        : { path: ["mcpServers", name], value: definition },
  );
  return before?.mcpServers[name];
}

function readServersFile(
  text: string,
  path: string,
): { readonly mcpServers?: { readonly [name: string]: unknown } } {
  const parsed = parseConfigText(text);
  if ("fault" in parsed) throw invalidConfig(`${path}:${parsed.line}: ${parsed.fault}.`);
  const servers = isRecord(parsed.value) ? parsed.value["mcpServers"] : undefined;
  return isRecord(servers) ? { mcpServers: servers } : {};
}
