import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { basename, dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Clock, systemClock, withTimeout } from "../../core/base/async.ts";
import { check, FUNCTION_SCHEMA, OBJECT_SCHEMA } from "../../core/base/check-options.ts";
import { errorMessage, invalidArgument } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { WireName } from "../../core/message/message.ts";
import { assertTool, defineTool, type Tool, type ToolDefinition } from "../../core/tool/tool.ts";
import { realPath } from "../../system/real-path.ts";
import { HOOK_EVENTS, type HookHandler } from "../command-hooks/read-hooks.ts";
import type { Finding } from "../markdown/origin.ts";
import type { ExtensionApi, ExtensionCommand, ExtensionProvider } from "./extension-api.ts";
import type { ExtensionFile } from "./extension-files.ts";

export interface LoadedExtension extends ExtensionFile {
  readonly tools: readonly Tool[];
  readonly commands: readonly ExtensionCommand[];
  readonly hooks: readonly HookHandler[];
  readonly providers: readonly CheckedProvider[];
  /** Text for the status line; one that throws is not called again. */
  readonly statuses: readonly (() => string | undefined)[];
}

/** Receives a file's path and a function that takes errors thrown by its code and says if it took one. */
export type AdoptErrors = (path: string, takes: (error: unknown) => boolean) => void;

export interface LoadExtensionsOptions {
  readonly cwd: string;
  readonly onFailure: (message: string) => void;
  /** See {@link import("../../coding/session/coding-session.ts").CodingSessionOptions.adoptErrors}. */
  readonly adoptErrors?: AdoptErrors | undefined;
  /** Stops using the extensions. Default: never, they are used for the lifetime of the process. */
  readonly stopSignal?: AbortSignal | undefined;
  readonly clock?: Clock;
}

/** How long an extension may take to load, since the session waits for it. */
const MAX_LOAD_MS = 10_000;

/** Never rejects: an extension that fails to load is a finding. `onFailure` receives later failures. */
export async function loadExtensions(
  files: readonly ExtensionFile[],
  { clock = systemClock, ...options }: LoadExtensionsOptions,
): Promise<{ readonly extensions: readonly LoadedExtension[]; readonly findings: readonly Finding[] }> {
  const extensions: LoadedExtension[] = [];
  const findings: Finding[] = [];
  resolveOwnPackage(files, options.stopSignal);
  for (const file of files) {
    try {
      const load = () => loadExtension(file, options);
      extensions.push(await withTimeout(load, { ms: MAX_LOAD_MS, clock }));
    } catch (error) {
      const message = `the extension ${file.name} is not used: ${errorMessage(error)}`;
      findings.push({ path: file.path, level: "fault", message });
    }
  }
  return { extensions, findings };
}

async function loadExtension(
  file: ExtensionFile,
  { cwd, onFailure, adoptErrors }: LoadExtensionsOptions,
): Promise<LoadedExtension> {
  adoptErrors?.(file.path, uncaughtErrorHandler(file, onFailure));
  const module: { readonly default?: unknown } = await import(pathToFileURL(file.path).href);
  if (typeof module.default !== "function")
    throw invalidArgument(
      "it has no default export that is a function: write export default (agent) => { … }",
    );
  const tools: Tool[] = [];
  const commands: ExtensionCommand[] = [];
  const providers: CheckedProvider[] = [];
  const hooks: HookHandler[] = [];
  const statuses: (() => string | undefined)[] = [];
  let isOff = false;
  const fail = (error: unknown): void => {
    if (!isOff) onFailure(`the extension ${file.name} failed and is switched off: ${errorMessage(error)}`);
    isOff = true;
  };
  const api: ExtensionApi = {
    cwd,
    tool: (tool) => tools.push(toTool(tool)),
    command: (command) => commands.push(checkedCommand(command)),
    provider: (provider) => providers.push(checkedProvider(provider)),
    hook: (event, handler, options = {}) => {
      if (!HOOK_EVENTS.includes(event))
        throw invalidArgument(`there is no event "${event}". Events: ${HOOK_EVENTS.join(", ")}`);
      if (typeof handler !== "function") throw invalidArgument(`the ${event} hook is not a function`);
      check(options, OBJECT_SCHEMA, "The third argument of hook()");
      const { matcher } = options;
      hooks.push({
        event,
        ...omitUndefined({ matcher }),
        source: `the extension ${file.name}`,
        run: (input, signal) => (isOff ? undefined : handler(input, signal)),
        onFailure: fail,
      });
    },
    status: (render) => {
      check(render, FUNCTION_SCHEMA, "The status item");
      statuses.push(() => {
        if (isOff) return undefined;
        try {
          return render();
        } catch (error) {
          fail(error);
          return undefined;
        }
      });
    },
  };
  await (module.default as (agent: ExtensionApi) => unknown)(api);
  return { ...file, tools, commands, providers, hooks, statuses };
}

/** Reports once an error that an extension throws outside any call to it. */
function uncaughtErrorHandler(
  file: ExtensionFile,
  tell: (message: string) => void,
): (error: unknown) => boolean {
  let isTold = false;
  return (error) => {
    if (!isThrownBy(error, file)) return false;
    if (!isTold)
      tell(
        `the extension ${file.name} failed outside a call: ${errorMessage(error)} The run continues. Catch in ${file.path} what its timers and promises throw, or remove it`,
      );
    isTold = true;
    return true;
  };
}

function toTool(given: Parameters<ExtensionApi["tool"]>[0]): Tool {
  check(given, OBJECT_SCHEMA, "The tool");
  if (isTool(given)) {
    assertTool(given);
    return given;
  }
  if (!("inputSchema" in given)) return defineTool(given as ToolDefinition<JsonSchema>);
  const { inputSchema: parameters, ...rest } = given;
  return defineTool({ ...rest, ...(parameters && { parameters }) } as ToolDefinition<JsonSchema>);
}

/** True if `defineTool` made it: its schema is compiled. */
function isTool(given: Parameters<ExtensionApi["tool"]>[0]): given is Tool {
  return "schema" in given && typeof given.schema?.validate === "function";
}

function checkedCommand(command: ExtensionCommand): ExtensionCommand {
  check(command, OBJECT_SCHEMA, "The command");
  const { name, description, run } = command;
  if (typeof name !== "string" || !/^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u.test(name))
    throw invalidArgument(`a command is named ${JSON.stringify(name)}: use letters, digits, - and _`);
  if (typeof description !== "string" || typeof run !== "function")
    throw invalidArgument(`the command /${name} needs a description and a function run`);
  return command;
}

type CheckedProvider = ExtensionProvider & { readonly wire: WireName };

function checkedProvider(provider: ExtensionProvider): CheckedProvider {
  check(provider, OBJECT_SCHEMA, "The provider");
  const { name, baseUrl } = provider;
  const wires = ["anthropic", "openai_chat", "openai_responses", "google"] as const;
  // Model names have a dash where wire names have an underscore.
  const wire = wires.find((each) => [each, each.replace("_", "-")].includes(provider.wire));
  if (typeof name !== "string" || !/^[a-z0-9][a-z0-9._-]*$/.test(name))
    throw invalidArgument(
      `a provider is named ${JSON.stringify(name)}: use lower-case letters, digits and -`,
    );
  if (wire === undefined || typeof baseUrl !== "string" || !/^https?:\/\/[^\s/]/.test(baseUrl))
    throw invalidArgument(
      `the provider ${name} needs a wire (${wires.join(", ")}) and a baseUrl that begins with http:// or https://`,
    );
  return { ...provider, wire };
}

const OWN_ENTRY = /^nano-agent(\/|$)/;

/**
 * Resolves `nano-agent` and its entries to this package for extensions that do not have it installed, since
 * the command usually lives elsewhere. Applies to everything below their folders and to packages next to
 * them, now or later, until the signal is aborted. It also tells Node the module format of their files, so
 * that Node neither guesses nor warns.
 */
export function resolveOwnPackage(files: readonly Pick<ExtensionFile, "path">[], until?: AbortSignal): void {
  const paths = files.map(({ path }) => realPath(path));
  const folders = new Set(paths.flatMap((path) => [dirname(path) + sep, ...packageFolders(path)]));
  const isOfExtension = (path: string): boolean => [...folders].some((folder) => path.startsWith(folder));
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const from = pathOf(context.parentURL);
      if (OWN_ENTRY.test(specifier) && isOfExtension(from) && !isInstalledFor(from)) {
        try {
          // A package may import itself by name.
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

/** True if the package is installed, even if it lacks the requested entry. */
function isInstalledFor(path: string): boolean {
  return packageFolders(path).some((folder) => existsSync(join(folder, "nano-agent")));
}

function ownEntry(specifier: string, error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw error;
  try {
    return import.meta.resolve(specifier);
  } catch {
    throw invalidArgument(`nano-agent has no entry "${specifier}".`);
  }
}

/** The format of a file for which no package.json gives a module system; `null` leaves it to Node. */
function formatOf(path: string): string | null {
  // Node does not warn about packages, and string contents may look like code.
  if (path.includes(`${sep}node_modules${sep}`)) return null;
  const code = readFileSync(path, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
  if (
    /\bexports\b|\brequire\s*\(|\bmodule\.|\b__dirname\b/.test(code) ||
    !/^[ \t]*(?:export|import)\b\s*[\w$"'{*]/m.test(code)
  )
    return null;
  return path.endsWith(".ts") ? "module-typescript" : "module";
}

/**
 * True if an extension's code threw an error in its own timer or promise. Among the stack's calls outside
 * Node, either the outermost is in the extension's file or folder, or the innermost is, not counting packages
 * installed for it: a promise that is rejected before its first await has our call around it.
 */
export function isThrownBy(error: unknown, file: Pick<ExtensionFile, "name" | "path">): boolean {
  // Stacks name files by their resolved paths.
  const path = realPath(file.path);
  const root = rootOf(file.name, path);
  const isOwn = isIn([root], root.endsWith(sep) ? "" : ":");
  const isPackage = isIn(packageFolders(path));
  const calls = callsOf(error);
  const ends = [calls.at(-1), calls.find((call) => isOwn(call) || !isPackage(call))];
  return ends.some((call) => call !== undefined && isOwn(call));
}

/** Returns a predicate that is true if a stack line names one of these places, followed by `end`. */
function isIn(places: readonly string[], end = ""): (call: string) => boolean {
  const written = places.flatMap((place) => [place, pathToFileURL(place).href]).map((place) => place + end);
  return (call) => written.some((place) => call.includes(place));
}

function callsOf(error: unknown): readonly string[] {
  if (!(error instanceof Error) || typeof error.stack !== "string") return [];
  return error.stack
    .split("\n")
    .filter((line) => /^\s+at .*[/\\].*:\d+:\d+\)?$/.test(line) && !line.includes("node:"));
}

/** The file, or a folder with a trailing separator: that of an `index`, or of a package. */
function rootOf(name: string, path: string): string {
  const inPackage = `${sep}node_modules${sep}${name.replaceAll("/", sep)}${sep}`;
  const at = path.lastIndexOf(inPackage);
  if (at !== -1) return path.slice(0, at + inPackage.length);
  return basename(path).startsWith("index.") ? dirname(path) + sep : path;
}

/** The folders in which a file finds packages, nearest first, each with a trailing separator. */
function packageFolders(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [join(folder, "node_modules", sep), ...packageFolders(folder)];
}
