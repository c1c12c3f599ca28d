import type { Tool } from "../core/tool/tool.ts";
import type { Environment } from "./config/env.ts";
import { createBashTools } from "../tools/bash-tools.ts";
import { createBatchTool } from "../tools/batch-tool.ts";
import { createEditTool } from "../tools/edit-tool.ts";
import { FileState } from "../tools/files/file-state.ts";
import { createReadTool } from "../tools/read-tool.ts";
import { createWriteTool } from "../tools/write-tool.ts";

/** The tools of the terminal agent for one session. */
export interface BuiltinTools {
  readonly tools: readonly Tool[];
  /** Does ahead, while the first answer is awaited, what the first calls would wait for. Never rejects. */
  readonly prepare: () => Promise<void>;
  /** Ends everything the tools started. */
  readonly dispose: () => Promise<void>;
  /** The same at once, for the moment before the process ends. */
  readonly killNow: () => void;
}

/** Makes the tools of the terminal agent. Commands see `environment`. */
export function createBuiltinTools(environment: Environment): BuiltinTools {
  const files = { state: new FileState() };
  const shell = createBashTools({ env: environment });
  const tools: readonly Tool[] = [
    createReadTool(files),
    createWriteTool(files),
    createEditTool(files),
    ...shell.tools,
    createBatchTool(),
  ];
  return {
    tools,
    prepare: () => shell.prepare(),
    dispose: () => shell.dispose(),
    killNow: () => shell.killNow(),
  };
}
