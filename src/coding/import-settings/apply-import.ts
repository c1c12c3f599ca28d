import { cpSync, existsSync, lstatSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { canonicalJson } from "../../core/base/json.ts";
import type { ConfigFile } from "../settings/config-schema.ts";
import { checkConfigText } from "../settings/load-config.ts";
import { configPath } from "../settings/paths.ts";
import { changePrivateFile } from "../settings/private-file.ts";
import type { ImportItem, ImportPlan } from "./import-plan.ts";

export interface ImportReport {
  readonly taken: readonly ImportItem[];
  readonly skipped: readonly { readonly item: ImportItem; readonly why: string }[];
}

type Setting = Extract<ImportItem, { readonly kind: "setting" | "rule" | "hook" | "mcp_server" }>;
type FileItem = Exclude<ImportItem, Setting>;

/** A place in the settings and its value: at the end of a list (`-1`) or under a free key. */
interface Edit {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** Applies a plan; existing entries stay. Throws `invalid_config` if the settings cannot be written. */
export async function applyImport(
  { items }: ImportPlan,
  { configFolder }: { readonly configFolder: string },
): Promise<ImportReport> {
  const taken: ImportItem[] = [];
  const skipped: { item: ImportItem; why: string }[] = [];
  const path = configPath({ configFolder });
  const settings = items.filter((item): item is Setting => !("to" in item));
  if (settings.length > 0)
    await changePrivateFile(path, async (text = "") => {
      const { editConfigText } = await import("../settings/parse-config.ts");
      let after = text;
      for (const item of settings) {
        const edit = editFor(item, await checkConfigText(after, path));
        if (typeof edit === "string") skipped.push({ item, why: edit });
        else {
          after = editConfigText(after, edit.path, edit.value);
          taken.push(item);
        }
      }
      // Parsed again before anything is written.
      await checkConfigText(after, path);
      return after;
    });
  for (const item of items.filter((each): each is FileItem => "to" in each)) {
    const why = copyItem(item, configFolder);
    if (why === undefined) taken.push(item);
    else skipped.push({ item, why });
  }
  return { taken, skipped };
}

function editFor(item: Setting, config: ConfigFile): Edit | string {
  if (item.kind === "setting")
    return config[item.key] === undefined
      ? { path: [item.key], value: item.value }
      : `${item.key} is ${config[item.key]} already`;
  if (item.kind === "mcp_server")
    return Object.hasOwn(config.mcpServers ?? {}, item.name)
      ? `there is an MCP server ${item.name} already`
      : { path: ["mcpServers", item.name], value: item.definition };
  const [path, list, value] =
    item.kind === "rule"
      ? [["permissions", item.action], config.permissions?.[item.action], item.rule]
      : [["hooks", item.event], config.hooks?.[item.event], item.group];
  if (list === undefined) return { path, value: [value] };
  if (!Array.isArray(list)) return `${path.join(".")} of your settings is not a list`;
  const exists = list.some((each) => canonicalJson(each) === canonicalJson(value));
  return exists ? "it is there already" : { path: [...path, -1], value };
}

/** Copies a file or folder, except its links. Returns the reason if that fails. */
function copyItem({ from, to, text }: FileItem, configFolder: string): string | undefined {
  const target = join(configFolder, to);
  if (existsSync(target)) return `there is one already: ${target}`;
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    if (text === undefined)
      cpSync(realpathSync(from), target, {
        recursive: true,
        errorOnExist: true,
        filter: (path) => !lstatSync(path).isSymbolicLink(),
      });
    else writeFileSync(target, text, { flag: "wx", mode: 0o600 });
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
