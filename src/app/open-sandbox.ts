import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage, invalidConfig } from "../core/base/errors.ts";
import type { Sandbox } from "../permission/sandbox/sandbox.ts";
import { variable } from "./config/env.ts";
import type { Settings } from "./settings.ts";

/** The name of the package, and the version it was tried with. */
const RUNTIME = "@anthropic-ai/sandbox-runtime@0.0.83";

/** The outcome of the user's wish for a sandbox. */
export type SandboxState =
  | { readonly state: "off" }
  | { readonly state: "on"; readonly sandbox: Sandbox }
  | { readonly state: "unavailable"; readonly problem: string };

/**
 * The sandbox that `mode` of the settings asks for: none for `off`. Loads nothing of it for `off`. Throws
 * `invalid_config` for `on` where it does not work; `auto` says the reason in `problem` instead.
 */
export async function sandboxFor(settings: Settings, workspace: readonly string[]): Promise<SandboxState> {
  const mode = settings.config.values.sandbox?.mode ?? "off";
  if (mode === "off") return { state: "off" };
  const opened = await tryOpen(settings, workspace);
  if ("sandbox" in opened) return { state: "on", sandbox: opened.sandbox };
  if (mode === "auto") return { state: "unavailable", problem: opened.problem };
  throw invalidConfig(
    `The sandbox is on and does not work here, so nothing was started. ${opened.problem} Or choose --sandbox auto or off.`,
  );
}

/** Opens the sandbox, whatever the mode says. Never throws. */
export async function tryOpen(
  { paths, config, environment }: Settings,
  workspace: readonly string[],
): Promise<{ readonly sandbox: Sandbox } | { readonly problem: string }> {
  const { mode: _mode, ...limits } = config.values.sandbox ?? {};
  let runtime: typeof import("@anthropic-ai/sandbox-runtime").SandboxManager;
  try {
    ({ SandboxManager: runtime } = await import("@anthropic-ai/sandbox-runtime"));
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    return {
      problem: `${isAbsent ? "The package for it is not installed" : `The package for it cannot be loaded (${errorMessage(error)})`}: npm install -g ${RUNTIME} (beside nano-agent).`,
    };
  }
  const { openSandbox } = await import("../permission/sandbox/sandbox.ts");
  return openSandbox({
    runtime,
    workspace,
    home: paths.home,
    // The same as for commands outside of it.
    temporary: variable(environment, "TMPDIR") ?? tmpdir(),
    // Node keeps compiled code of this program there, and runs it at the next start.
    protect: [
      paths.configFolder,
      paths.stateFolder,
      paths.historyFolder,
      join(tmpdir(), "node-compile-cache"),
    ],
    probeFolder: paths.stateFolder,
    ...limits,
  });
}
