import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenedSandbox } from "../../permission/sandbox/open-sandbox.ts";
import { loginFolder } from "../mcp/login-store.ts";
import type { SandboxMode } from "../settings/config-schema.ts";
import { configPath } from "../settings/paths.ts";
import { keysPath } from "../settings/saved-keys.ts";
import type { Settings } from "../settings/settings.ts";

/** The user's wish for a sandbox. Default `auto`: where it works. */
export function sandboxMode({ config }: Pick<Settings, "config">): SandboxMode {
  return config.values.sandbox?.mode ?? "auto";
}

/** Opens the sandbox, whatever the mode says. Never throws. Its code is loaded now, and not at the start. */
export async function openSettingsSandbox(
  { paths, config, environment }: Settings,
  workspace: readonly string[],
): Promise<OpenedSandbox> {
  const { mode: _mode, denyRead = [], ...limits } = config.values.sandbox ?? {};
  const { openSandbox } = await import("../../permission/sandbox/open-sandbox.ts");
  return openSandbox({
    workspace,
    home: paths.home,
    stateFolder: join(paths.stateFolder, "sandbox"),
    environment,
    // Node keeps compiled code of this program in the last one, and runs it at the next start.
    protect: [
      paths.configFolder,
      paths.stateFolder,
      paths.historyFolder,
      join(tmpdir(), "node-compile-cache"),
    ],
    // Keys and tokens of our own.
    denyRead: [configPath(paths), keysPath(paths), loginFolder(paths), ...denyRead],
    ...limits,
  });
}
