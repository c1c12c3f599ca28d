import { join } from "node:path";
import { invalidConfig } from "../../core/base/errors.ts";
import { equalJson, isRecord } from "../../core/base/json.ts";
import { checkConfigText } from "../settings/load-config.ts";
import { editConfigText, parseConfigText } from "../settings/parse-config.ts";
import { changePrivateFile } from "../settings/private-file.ts";

/** The file of a folder, in which servers are kept for everybody who works on it. */
export function projectServersFile(folder: string): string {
  return join(folder, ".mcp.json");
}

/**
 * Puts a server into a file of settings, or takes it out (`undefined`); comments and layout stay. Resolves to
 * the definition that was there. Throws `invalid_config` when the file cannot be read or written; it is then
 * as it was.
 */
export async function saveServer(
  path: string,
  name: string,
  definition: object | undefined,
): Promise<unknown> {
  let before: unknown;
  const isSettings = !path.endsWith(".mcp.json");
  await changePrivateFile(path, async (text = "") => {
    before = (await serversIn(text, { path, isSettings }))[name];
    if (before === undefined && definition === undefined) return text;
    const after = editConfigText(text, ["mcpServers", name], definition);
    // Read back before anything is written: nothing else may come out of an edit.
    if (equalJson((await serversIn(after, { path, isSettings }))[name] ?? null, definition ?? null))
      return after;
    throw invalidConfig(`${path} could not be changed. Change "mcpServers" by hand.`);
  });
  return before;
}

async function serversIn(
  text: string,
  { path, isSettings }: { readonly path: string; readonly isSettings: boolean },
): Promise<{ readonly [name: string]: unknown }> {
  if (isSettings) return (await checkConfigText(text, path)).mcpServers ?? {};
  const parsed = parseConfigText(text);
  if ("fault" in parsed) throw invalidConfig(`${path}:${parsed.line}: ${parsed.fault}.`);
  const servers = isRecord(parsed.value) ? parsed.value["mcpServers"] : undefined;
  return isRecord(servers) ? servers : {};
}
