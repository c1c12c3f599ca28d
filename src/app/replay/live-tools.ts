import type { Gate } from "../../core/agent/gate.ts";
import { errorMessage } from "../../core/base/errors.ts";
import type { ToolInput } from "../../core/message/block.ts";
import { errorResult, toToolResult } from "../../core/tool/output.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tool/tool.ts";
import type { ToolRunner } from "../../session/replay/replay-run.ts";
import { createBuiltinTools } from "../builtin-tools.ts";
import type { PermissionMode } from "../config/permission-mode.ts";
import { createPermissionGate } from "../permission-gate.ts";
import type { Settings } from "../settings.ts";
import { ScratchWorkspace } from "./scratch-workspace.ts";

/** The tools of the terminal agent at work in a copy of a workspace. */
export interface LiveTools {
  readonly run: ToolRunner;
  /** Why calls did not run, by reason. */
  readonly kept: ReadonlyMap<string, number>;
  /** Ends what the tools started and removes the copy. */
  readonly dispose: () => Promise<void>;
}

/** How tools run live. */
export interface LiveToolsOptions {
  readonly settings: Settings;
  /** Folder to copy, links resolved. */
  readonly workspace: string;
  /** Default `acceptEdits`: reads and edits in the copy, commands that only read, and what the configuration allows. */
  readonly mode?: PermissionMode;
  readonly allowed?: readonly string[];
}

/** Copies the workspace and makes tools that work in the copy. What permission does not allow there does not run. */
export function openLiveTools({ settings, workspace, mode, allowed }: LiveToolsOptions): LiveTools {
  const scratch = new ScratchWorkspace(workspace);
  const { environment, paths, config } = settings;
  const builtin = createBuiltinTools({
    environment: { ...environment, TMPDIR: scratch.temporary, PWD: scratch.folder },
    home: paths.home,
    extra: [],
    webFetch: {},
  });
  const gate = createPermissionGate({
    mode: mode ?? "acceptEdits",
    allowed: [...(config.values.allowedTools ?? []), ...(allowed ?? [])],
    disallowed: config.values.disallowedTools ?? [],
    permissions: config.values.permissions,
    known: builtin.tools.map(({ name }) => name),
    workspace: [scratch.folder],
    cwd: scratch.folder,
    home: paths.home,
  });
  const kept = new Map<string, number>();
  const keep = (reason: string): undefined => {
    kept.set(reason, (kept.get(reason) ?? 0) + 1);
  };
  const run: ToolRunner = async (call, context) => {
    const tool = builtin.tools.find(({ name }) => name === call.name);
    if (tool?.execute === undefined) return keep(`${call.name} is no tool of this program`);
    // What it calls comes back one by one.
    if (call.name === "batch") return undefined;
    return runInCopy({ tool, gate, scratch, keep }, call.input, context);
  };
  const dispose = async (): Promise<void> => {
    await builtin.dispose();
    scratch.remove();
  };
  return { run, kept, dispose };
}

interface CopyTools {
  readonly tool: Tool;
  readonly gate: Gate;
  readonly scratch: ScratchWorkspace;
  readonly keep: (reason: string) => undefined;
}

async function runInCopy(
  { tool, gate, scratch, keep }: CopyTools,
  recorded: ToolInput,
  context: ToolContext,
): Promise<ToolResult | undefined> {
  const input = scratch.inCopy(recorded) as ToolInput;
  const { signal, sessionId, callId } = context;
  const cwd = scratch.folder;
  try {
    const { name } = tool;
    const decision = await gate.check({ callId, tool, name, input, cwd, sessionId, signal });
    if (decision.action !== "allow") return keep(`${name}: ${decision.reason ?? "not allowed"}`);
    const output = tool.execute?.(input as never, { ...context, cwd });
    const result = await toToolResult(output, () => undefined);
    const essence = result.essence === undefined ? {} : { essence: String(scratch.inOrigin(result.essence)) };
    return { ...result, ...essence, content: scratch.inOrigin(result.content) as ToolResult["content"] };
  } catch (error) {
    return errorResult(String(scratch.inOrigin(errorMessage(error))));
  }
}
