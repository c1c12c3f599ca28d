import type { Tool } from "../core/tool/tool.ts";
import { createBashTools } from "../tools/bash-tools.ts";
import { createBatchTool } from "../tools/batch-tool.ts";
import { fileTools } from "../tools/file-tools.ts";
import type { ShellOptions } from "../tools/shell/shell-session.ts";

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

/** Makes the tools of the terminal agent. `~` in paths is `home`. */
export function createBuiltinTools(shellOptions: ShellOptions, home: string): BuiltinTools {
  const shell = createBashTools(shellOptions);
  return {
    tools: [...fileTools({ home }), shell.bash, shell.job, createBatchTool()],
    prepare: () => shell.prepare(),
    dispose: () => shell.dispose(),
    killNow: () => shell.killNow(),
  };
}
