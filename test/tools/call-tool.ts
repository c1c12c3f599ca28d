import { chownSync } from "node:fs";
import type { Tool, ToolResult } from "../../src/core/tool/tool.ts";
import { toToolResult } from "../../src/core/tool/tool-output.ts";

/** What a test may say about a call. */
export interface CallOptions {
  readonly cwd: string;
  readonly sessionId?: string;
  readonly signal?: AbortSignal;
}

/** Runs a tool as the loop would, without the loop. */
export async function callTool(tool: Tool, input: unknown, options: CallOptions): Promise<ToolResult> {
  const execute = tool.execute as ((input: unknown, context: unknown) => unknown) | undefined;
  const ignore = (): void => undefined;
  const output = execute?.(input, {
    signal: options.signal ?? new AbortController().signal,
    sessionId: options.sessionId ?? "session",
    transcriptId: options.sessionId ?? "session",
    callId: "call",
    cwd: options.cwd,
    update: ignore,
    callTool: () => Promise.resolve({ content: "" }),
    listTools: () => [],
    runAgent: () => Promise.reject(new Error("no subagents here")),
  });
  return toToolResult(output, ignore);
}

/** The text the model sees of a result; images are shown by their type. */
export function textOf(result: ToolResult): string {
  if (typeof result.content === "string") return result.content;
  return result.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("\n");
}

/**
 * Runs `action` without the administrator's rights, to whom no file is closed; `folder` then belongs to the
 * ordinary user.
 */
export async function asOrdinaryUser<T>(folder: string, action: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return action();
  const nobody = 65534;
  chownSync(folder, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
}
