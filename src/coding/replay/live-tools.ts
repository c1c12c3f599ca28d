import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate } from "../../core/agent/ports.ts";
import { errorMessage, type Json, misuse } from "../../core/base/errors.ts";
import type { Redaction } from "../../core/base/text.ts";
import type { ToolInput } from "../../core/message/message.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tool/tool.ts";
import { errorResult, redactJson, toToolResult } from "../../core/tool/tool-output.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import type { ToolRunner } from "../../session/replay/replay-run.ts";
import { variable } from "../../system/env.ts";
import type { ShellOptions } from "../../tools/shell/shell-session.ts";
import type { OnNotice } from "../../view/notice.ts";
import type { Settings } from "../settings/settings.ts";
import { createBuiltinTools } from "../setup/builtin-tools.ts";
import { type Confinement, confine } from "../setup/confine.ts";
import { createPermissionGate, FileGuard } from "../setup/permission-gate.ts";

/** The tools of the terminal agent, working in a copy of a workspace. */
export interface LiveTools {
  readonly run: ToolRunner;
  /** Why calls did not run, by reason. */
  readonly kept: ReadonlyMap<string, number>;
  /** Ends what the tools started and removes the copy. */
  readonly dispose: () => Promise<void>;
}

interface LiveToolsOptions {
  readonly settings: Settings;
  /** Folder to copy, links resolved. */
  readonly workspace: string;
  /** Default `acceptEdits`: reads and edits in the copy, commands that read, and what settings allow. */
  readonly mode?: PermissionMode;
  readonly allowed?: readonly string[];
  readonly onNotice: OnNotice;
}

/** Copies the workspace and makes tools for the copy, under the permission rules. */
export async function openLiveTools(options: LiveToolsOptions): Promise<LiveTools> {
  const scratch = new ScratchWorkspace(options.workspace);
  try {
    const settings = { ...options.settings, cwd: scratch.folder };
    const confined = await confine({ settings, onNotice: options.onNotice });
    return liveTools(options, scratch, confined);
  } catch (error) {
    scratch.remove();
    throw error;
  }
}

function liveTools(
  { settings, mode, allowed }: LiveToolsOptions,
  scratch: ScratchWorkspace,
  confined: Confinement,
): LiveTools {
  const { paths, config } = settings;
  const { shell, redact } = confined;
  const guard = new FileGuard();
  const builtin = createBuiltinTools({
    shell: Object.create(shell, {
      env: { value: { ...shell.env, TMPDIR: scratch.temporary, PWD: scratch.folder } },
    }) as ShellOptions,
    settings: { ...settings, config: { ...config, values: { ...config.values, extraTools: [] } } },
    workspace: confined.workspace,
    temporary: confined.temporary,
    guard,
  });
  const gate = createPermissionGate({
    mode: mode ?? "acceptEdits",
    allowed: [...(config.values.allowedTools ?? []), ...(allowed ?? [])],
    disallowed: config.values.disallowedTools ?? [],
    permissions: config.values.permissions,
    known: builtin.tools.map(({ name }) => name),
    workspace: confined.workspace,
    sandbox: confined.sandboxState,
    temporary: confined.temporary,
    guard,
    cwd: scratch.folder,
    home: paths.home,
    commandPath: () => variable(settings.environment, "PATH"),
  });
  confined.follow(gate);
  const kept = new Map<string, number>();
  const keep = (reason: string): undefined => {
    kept.set(reason, (kept.get(reason) ?? 0) + 1);
  };
  const run: ToolRunner = async (call, context) => {
    const tool = builtin.tools.find(({ name }) => name === call.name);
    if (tool?.execute === undefined) return keep(`${call.name} is not a tool of this program`);
    // The calls of a batch come back one by one.
    if (call.name === "batch") return undefined;
    return runInCopy({ tool, gate, scratch, redact, keep }, call.input, context);
  };
  const dispose = async (): Promise<void> => {
    await builtin.dispose();
    await confined.dispose();
    scratch.remove();
  };
  return { run, kept, dispose };
}

interface CopyTools {
  readonly tool: Tool;
  readonly gate: Gate;
  readonly scratch: ScratchWorkspace;
  /** As in a run: what is recorded holds no secrets. */
  readonly redact: Redaction | undefined;
  readonly keep: (reason: string) => undefined;
}

async function runInCopy(
  { tool, gate, scratch, redact, keep }: CopyTools,
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
    const content = scratch.inOrigin(result.content) as Json;
    const shown = redact === undefined ? content : redactJson(redact, content);
    return { ...result, ...essence, content: shown as unknown as ToolResult["content"] };
  } catch (error) {
    return errorResult(String(scratch.inOrigin(errorMessage(error))));
  }
}

const MAX_FILES = 100_000;
const MAX_BYTES = 2 * 1024 * 1024 * 1024;

/** A copy of a workspace in a temporary folder of the user's alone. */
class ScratchWorkspace {
  /** The workspace it is a copy of, links resolved. */
  readonly origin: string;
  readonly folder: string;
  /** For temporary files of what runs in the copy. */
  readonly temporary: string;
  readonly #root: string;

  /** Copies the folder. Throws `invalid_argument` for one that is too large or cannot be copied. */
  constructor(origin: string) {
    this.origin = origin;
    assertSmallEnough(origin);
    this.#root = realpathSync(mkdtempSync(join(tmpdir(), "nano-agent-replay-")));
    this.folder = join(this.#root, "workspace");
    this.temporary = join(this.#root, "tmp");
    try {
      mkdirSync(this.temporary, { mode: 0o700 });
      // Links stay links: what they lead to is not copied, and tools may not follow them out of the copy.
      cpSync(origin, this.folder, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (source) => isCopied(source),
      });
    } catch (error) {
      this.remove();
      throw misuse(`${origin} cannot be copied: ${errorMessage(error)}.`, {
        cause: error,
      });
    }
  }

  /** A value with the workspace's path replaced by that of the copy, in every text. */
  inCopy(value: unknown): unknown {
    return withPath(value, this.origin, this.folder);
  }

  /** The reverse of {@link inCopy}. */
  inOrigin(value: unknown): unknown {
    return withPath(value, this.folder, this.origin);
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }
}

function isCopied(path: string): boolean {
  const stats = lstatSync(path);
  return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
}

function assertSmallEnough(origin: string): void {
  let files = 0;
  let bytes = 0;
  const folders = [origin];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) bytes += lstatSync(path).size;
      if (++files <= MAX_FILES && bytes <= MAX_BYTES) continue;
      throw misuse(
        `${origin} is too large to be copied for a replay: more than ${MAX_FILES} files or ${MAX_BYTES} bytes. Leave --live-tools out, or name a smaller copy with --workspace.`,
      );
    }
  }
}

function withPath(value: unknown, from: string, to: string): unknown {
  if (typeof value === "string") return value.replaceAll(from, to);
  if (Array.isArray(value)) return value.map((item: unknown) => withPath(item, from, to));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withPath(item, from, to)]));
}
