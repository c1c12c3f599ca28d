import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { Tool } from "../../core/tool/tool.ts";
import type { HookHandler } from "../../extensions/command-hooks/read-hooks.ts";
import { type Finding, sourceFolders } from "../../extensions/markdown/origin.ts";
import { type ExtensionFile, extensionFiles } from "../../extensions/modules/extension-files.ts";
import type { LoadExtensionsOptions, LoadedExtension } from "../../extensions/modules/load-extensions.ts";
import { type OnNotice, warnAbout } from "../../view/notice.ts";
import { EXTENSION_FOLDER, extensionItems, extensionTrust } from "../project/acting-files.ts";
import type { SessionCommand } from "../session/session-command.ts";
import { EXTRA_TOOLS } from "../settings/config-schema.ts";
import type { Settings } from "../settings/settings.ts";
import { MEMORY_TOOLS } from "../setup/open-memory.ts";

export interface Plugins {
  readonly settings: Settings;
  readonly tools: readonly Tool[];
  readonly commands: readonly SessionCommand[];
  readonly handlers: readonly HookHandler[];
  readonly status: () => readonly string[];
}

interface OpenPluginsOptions extends Pick<LoadExtensionsOptions, "adoptErrors" | "stopSignal"> {
  /** Tools whose names are already taken. */
  readonly taken: readonly Tool[];
  readonly onNotice: OnNotice;
}

/** Reads command files and loads extensions. Reports unusable ones. Never rejects. */
export async function openPlugins(
  settings: Settings,
  { taken, adoptErrors, stopSignal, onNotice }: OpenPluginsOptions,
): Promise<Plugins> {
  const warn = warnAbout("extension", onNotice);
  const extensions = await loadFoundExtensions(settings, { adoptErrors, stopSignal, onFailure: warn });
  const commands = await fileCommands(settings, warn);
  const reserved = ["task", "skill", "finish", ...MEMORY_TOOLS, ...EXTRA_TOOLS];
  const names = new Set([...taken.map(({ name }) => name), ...reserved]);
  const tools: Tool[] = [];
  for (const { name: extension, tools: own } of extensions)
    for (const tool of own) {
      if (names.has(tool.name))
        warn(`the tool ${tool.name} of the extension ${extension} is left out: there is one of that name`);
      else tools.push(tool);
      names.add(tool.name);
    }
  return {
    settings: withProviders(settings, extensions),
    tools,
    commands: [...commands, ...(await extensionCommands(settings, extensions, commands, warn))],
    handlers: extensions.flatMap(({ hooks }) => hooks),
    status: () =>
      extensions
        .flatMap(({ statuses }) => statuses.map((render) => render()))
        .filter((text): text is string => typeof text === "string" && text !== ""),
  };
}

async function loadFoundExtensions(
  settings: Settings,
  options: Pick<LoadExtensionsOptions, "adoptErrors" | "stopSignal" | "onFailure">,
): Promise<readonly LoadedExtension[]> {
  const { onFailure: warn } = options;
  const { files, findings: missing } = findExtensionFiles(settings);
  reportProblems(missing, { warn });
  if (files.length === 0) return [];
  const { loadExtensions } = await import("./plugin-loaders.ts");
  const { extensions, findings } = await loadExtensions(files, { cwd: settings.cwd, ...options });
  reportProblems(findings, { warn });
  return extensions;
}

async function fileCommands(
  settings: Settings,
  warn: (message: string) => void,
): Promise<readonly SessionCommand[]> {
  const { home, configFolder } = settings.paths;
  const places = { projectFolders: settings.folders, home, configFolder };
  const folders = sourceFolders("commands", places).filter(({ path }) => existsSync(path));
  if (folders.length === 0) return [];
  const { loadCommands, fileCommand } = await import("./plugin-loaders.ts");
  const { commands, findings } = await loadCommands({ folders, isTrusted: extensionTrust(settings.trust) });
  reportProblems(findings, { warn });
  return commands.map(fileCommand);
}

/** The commands of extensions; a name belongs to the file or extension that claims it first. */
async function extensionCommands(
  { cwd }: Settings,
  extensions: readonly LoadedExtension[],
  files: readonly SessionCommand[],
  warn: (message: string) => void,
): Promise<readonly SessionCommand[]> {
  if (extensions.every(({ commands }) => commands.length === 0)) return [];
  const { extensionCommand } = await import("./plugin-loaders.ts");
  const names = new Set(files.map(({ name }) => name));
  const list: SessionCommand[] = [];
  for (const { name: extension, commands } of extensions)
    for (const command of commands) {
      const { name } = command;
      if (names.has(name))
        warn(`the command /${name} of the extension ${extension} is left out: there is one of that name`);
      else list.push(extensionCommand(command, { extension, cwd }));
      names.add(name);
    }
  return list;
}

/** Problems reported in full at each start. */
const MAX_PROBLEMS = 3;

/**
 * Reports the first problems in full and lists the files of the others; `lists`: the commands that show more.
 */
export function reportProblems(
  findings: readonly Finding[],
  { warn, lists }: { readonly warn: (message: string) => void; readonly lists?: string },
): void {
  const problems = findings.filter(({ level }) => level === "fault");
  for (const { path, message } of problems.slice(0, MAX_PROBLEMS)) warn(`${path}: ${message}`);
  const more = problems.slice(MAX_PROBLEMS).map(({ path }) => path);
  if (more.length > 0)
    warn(
      `${more.length} more cannot be used: ${more.join(", ")}${lists === undefined ? "" : `; see ${lists}`}`,
    );
}

/** The settings with the providers of extensions; those the user configured win. */
function withProviders(settings: Settings, extensions: readonly LoadedExtension[]): Settings {
  const added = extensions.flatMap(({ providers }) => providers);
  if (added.length === 0) return settings;
  const { config } = settings;
  const own = Object.fromEntries(added.map(({ name, ...provider }) => [name, provider]));
  const providers = { ...own, ...config.values.providers };
  return { ...settings, config: { ...config, values: { ...config.values, providers } } };
}

interface FoundExtensions {
  readonly files: readonly ExtensionFile[];
  readonly findings: readonly Finding[];
}

/** Finds extensions: the user's folder, packages the user names, then folders of a trusted project. */
export function findExtensionFiles({ paths, folders, config, trust }: Settings): FoundExtensions {
  const { configFolder, home } = paths;
  const findings: Finding[] = [];
  const named = (config.values.extensions ?? []).flatMap((name): readonly ExtensionFile[] => {
    const path = isPath(name)
      ? extensionPath(name, { configFolder, home })
      : packageEntry(name, configFolder);
    if (path !== undefined) return [{ name, path, origin: "user" }];
    const where = isPath(name) ? "there is no such file" : `it is not installed in ${configFolder}`;
    findings.push({ path: name, level: "fault", message: `the extension ${name} is not used: ${where}` });
    return [];
  });
  const ofProject = folders.flatMap((folder) => {
    const path = join(folder, EXTENSION_FOLDER);
    const items = extensionItems(trust.folder, path);
    const isTrusted = items.length > 0 && items.every((item) => trust.admits(item));
    return isTrusted ? extensionFiles([{ path, origin: "project" }]) : [];
  });
  const own = extensionFiles([{ path: join(configFolder, "extensions"), origin: "user" }]);
  return { files: [...own, ...named, ...ofProject], findings };
}

function isPath(name: string): boolean {
  return /^(?:\.{1,2}[\\/]|~[\\/])/.test(name) || isAbsolute(name);
}

function extensionPath(
  name: string,
  { configFolder, home }: { readonly configFolder: string; readonly home: string },
): string | undefined {
  const path = name.startsWith("~") ? join(home, name.slice(1)) : resolve(configFolder, name);
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : undefined;
}

/** The module that a package resolves to from the user's configuration folder. */
function packageEntry(name: string, configFolder: string): string | undefined {
  const folder = join(configFolder, "node_modules", name);
  try {
    const parsed = safeParse(readFileSync(join(folder, "package.json"), "utf8"));
    const { exports, main } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
    const root = isRecord(exports) && "." in exports ? exports["."] : exports;
    const entry = join(folder, exportTarget(root) ?? (typeof main === "string" ? main : "index.js"));
    return existsSync(entry) ? entry : undefined;
  } catch {
    // Missing or not a package: the caller reports it.
    return undefined;
  }
}

function exportTarget(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!isRecord(value)) return undefined;
  for (const condition of ["node", "import", "default"]) {
    const found = exportTarget(value[condition]);
    if (found !== undefined) return found;
  }
  return undefined;
}
