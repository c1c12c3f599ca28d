import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { Finding } from "../../extensions/markdown/origin.ts";
import { type ExtensionFile, extensionFiles } from "../../extensions/modules/extension-files.ts";
import { EXTENSION_FOLDER, extensionItems } from "../project/acting-files.ts";
import type { Settings } from "../settings/settings.ts";

/** The extensions that are to be loaded, in order, and what stands in the way of others. */
export interface FoundExtensions {
  readonly files: readonly ExtensionFile[];
  readonly findings: readonly Finding[];
}

/** Finds extensions: the user's folder, packages the user names, then folders of a trusted project. */
export function findExtensionFiles({ paths, folders, config, trust }: Settings): FoundExtensions {
  const { configFolder, home } = paths;
  const findings: Finding[] = [];
  const named = (config.values.extensions ?? []).flatMap((name): readonly ExtensionFile[] => {
    const path = isPath(name) ? fileOf(name, { configFolder, home }) : packageEntry(name, configFolder);
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

function fileOf(
  name: string,
  { configFolder, home }: { readonly configFolder: string; readonly home: string },
): string | undefined {
  const path = name.startsWith("~") ? join(home, name.slice(1)) : resolve(configFolder, name);
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : undefined;
}

/** The module a package is imported as, from the user's configuration folder. */
function packageEntry(name: string, configFolder: string): string | undefined {
  const folder = join(configFolder, "node_modules", name);
  try {
    const parsed = safeParse(readFileSync(join(folder, "package.json"), "utf8"));
    const { exports, main } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
    const root = isRecord(exports) && "." in exports ? exports["."] : exports;
    const entry = join(folder, target(root) ?? (typeof main === "string" ? main : "index.js"));
    return existsSync(entry) ? entry : undefined;
  } catch {
    // It is not there, or is no package: told by the caller.
    return undefined;
  }
}

/** The file that conditions of `exports` lead to. */
function target(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!isRecord(value)) return undefined;
  for (const condition of ["node", "import", "default"]) {
    const found = target(value[condition]);
    if (found !== undefined) return found;
  }
  return undefined;
}
