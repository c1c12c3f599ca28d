import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { misuse } from "../../core/base/errors.ts";
import { realPath } from "../../system/real-path.ts";
import type { ExtensionFile } from "./extension-files.ts";
import { packageFolders } from "./package-folders.ts";

const OWN = /^nano-agent(\/|$)/;

/**
 * Has extensions that import or require `nano-agent`, or an entry of it, get this one where it is not
 * installed beside them: the command is mostly installed elsewhere than they lie. That holds for all below
 * their folders and for packages beside them, at once or later, until the signal is aborted. Node also has
 * no need to guess then, and to warn of it, which system of modules a file of theirs is for.
 */
export function lendOwnPackage(files: readonly Pick<ExtensionFile, "path">[], until?: AbortSignal): void {
  const paths = files.map(({ path }) => realPath(path));
  const folders = new Set(paths.flatMap((path) => [dirname(path) + sep, ...packageFolders(path)]));
  const isOfExtension = (path: string): boolean => [...folders].some((folder) => path.startsWith(folder));
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const from = pathOf(context.parentURL);
      if (OWN.test(specifier) && isOfExtension(from) && !isInstalledFor(from)) {
        try {
          // A package may import itself by its name.
          return next(specifier, context);
        } catch (error) {
          return { url: ownEntry(specifier, error), shortCircuit: true };
        }
      }
      const found = next(specifier, context);
      if (found.format !== null || !isOfExtension(pathOf(found.url))) return found;
      return { ...found, format: formatOf(pathOf(found.url)) };
    },
  });
  until?.addEventListener("abort", () => hooks.deregister(), { once: true });
}

function pathOf(url = ""): string {
  return url.startsWith("file:") ? fileURLToPath(url) : "";
}

/** True where there is one, also one without the entry that is asked for. */
function isInstalledFor(path: string): boolean {
  return packageFolders(path).some((folder) => existsSync(join(folder, "nano-agent")));
}

function ownEntry(specifier: string, error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw error;
  try {
    return import.meta.resolve(specifier);
  } catch {
    throw misuse(`nano-agent has no entry "${specifier}".`);
  }
}

/** The format of a file that no package.json tells the system of modules of; `null` leaves it to Node. */
function formatOf(path: string): string | null {
  // Of packages Node does not warn, and texts in code may look like code.
  if (path.includes(`${sep}node_modules${sep}`)) return null;
  const code = readFileSync(path, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
  if (
    /\bexports\b|\brequire\s*\(|\bmodule\.|\b__dirname\b/.test(code) ||
    !/^[ \t]*(?:export|import)\b\s*[\w$"'{*]/m.test(code)
  )
    return null;
  return path.endsWith(".ts") ? "module-typescript" : "module";
}
