import type { Model } from "../../core/model/model.ts";
import type { Tool } from "../../core/tool/tool.ts";
import { networkOptions } from "../../providers/network-options.ts";
import { type Environment, variable } from "../../system/env.ts";
import { type BashTools, createBashTools } from "../../tools/bash-tools.ts";
import { createBatchTool } from "../../tools/batch-tool.ts";
import { fileTools } from "../../tools/file-tools.ts";
import type { FilePort, FileToolOptions } from "../../tools/files/file-state.ts";
import type { ShellOptions } from "../../tools/shell/shell-session.ts";
import { createTodoTool } from "../../tools/todo-tool.ts";
import { createWebFetchTool, type WebFetchOptions } from "../../tools/web-fetch-tool.ts";
import type { ConfigFile, ExtraTool } from "../settings/config-schema.ts";
import type { Settings } from "../settings/settings.ts";
import { FileGuard } from "./permission-gate.ts";

export interface BuiltinTools {
  readonly tools: readonly Tool[];
  readonly shell: BashTools;
}

export interface BuiltinToolsOptions {
  readonly settings: Pick<Settings, "paths" | "config" | "environment">;
  /** The variables that commands see, and the sandbox that confines them. */
  readonly shell: ShellOptions;
  readonly files?: FilePort | undefined;
  /** The files read in the session, and the changes that people agreed to. Default: tracked by the tools. */
  readonly known?: Pick<FileToolOptions, "state" | "agreed">;
  /** Folders of the project: programs in them are not used for searching. */
  readonly workspace: readonly string[];
  readonly guard: FileGuard;
  readonly temporary?: () => string | undefined;
}

export function createBuiltinTools(options: BuiltinToolsOptions): BuiltinTools {
  const { settings, workspace, guard, files, known, temporary } = options;
  const { paths, config, environment } = settings;
  const { home } = paths;
  const shell = createBashTools(options.shell);
  const ripgrep = { path: variable(environment, "PATH") ?? "", avoid: workspace };
  const webFetch = webFetchOptions(config.values, environment);
  // Windows has many spellings for a path: there, calls are not compared with their judged paths.
  const guarded = {
    excludes: guard.excludes,
    ...(process.platform === "win32" ? {} : { permitted: guard.permitted }),
  };
  return {
    tools: [
      ...fileTools({ home, ripgrep, files, temporary, ...known, ...guarded }),
      shell.bash,
      shell.job,
      createBatchTool(),
      ...[...new Set(config.values.extraTools ?? [])].map((name) => EXTRA[name](webFetch)),
    ],
    shell,
  };
}

/** The same tools for inspecting their names and schemas, not for running them. */
export function describedTools(settings: BuiltinToolsOptions["settings"]): readonly Tool[] {
  return createBuiltinTools({ settings, shell: {}, workspace: [], guard: new FileGuard() }).tools;
}

const EXTRA: { readonly [name in ExtraTool]: (webFetch: WebFetchOptions) => Tool } = {
  todo: () => createTodoTool(),
  web_fetch: createWebFetchTool,
};

/** Windows up to this size, in tokens, are small: descriptions of all tools take a quarter of it. */
const SMALL_WINDOW = 16_384;
/** Tools a small model can do without. Together they are a third of all descriptions. */
const LARGE_WINDOW_TOOLS: readonly string[] = ["job", "batch", "task"];

/** The tools offered to a model: allowed by the rules, and few enough for its window. */
export function offeredTools(
  tools: readonly Tool[],
  forbids: (name: string) => boolean,
  onNotice: (message: string) => void,
): (model: Model) => readonly Tool[] {
  const known = new WeakMap<Model, readonly Tool[]>();
  const allowed = tools.map((tool) => (forbids(tool.name) ? { ...tool, offered: false } : tool));
  const find = ({ id, info }: Model): readonly Tool[] => {
    const window = info?.contextWindow ?? Number.POSITIVE_INFINITY;
    if (window > SMALL_WINDOW) return allowed;
    onNotice(`${id} has a window of ${window} tokens: ${LARGE_WINDOW_TOOLS.join(", ")} are left out.`);
    return allowed.filter(({ name }) => !LARGE_WINDOW_TOOLS.includes(name));
  };
  return (model) => {
    const offered = known.get(model) ?? find(model);
    known.set(model, offered);
    return offered;
  };
}

/** Network use of `web_fetch`: the hosts the user allowed, and the proxies of model requests. */
function webFetchOptions(config: ConfigFile, environment: Environment): WebFetchOptions {
  const { proxy } = networkOptions(config.network, environment);
  const proxyEnv = proxy && { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.noProxy };
  return { privateHosts: config.webFetch?.privateHosts ?? [], proxyEnv };
}
