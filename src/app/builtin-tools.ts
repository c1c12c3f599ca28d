import type { Tool } from "../core/tool/tool.ts";
import { createBashTools } from "../tools/bash-tools.ts";
import { createBatchTool } from "../tools/batch-tool.ts";
import { fileTools } from "../tools/file-tools.ts";
import type { ShellOptions } from "../tools/shell/shell-session.ts";
import { createTodoTool } from "../tools/todo-tool.ts";
import { createWebFetchTool, type WebFetchOptions } from "../tools/web-fetch-tool.ts";
import type { ExtraTool } from "./config/extra-tool.ts";

/** The tools of the terminal agent for one session. */
export interface BuiltinTools {
  readonly tools: readonly Tool[];
  /** Does ahead, while a command is still being written, what running it would wait for. Never rejects. */
  readonly prepare: () => Promise<void>;
  /** Ends everything the tools started. */
  readonly dispose: () => Promise<void>;
  /** The same at once, for the moment before the process ends. */
  readonly killNow: () => void;
}

/** What the tools of the terminal agent are made from. */
export interface BuiltinToolsOptions {
  /** What commands see, and what confines them. */
  readonly shell: ShellOptions;
  /** What `~` in paths stands for. */
  readonly home: string;
  readonly extra: readonly ExtraTool[];
  readonly webFetch: WebFetchOptions;
}

/** Makes the tools of the terminal agent. */
export function createBuiltinTools({
  shell: shellOptions,
  home,
  extra,
  webFetch,
}: BuiltinToolsOptions): BuiltinTools {
  const shell = createBashTools(shellOptions);
  return {
    tools: [
      ...fileTools({ home }),
      shell.bash,
      shell.job,
      createBatchTool(),
      ...[...new Set(extra)].map((name) => EXTRA[name](webFetch)),
    ],
    prepare: () => shell.prepare(),
    dispose: () => shell.dispose(),
    killNow: () => shell.killNow(),
  };
}

const EXTRA: { readonly [name in ExtraTool]: (webFetch: WebFetchOptions) => Tool } = {
  todo: () => createTodoTool(),
  web_fetch: createWebFetchTool,
};
