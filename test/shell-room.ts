import { readdirSync, readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { textOf } from "../src/core/message/message.ts";
import type { Tool, ToolResult, ToolUpdate } from "../src/core/tool/tool.ts";
import { type BashTools, createBashTools } from "../src/tools/bash-tools.ts";
import type { ShellOptions } from "../src/tools/shell/shell-session.ts";
import { tempFolder } from "./temp-folder.ts";

/** How one call is made. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly cwd?: string;
  readonly onUpdate?: (text: string) => void;
}

/**
 * The shell tools in a temporary folder, with a mark that tells all their processes from the rest of the
 * system.
 */
export interface ShellRoom {
  readonly cwd: string;
  readonly tools: BashTools;
  readonly bash: (input: object, options?: CallOptions) => Promise<ToolResult>;
  readonly job: (input: object) => Promise<ToolResult>;
  /** Living processes of this room, zombies left out, by their first words. */
  readonly processes: () => readonly string[];
}

/** Opens a room; after the test everything it started is ended. */
export function openShellRoom(options: ShellOptions = {}): ShellRoom {
  const cwd = tempFolder();
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: cwd, ROOM: cwd, ...options.env };
  const tools = createBashTools({ graceMs: 200, ...options, env });
  onTestFinished(() => tools.dispose());
  return {
    cwd,
    tools,
    bash: (input, call) => run(tools.bash, input, { cwd, ...call }),
    job: (input) => run(tools.job, input, { cwd }),
    processes: () => markedProcesses(`ROOM=${cwd}`),
  };
}

/** The text of a result with its times and process ids replaced, so that it can be compared whole. */
export function steady(result: ToolResult): string {
  return textOf(result.content)
    .replace(/\d+ ms|\d+\.\d s/g, "T")
    .replace(/^( +)\d+ /gm, "$1PID ");
}

/** Resolves when the condition holds; the test's own time limit is the only one. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function run(tool: Tool, input: object, call: CallOptions): Promise<ToolResult> {
  const context = {
    signal: call.signal ?? new AbortController().signal,
    sessionId: "session",
    context: undefined,
    transcriptId: "session",
    callId: "call",
    idempotencyKey: "key",
    cwd: call.cwd ?? "",
    update: (update: ToolUpdate | string) =>
      call.onUpdate?.(typeof update === "string" ? update : (update.text ?? "")),
    callTool: () => Promise.reject(new Error("no tools here")),
    listTools: () => [],
    runAgent: () => Promise.reject(new Error("no subagents here")),
  };
  return (await tool.execute?.(input as never, context)) as ToolResult;
}

function markedProcesses(mark: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`).includes(`${mark}\0`)) return [];
        if (/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"))) return [];
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()];
      } catch {
        // It ended while we looked, or belongs to somebody else.
        return [];
      }
    });
}
