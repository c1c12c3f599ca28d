import type { Tool } from "../core/tool/tool.ts";
import { createEditTool } from "./edit-tool.ts";
import { FileState, type FileToolOptions } from "./files/file-state.ts";
import { createGlobTool } from "./glob-tool.ts";
import { createGrepTool } from "./grep-tool.ts";
import { createReadTool } from "./read-tool.ts";
import { RipgrepLocator, type SearchToolOptions } from "./search/ripgrep.ts";
import { createWriteTool } from "./write-tool.ts";

/** Options of {@link fileTools}: those of all its tools. */
export interface FileToolsOptions extends FileToolOptions, SearchToolOptions {}

/**
 * The tools `read`, `write`, `edit`, `glob` and `grep`, which share a record of what the session has read:
 * `write` and `edit` change only files that it has read and that are unchanged since.
 */
export function fileTools(options: FileToolsOptions = {}): readonly Tool[] {
  const state = options.state ?? new FileState();
  const locator = options.locator ?? new RipgrepLocator(options.ripgrep);
  const shared = { ...options, state, locator };
  return [
    createReadTool(shared),
    createWriteTool(shared),
    createEditTool(shared),
    createGlobTool(shared),
    createGrepTool(shared),
  ];
}
