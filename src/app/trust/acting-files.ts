import { dirname, join } from "node:path";
import { canonicalJson, isRecord, ownValue, safeParse } from "../../core/base/json.ts";
import { commandParts } from "../../extensions/commands/expand-command.ts";
import { field } from "../../extensions/markdown/fields.ts";
import { parseMarkdown } from "../../extensions/markdown/front-matter.ts";
import type { IsTrusted } from "../../extensions/markdown/origin.ts";
import { extensionFiles } from "../../extensions/modules/extension-files.ts";
import { contentHash, type TrustItem } from "../../permission/trust/trust-item.ts";
import type { TrustedProject } from "../../permission/trust/trusted-project.ts";
import {
  type FoundFile,
  filesBelow,
  isThere,
  namesIn,
  projectPath,
  readProjectFile,
} from "./project-files.ts";

const MAX_TEXT_BYTES = 1_000_000;
const MAX_ENTRIES = 500;
const MAX_SKILL_FILES = 200;
const MAX_SKILL_BYTES = 5_000_000;

/** Folders of a project that hold subagents, skills and commands. */
const AGENT_FOLDERS = [".nano-agent/agents", ".claude/agents"];
const SKILL_FOLDERS = [".agents/skills", ".claude/skills", ".nano-agent/skills"];
const COMMAND_FOLDERS = [".nano-agent/commands", ".claude/commands"];
/** Extensions of a project, relative to one of its folders. */
export const EXTENSION_FOLDER = ".nano-agent/extensions";

/**
 * Finds the files of a project that can act: MCP servers of `.mcp.json`, skills with more than their text,
 * subagents and commands that ask for tools or run something, extensions. `folders` as settings have them,
 * root first. Reads only; starts nothing and follows no link inside a skill.
 */
export async function findActingFiles(
  root: string,
  folders: readonly string[],
): Promise<readonly TrustItem[]> {
  const items: TrustItem[] = [];
  for (const folder of folders) {
    items.push(...serversOf(root, folder).flatMap((found) => ("item" in found ? [found.item] : [])));
    items.push(...SKILL_FOLDERS.flatMap((name) => skillItems(root, join(folder, name))));
    for (const name of AGENT_FOLDERS) items.push(...(await textItems(root, join(folder, name), "agent")));
    for (const name of COMMAND_FOLDERS) items.push(...(await textItems(root, join(folder, name), "command")));
    items.push(...extensionItems(root, join(folder, EXTENSION_FOLDER)));
  }
  return items;
}

/** A server of a project's `.mcp.json`, or a fault of that file. `path` is relative to the project. */
export type ProjectServer =
  | { readonly path: string; readonly name: string; readonly server: unknown; readonly item: TrustItem }
  | { readonly path: string; readonly fault: string };

/** Servers of a project's `.mcp.json` files, the nearest last. A changed definition is another server. */
export function findProjectServers(root: string, folders: readonly string[]): readonly ProjectServer[] {
  return folders.flatMap((folder) => serversOf(root, folder));
}

function serversOf(root: string, folder: string): readonly ProjectServer[] {
  const file = join(folder, ".mcp.json");
  const path = projectPath(root, file);
  const text = readProjectFile(file, MAX_TEXT_BYTES)?.toString("utf8");
  if (text === undefined && !isThere(file)) return [];
  if (text === undefined) return [{ path, fault: `is not used: ${UNREADABLE}` }];
  const parsed = safeParse(text);
  if (!parsed.ok)
    return [{ path, fault: `is not used: the file is not JSON (${parsed.error}). Correct it.` }];
  const { value } = parsed;
  const servers = isRecord(value) ? ownValue(value, "mcpServers") : undefined;
  if (!isRecord(servers))
    return [{ path, fault: 'is not used: the file has no object "mcpServers". Correct or remove it.' }];
  return Object.entries(servers).map(([name, server]) => ({
    path,
    name,
    server,
    item: mcpServerItem(`${path}#${name}`, server),
  }));
}

const UNREADABLE = `it is not a file of at most ${MAX_TEXT_BYTES} bytes that can be read. Correct or remove it.`;

/** The item of an MCP server; `path` is the file's, `#` and its name. `server`: its raw definition. */
export function mcpServerItem(path: string, server: unknown): TrustItem {
  return { kind: "mcp_server", path, hash: contentHash(canonicalJson(server)), does: serverDoes(server) };
}

function serverDoes(server: unknown): string {
  const { command, args, url, env, headers, cwd, oauth } = isRecord(server) ? server : {};
  const words = [command, ...(Array.isArray(args) ? (args as readonly unknown[]) : [])].filter(
    (word) => typeof word === "string",
  );
  const having = [
    ...pairs(env, (name, value) => `${name}=${value}`),
    ...pairs(headers, (name, value) => `the header ${name}: ${value}`),
    ...pairs(oauth, (name, value) => `oauth.${name}=${value}`),
  ];
  const more = having.length === 0 ? "" : `, with ${having.join(", ")}`;
  const place = typeof cwd === "string" ? ` in ${cwd}` : "";
  const asks = isRecord(server) && server["sampling"] === true ? ", and may ask the model" : "";
  if (typeof url === "string") return `connects to ${url}${more}${asks}`;
  return words.length > 0
    ? `starts ${words.join(" ")}${place}${more}${asks}`
    : "is an MCP server of no known form";
}

function pairs(value: unknown, words: (name: string, text: string) => string): readonly string[] {
  return isRecord(value) ? Object.entries(value).map(([name, text]) => words(name, String(text))) : [];
}

function skillItems(root: string, folder: string): readonly TrustItem[] {
  return namesIn(folder, MAX_ENTRIES).flatMap((name) => skillItem(root, join(folder, name)) ?? []);
}

/**
 * The item of a skill's folder; `undefined` for one that is text alone, and for a folder without `SKILL.md`.
 * Every file counts, so that a changed script is another skill.
 */
function skillItem(root: string, folder: string): TrustItem | undefined {
  const files = filesBelow(folder, MAX_SKILL_FILES);
  const item = { kind: "skill", path: projectPath(root, folder) } as const;
  if (files === undefined) return { ...item, ...TOO_MANY, does: "holds many files" };
  if (!files.some((file) => file.path === "SKILL.md")) return undefined;
  const others = files.filter(
    (file) => !/\.(?:md|txt)$/i.test(file.path) || file.isExecutable || file.type === "other",
  );
  if (others.length === 0) return undefined;
  const names = others.map((file) => file.path);
  const does = `brings ${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""}`;
  return { ...item, does, ...folderContent(folder, files) };
}

const TOO_MANY = { hash: "", blocked: `it has more than ${MAX_SKILL_FILES} files` } as const;

/** The content of all files of a folder, or why it can never be approved. */
function folderContent(folder: string, files: readonly FoundFile[]): Pick<TrustItem, "hash" | "blocked"> {
  const odd = files.find((file) => file.type === "other");
  if (odd !== undefined) return { hash: "", blocked: `${odd.path} is a link or no regular file` };
  let left = MAX_SKILL_BYTES;
  const parts: string[] = [];
  for (const file of files) {
    const content = readProjectFile(join(folder, file.path), left);
    if (content === undefined)
      return { hash: "", blocked: `it cannot be read, or has more than ${MAX_SKILL_BYTES} bytes` };
    left -= content.length;
    parts.push(canonicalJson([file.path, file.isExecutable, contentHash(content)]));
  }
  return { hash: contentHash(parts.join("\n")) };
}

/** The item of a folder of extensions, as one: its files may change each other. None without any. */
export function extensionItems(root: string, folder: string): readonly TrustItem[] {
  const names = extensionFiles([{ path: folder, origin: "project" }]).map(({ name }) => name);
  if (names.length === 0) return [];
  const path = projectPath(root, folder);
  const item = { kind: "extension", path, does: `loads ${names.join(", ")} into the agent` } as const;
  const files = filesBelow(folder, MAX_SKILL_FILES);
  return [{ ...item, ...(files === undefined ? TOO_MANY : folderContent(folder, files)) }];
}

async function textItems(
  root: string,
  folder: string,
  kind: "agent" | "command",
): Promise<readonly TrustItem[]> {
  // Commands may lie in folders.
  const names =
    kind === "agent"
      ? namesIn(folder, MAX_ENTRIES)
      : (filesBelow(folder, MAX_ENTRIES) ?? []).map((file) => file.path);
  const items: TrustItem[] = [];
  for (const name of names.filter((each) => each.endsWith(".md")))
    items.push(...(await textItem(root, join(folder, name), kind)));
  return items;
}

/**
 * The item of a subagent or command file; none for a command that is text alone and asks for nothing, and for
 * a file that nobody can use. What it does is told from its fields as whoever uses them reads them.
 */
async function textItem(
  root: string,
  file: string,
  kind: "agent" | "command",
): Promise<readonly TrustItem[]> {
  const text = readProjectFile(file, MAX_TEXT_BYTES)?.toString("utf8");
  const document = text === undefined ? undefined : await parseMarkdown(text);
  if (text === undefined || document === undefined || "fault" in document) return [];
  const { fields, body } = document;
  const asks = Object.entries(fields)
    .filter(([name, value]) => ACTING_FIELD.test(name) && value !== null)
    .map(([name, value]) => `${name}: ${fieldText(value)}`);
  // A subagent that names no tools has all of them.
  const hasAll = kind === "agent" && field(fields, "tools") === undefined ? ["has every tool"] : [];
  const commands = commandParts(body).flatMap((part) => (part.type === "run" ? [part.command] : []));
  const runs = kind === "command" && commands.length > 0 ? [`runs ${commands.join("; ")}`] : [];
  const all = [...asks, ...hasAll, ...runs];
  const path = projectPath(root, file);
  return all.length === 0 ? [] : [{ kind, path, hash: contentHash(text), does: all.join("; ") }];
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return value;
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
  return isList ? value.join(", ") : canonicalJson(value);
}

const ACTING_FIELD =
  /^(?:tools|model|allowed-?tools|permission-?mode|permissions|hooks|mcp-?servers|sandbox|env|base-?url|headers)$/i;

/**
 * The trust in subagents, skills and commands of a project: their content as it is now must be what the user
 * approved. What may not is noted for the report. A subagent whose file changed after it was read is another
 * one, and is not trusted.
 */
export function extensionTrust(trust: TrustedProject): IsTrusted {
  return async ({ kind, path, contentHash: read }) => {
    const isSkill = kind === "skill";
    const [item] = isSkill
      ? [skillItem(trust.folder, dirname(path))]
      : await textItem(trust.folder, path, kind === "command" ? "command" : "agent");
    return item !== undefined && trust.admits(item) && (isSkill || item.hash === read);
  };
}
