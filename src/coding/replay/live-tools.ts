import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage, invalidArgument } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/message.ts";
import type { Model } from "../../core/model/model.ts";
import type { ToolResult } from "../../core/tool/tool.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import type { ToolRunner } from "../../session/replay/replay-run.ts";
import type { OnNotice } from "../../view/notice.ts";
import type { CodingSession } from "../session/coding-session.ts";
import { createCodingSession } from "../session/prepare-coding-session.ts";
import type { Settings } from "../settings/settings.ts";
import { describedTools } from "../setup/builtin-tools.ts";

export interface LiveTools {
  readonly run: ToolRunner;
  /** Why calls did not run, with counts. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Ends everything the tools started and removes the copy. */
  readonly dispose: () => Promise<void>;
}

interface LiveToolsOptions {
  readonly settings: Settings;
  /** Folder to copy, links resolved. */
  readonly workspace: string;
  /** Default `acceptEdits`: reads and edits in the copy, read-only commands, and what the settings allow. */
  readonly mode?: PermissionMode;
  readonly allowed?: readonly string[];
  readonly onNotice: OnNotice;
}

/** Copies the workspace and opens a session in the copy that makes the calls under the permission rules. */
export async function openLiveTools(options: LiveToolsOptions): Promise<LiveTools> {
  const { settings, mode = "acceptEdits", allowed = [], onNotice } = options;
  const { permissions, disallowedTools, allowedTools = [], sandbox, environment } = settings.config.values;
  const scratch = copyWorkspace(options.workspace);
  try {
    const session = await createCodingSession({
      cwd: scratch.folder,
      environment: {
        ...settings.environment,
        TMPDIR: scratch.temporary,
        PWD: scratch.folder,
        // Without the user's hooks and extensions; the limits on calls are passed on below.
        XDG_CONFIG_HOME: join(scratch.temporary, "config"),
      },
      model: RECORDED,
      permissionMode: mode,
      settings: {
        allowedTools: [...allowedTools, ...allowed],
        extraTools: [],
        ...omitUndefined({ permissions, disallowedTools, sandbox, environment }),
      },
      mcp: { configs: [], strict: true },
      keep: false,
      onNotice: (notice) => {
        if (notice.code === "sandbox") onNotice(notice);
      },
    });
    return liveTools(session, scratch, new Set(describedTools(settings).map(({ name }) => name)));
  } catch (error) {
    scratch.remove();
    throw error;
  }
}

function liveTools(session: CodingSession, scratch: WorkspaceCopy, known: ReadonlySet<string>): LiveTools {
  const skipped = new Map<string, number>();
  const skip = (reason: string): undefined => {
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  };
  let refusals: readonly string[] = [];
  session.onEvent((event) => {
    if (event.type === "permission_decision" && event.action === "deny") refusals = [event.reason];
  });
  const call = async (
    name: string,
    given: ToolInput,
    signal: AbortSignal,
  ): Promise<ToolResult | undefined> => {
    refusals = [];
    const { origin, folder } = scratch;
    const result = await session.callTool(name, withPath(given, origin, folder) as ToolInput, { signal });
    const [refusal] = refusals;
    if (refusal !== undefined) return skip(`${name}: ${refusal}`);
    return withPath(result, folder, origin) as ToolResult;
  };
  // One after the other, so that each refusal belongs to its call.
  let last: Promise<unknown> = Promise.resolve();
  const run: ToolRunner = async ({ name, input }, { signal }) => {
    if (!known.has(name)) return skip(`${name} is not a tool of this program`);
    // The calls of a batch come back one by one.
    if (name === "batch") return undefined;
    const result = last.then(() => call(name, input, signal));
    last = result.catch(() => undefined);
    return result;
  };
  const dispose = async (): Promise<void> => {
    await session.close();
    scratch.remove();
  };
  return { run, skipped, dispose };
}

const MAX_FILES = 100_000;
const MAX_BYTES = 2 * 1024 * 1024 * 1024;

interface WorkspaceCopy {
  /** The original workspace, links resolved. */
  readonly origin: string;
  readonly folder: string;
  readonly temporary: string;
  readonly remove: () => void;
}

/** Copies a workspace for the user alone. Throws `invalid_argument` if it is too large or not copyable. */
function copyWorkspace(origin: string): WorkspaceCopy {
  assertSmallEnough(origin);
  const root = realpathSync(mkdtempSync(join(tmpdir(), "nano-agent-replay-")));
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  const [folder, temporary] = [join(root, "workspace"), join(root, "tmp")];
  try {
    mkdirSync(temporary, { mode: 0o700 });
    // Links stay links: their targets are not copied, and tools may not follow them out of the copy.
    cpSync(origin, folder, { recursive: true, verbatimSymlinks: true, filter: (path) => isCopied(path) });
    return { origin, folder, temporary, remove };
  } catch (error) {
    remove();
    throw invalidArgument(`${origin} cannot be copied: ${errorMessage(error)}.`, { cause: error });
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
      throw invalidArgument(
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

const RECORDED: Model = {
  provider: "recorded",
  id: "recorded",
  stream: () => {
    throw new Error("A replay asks the model of its record.");
  },
};
