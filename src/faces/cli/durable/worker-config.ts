import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage, invalidConfig, toNanoAgentError } from "../../../core/base/errors.ts";
import { isRecord } from "../../../core/base/json.ts";
import type { FleetOptions } from "../../../durable/durable-run.ts";

/**
 * The options in a module: its default export, or what that function gives. Throws `invalid_config` for a
 * file that is not there or cannot be loaded, and for options of which no worker can live.
 */
export async function loadWorkerConfig(file: string, cwd: string): Promise<FleetOptions> {
  const path = resolve(cwd, file);
  if (!existsSync(path))
    throw invalidConfig(`There is no ${path}. Name a module whose default export is the options of a fleet.`);
  const options = await unlessIdle(
    file,
    loaded(path, file).then((exported) => given(file, exported)),
  );
  if (!isRecord(options))
    throw invalidConfig(
      `${file} has ${options === undefined ? "no default export" : "a default export of another kind"}: export default { databaseUrl, agents }, or a function that gives that.`,
    );
  const { agents, databaseUrl, dataDir, concurrency } = options as FleetOptions;
  if (!isRecord(agents) || Object.keys(agents).length === 0)
    throw invalidConfig(
      `${file} names no agents, so there is nothing to work on: agents: { triage: (host) => new Agent({ model, ...host }) }.`,
    );
  if (databaseUrl === undefined && dataDir === undefined)
    throw invalidConfig(
      `${file} names no database: without databaseUrl (or dataDir) runs are in the memory of this process, and nobody can start one.`,
    );
  if (concurrency === 0)
    throw invalidConfig(
      `${file} says concurrency: 0, which works on nothing. Leave it out, or give --concurrency.`,
    );
  return options;
}

/** Without anything else to do the process would end, and nobody would hear why. */
async function unlessIdle<T>(file: string, loading: Promise<T>): Promise<T> {
  const idle = Promise.withResolvers<never>();
  const onIdle = (): void =>
    idle.reject(invalidConfig(`${file} is never loaded: it waits for something that does not come.`));
  process.once("beforeExit", onIdle);
  try {
    return await Promise.race([loading, idle.promise]);
  } finally {
    process.off("beforeExit", onIdle);
  }
}

async function loaded(path: string, file: string): Promise<unknown> {
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    return module.default;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const advice =
      code === "ERR_UNKNOWN_FILE_EXTENSION"
        ? ` Node ${process.versions.node} cannot load ${extname(path)} files: write .mjs, or take Node 24.`
        : "";
    throw invalidConfig(`${file} cannot be loaded: ${errorMessage(error)}.${advice}`.replace("..", "."), {
      cause: error,
    });
  }
}

async function given(file: string, exported: unknown): Promise<unknown> {
  const isFunction = typeof exported === "function";
  try {
    const options = isFunction ? await (exported as () => unknown)() : exported;
    // Here, as reading them may fail too.
    return isRecord(options) ? { ...options } : options;
  } catch (error) {
    const what = isFunction ? `The function in ${file} failed` : `The options in ${file} cannot be read`;
    throw invalidConfig(`${what}: ${toNanoAgentError(error).message}`, { cause: error });
  }
}
