import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { findProblem, optionSchema } from "../../core/base/check-options.ts";
import { errorMessage, invalidConfig } from "../../core/base/errors.ts";
import { canonicalJson, isRecord, ownValue, safeParse } from "../../core/base/json.ts";
import { commandParts } from "../../extensions/commands/expand-command.ts";
import { field } from "../../extensions/markdown/fields.ts";
import { parseMarkdown } from "../../extensions/markdown/front-matter.ts";
import type { IsTrusted } from "../../extensions/markdown/origin.ts";
import { extensionFiles } from "../../extensions/modules/extension-files.ts";
import { systemCode } from "../../system/system-error.ts";
import type { LeftOut } from "../../view/notice.ts";
import type { UserPaths } from "../settings/paths.ts";
import { changePrivateFile, readPrivateFile, readSettingsFile } from "../settings/private-file.ts";

const MAX_TEXT_BYTES = 1_000_000;
const MAX_ENTRIES = 500;
const MAX_FOLDER_FILES = 200;
const MAX_FOLDER_BYTES = 5_000_000;

const AGENT_FOLDERS = [".nano-agent/agents", ".claude/agents"];
const SKILL_FOLDERS = [".agents/skills", ".claude/skills", ".nano-agent/skills"];
const COMMAND_FOLDERS = [".nano-agent/commands", ".claude/commands"];
export const EXTENSION_FOLDER = ".nano-agent/extensions";

/** Finds the files of a project that can act. Reads only, and follows no links inside a skill. */
export async function findActingFiles(root: string, folders: readonly string[]): Promise<readonly LeftOut[]> {
  const items: (LeftOut | undefined)[] = [];
  for (const folder of folders) {
    const below = (name: string): string => join(folder, name);
    for (const found of findProjectServers(root, folder)) if ("item" in found) items.push(found.item);
    for (const skills of SKILL_FOLDERS.map(below))
      items.push(...namesIn(skills, MAX_ENTRIES).map((name) => skillItem(root, join(skills, name))));
    for (const agents of AGENT_FOLDERS.map(below))
      for (const name of namesIn(agents, MAX_ENTRIES))
        items.push(await textItem(root, join(agents, name), "agent"));
    // Commands may be in subfolders.
    for (const commands of COMMAND_FOLDERS.map(below))
      for (const { path } of filesBelow(commands, MAX_ENTRIES) ?? [])
        items.push(await textItem(root, join(commands, path), "command"));
    items.push(...extensionItems(root, below(EXTENSION_FOLDER)));
  }
  return items.filter((item) => item !== undefined);
}

/** A server in a project's `.mcp.json`, or a problem with that file. `path` is relative to the project. */
export type ProjectServer =
  | { readonly path: string; readonly name: string; readonly server: unknown; readonly item: LeftOut }
  | { readonly path: string; readonly fault: string };

/** Servers in the `.mcp.json` of a project folder. A changed definition counts as another server. */
export function findProjectServers(root: string, folder: string): readonly ProjectServer[] {
  const path = projectPath(root, join(folder, ".mcp.json"));
  try {
    const text = readSettingsFile(join(folder, ".mcp.json"), MAX_TEXT_BYTES)?.toString("utf8");
    if (text === undefined) return [];
    const parsed = safeParse(text);
    const servers = parsed.ok && isRecord(parsed.value) ? ownValue(parsed.value, "mcpServers") : undefined;
    if (!isRecord(servers)) throw invalidConfig('it is not JSON with an object "mcpServers". Correct it.');
    return Object.entries(servers).map(([name, server]) => {
      const hash = contentHash(canonicalJson(server));
      const item = { kind: "mcp_server", path: `${path}#${name}`, hash, does: serverEffect(server) } as const;
      return { path, name, server, item };
    });
  } catch (error) {
    return [{ path, fault: `is not used: ${errorMessage(error)}` }];
  }
}

/** The effect of an MCP server, from its raw definition. */
export function serverEffect(server: unknown): string {
  const { type: _type, command, args, url, ...others } = isRecord(server) ? server : {};
  const more = Object.keys(others).length === 0 ? "" : `, with ${canonicalJson(others)}`;
  if (typeof url === "string") return `connects to ${url}${more}`;
  if (typeof command !== "string") return "is an MCP server of no known form";
  const words = Array.isArray(args) ? args.filter((word) => typeof word === "string") : [];
  return `starts ${[command, ...words].join(" ")}${more}`;
}

/** The item for a skill folder; `undefined` if it is only text or has no `SKILL.md`. */
function skillItem(root: string, folder: string): LeftOut | undefined {
  const files = filesBelow(folder, MAX_FOLDER_FILES);
  if (files?.some(({ path }) => path === "SKILL.md") === false) return undefined;
  const acting = files?.filter(
    ({ path, isFile, isExecutable }) => !/\.(?:md|txt)$/i.test(path) || isExecutable || !isFile,
  );
  if (acting?.length === 0) return undefined;
  const does = `brings ${acting?.map(({ path }) => path).join(", ") ?? "many files"}`;
  return folderItem({ kind: "skill", path: projectPath(root, folder), does }, folder, files);
}

/** One item for a folder of extensions, since its files can affect each other. Empty if there are none. */
export function extensionItems(root: string, folder: string): readonly LeftOut[] {
  const names = extensionFiles([{ path: folder, origin: "project" }]).map(({ name }) => name);
  if (names.length === 0) return [];
  const does = `loads ${names.join(", ")} into the agent`;
  const item = { kind: "extension", path: projectPath(root, folder), does } as const;
  return [folderItem(item, folder, filesBelow(folder, MAX_FOLDER_FILES))];
}

/** The trust item of a folder. Its hash changes with the name, mode or content of any file in it. */
function folderItem(
  item: Pick<LeftOut, "kind" | "path" | "does">,
  folder: string,
  files: readonly FoundFile[] | undefined,
): LeftOut {
  const blocked = (why: string): LeftOut => ({ ...item, hash: "", blocked: why });
  if (files === undefined) return blocked(`it has more than ${MAX_FOLDER_FILES} files`);
  const irregular = files.find(({ isFile }) => !isFile);
  if (irregular !== undefined) return blocked(`${irregular.path} is a link or no regular file`);
  let bytesLeft = MAX_FOLDER_BYTES;
  const parts: string[] = [];
  for (const { path, isExecutable } of files) {
    const content = readProjectFile(join(folder, path), bytesLeft);
    if (content === undefined)
      return blocked(`it cannot be read, or has more than ${MAX_FOLDER_BYTES} bytes`);
    bytesLeft -= content.length;
    parts.push(canonicalJson([path, isExecutable, contentHash(content)]));
  }
  return { ...item, hash: contentHash(parts.join("\n")) };
}

/** The item for a subagent or command file; `undefined` for a command that is only text. */
async function textItem(root: string, file: string, kind: "agent" | "command"): Promise<LeftOut | undefined> {
  const text = file.endsWith(".md") ? readProjectFile(file, MAX_TEXT_BYTES)?.toString("utf8") : undefined;
  const document = text === undefined ? undefined : await parseMarkdown(text);
  if (text === undefined || document === undefined || "fault" in document) return undefined;
  const { fields, body } = document;
  const does = Object.entries(fields)
    .filter(([name, value]) => ACTING_FIELD.test(name) && value !== null)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : canonicalJson(value)}`);
  // A subagent that names no tools gets all of them.
  if (kind === "agent" && field(fields, "tools") === undefined) does.push("has every tool");
  const commands = commandParts(body).flatMap((part) => (part.type === "run" ? [part.command] : []));
  if (kind === "command" && commands.length > 0) does.push(`runs ${commands.join("; ")}`);
  if (does.length === 0) return undefined;
  return { kind, path: projectPath(root, file), hash: contentHash(text), does: does.join("; ") };
}

const ACTING_FIELD =
  /^(?:tools|model|allowed-?tools|permission-?mode|permissions|hooks|mcp-?servers|sandbox|env|base-?url|headers)$/i;

/** Trusts a project's subagents, skills and commands whose content is still what the user approved. */
export function extensionTrust(trust: TrustedProject): IsTrusted {
  return async ({ kind, path, contentHash: read }) => {
    const item =
      kind === "skill"
        ? skillItem(trust.folder, dirname(path))
        : await textItem(trust.folder, path, kind === "command" ? "command" : "agent");
    return item !== undefined && trust.admits(item) && (kind === "skill" || item.hash === read);
  };
}

/** The bytes of a regular file of at most `maxBytes`; `undefined` for any other. Never blocks. */
function readProjectFile(path: string, maxBytes: number): Buffer | undefined {
  try {
    return readSettingsFile(path, maxBytes);
  } catch {
    // A file that cannot be read cannot act through us either.
    return undefined;
  }
}

/** The path to show and approve: relative to the project folder, with `/`. */
export function projectPath(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

/** At most `max` sorted names in a folder; none if there is no folder. */
function namesIn(folder: string, max: number): readonly string[] {
  try {
    return readdirSync(folder).sort().slice(0, max);
  } catch {
    return [];
  }
}

/** A file below a folder, found without following links. */
interface FoundFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** False for a link, a pipe or a device. */
  readonly isFile: boolean;
  readonly isExecutable: boolean;
}

/** The files below a folder, sorted by path; `undefined` if there are more than `max`. */
function filesBelow(folder: string, max: number): readonly FoundFile[] | undefined {
  const found: FoundFile[] = [];
  const pending = [""];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (const name of namesIn(join(folder, parent), max + 1)) {
      const path = parent === "" ? name : `${parent}/${name}`;
      const stats = lstatSync(join(folder, path), { throwIfNoEntry: false });
      if (stats?.isDirectory()) pending.push(path);
      else if (stats !== undefined)
        found.push({ path, isFile: stats.isFile(), isExecutable: (stats.mode & 0o111) !== 0 });
      if (found.length + pending.length > max) return undefined;
    }
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** The hash by which content is approved. Equal content has equal hashes, whatever the file name. */
export function contentHash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The key of an item in a trust record, independent of its content. */
export function itemKey({ kind, path }: Pick<LeftOut, "kind" | "path">): string {
  return `${kind} ${path}`;
}

/** Only the exact content approved in this exact folder may act. Everything else is left out. */
export class TrustedProject {
  /** The root of the project's repository, else the working folder; links resolved. */
  readonly folder: string;
  readonly #approved: TrustedContents;
  readonly #leftOut = new Map<string, LeftOut>();

  constructor(folder: string, approved: TrustedContents = new Map()) {
    this.folder = folder;
    this.#approved = approved;
  }

  /** The items that {@link admits} refused, in that order. */
  get leftOut(): readonly LeftOut[] {
    return [...this.#leftOut.values()];
  }

  isTrusted(item: LeftOut): boolean {
    return item.blocked === undefined && this.#approved.get(itemKey(item)) === item.hash;
  }

  /** Like {@link isTrusted}, but records a refused item in {@link leftOut}. */
  admits(item: LeftOut): boolean {
    const isTrusted = this.isTrusted(item);
    if (!isTrusted) this.#leftOut.set(itemKey(item), item);
    return isTrusted;
  }
}

/** Hash by item. */
type TrustedContents = ReadonlyMap<string, string>;
/** A user's approvals, by the real path of the folder. */
type TrustRecord = ReadonlyMap<string, TrustedContents>;

/** The user's approvals; empty without a readable file. Throws `invalid_config` if it is damaged. */
export function readTrust(paths: Pick<UserPaths, "stateFolder">): TrustRecord {
  const path = trustFile(paths);
  try {
    return recordIn(readPrivateFile(path), path);
  } catch (error) {
    if (error instanceof Error && systemCode(error.cause) === "EACCES") return new Map();
    throw error;
  }
}

/**
 * Approves items of a folder in addition to the earlier ones that `keeps` accepts; blocked ones never. Throws
 * `invalid_config` if the file cannot be read or written.
 */
export async function changeTrust(
  paths: Pick<UserPaths, "stateFolder">,
  folder: string,
  items: readonly LeftOut[],
  { keeps }: { readonly keeps: boolean },
): Promise<void> {
  const path = trustFile(paths);
  await changePrivateFile(path, (text) => {
    const record = new Map(recordIn(text, path));
    const added = items.flatMap((item): [string, string][] =>
      item.blocked === undefined ? [[itemKey(item), item.hash]] : [],
    );
    const contents = new Map([...(keeps ? (record.get(folder) ?? []) : []), ...added]);
    if (contents.size > 0) record.set(folder, contents);
    else record.delete(folder);
    const folders = [...record].map(([each, all]) => [each, Object.fromEntries(all)]);
    return `${JSON.stringify({ version: VERSION, folders: Object.fromEntries(folders) }, null, 2)}\n`;
  });
}

/** The parts of the project in `folder` (links resolved) that may act. */
export function openTrustedProject(folder: string, paths: Pick<UserPaths, "stateFolder">): TrustedProject {
  return new TrustedProject(folder, readTrust(paths).get(folder));
}

function trustFile({ stateFolder }: Pick<UserPaths, "stateFolder">): string {
  return join(stateFolder, "trust.json");
}

const VERSION = 1;
const HASHES = { type: "object", additionalProperties: { type: "string", pattern: "^[0-9a-f]{64}$" } };
const RECORD = optionSchema({
  type: "object",
  properties: { version: { const: VERSION }, folders: { type: "object", additionalProperties: HASHES } },
  required: ["version", "folders"],
});

function recordIn(text: string | undefined, path: string): TrustRecord {
  if (text === undefined) return new Map();
  const parsed = safeParse(text);
  if (!parsed.ok || findProblem(parsed.value, RECORD, path) !== undefined)
    throw invalidConfig(
      `${path} is damaged or of another version. Remove it and approve again what you trust, with nano-agent trust.`,
    );
  const { folders } = parsed.value as { readonly folders: { readonly [folder: string]: object } };
  return new Map(Object.entries(folders).map(([folder, all]) => [folder, new Map(Object.entries(all))]));
}
