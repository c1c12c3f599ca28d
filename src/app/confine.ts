import { newId } from "../core/base/ids.ts";
import type { Redaction } from "../core/base/redaction.ts";
import type { McpServerDefinition } from "../extensions/mcp/server-definition.ts";
import { createProcessWatcher } from "../system/process-watcher.ts";
import type { ShellOptions } from "../tools/shell/shell-session.ts";
import type { OnNotice } from "./coding-session/notice.ts";
import { existingFolder } from "./config/paths.ts";
import { sandboxFor } from "./open-sandbox.ts";
import { redactionFor, shellEnvironment } from "./secrets.ts";
import type { Settings } from "./settings.ts";

/** The confinement of an agent's commands to their place, and of its secrets to themselves. */
export interface Confinement {
  /** Folders that count as the workspace, the working folder first. */
  readonly workspace: readonly string[];
  readonly shell: ShellOptions;
  readonly redact: Redaction | undefined;
  readonly sandbox: "on" | "off";
  /** The limits of the sandbox in one line, for the model. */
  readonly limits: string | undefined;
  /** Never rejects. */
  readonly dispose: () => Promise<void>;
}

/** Options of {@link confine}. */
export interface ConfineOptions {
  readonly settings: Settings;
  readonly addDirs?: readonly string[];
  /** Whose values are secrets too. */
  readonly servers?: readonly McpServerDefinition[];
  readonly onNotice: OnNotice;
}

/** Confines commands as the settings say. Throws for missing folders and a sandbox that does not work. */
export async function confine(options: ConfineOptions): Promise<Confinement> {
  const { settings, addDirs = [], servers = [], onNotice } = options;
  const { cwd, environment, config } = settings;
  const workspace = [cwd, ...addDirs.map((folder) => existingFolder(folder, "--add-dir", cwd))];
  const redact = redactionFor(environment, config.values, servers);
  const watcher = createProcessWatcher();
  const opened = await sandboxFor(settings, workspace);
  if (opened.state === "unavailable") {
    const message = `Commands run without a sandbox. ${opened.problem}`;
    onNotice({ level: "warning", code: "sandbox", message });
  }
  const sandbox = opened.state === "on" ? opened.sandbox : undefined;
  const companion = sandbox?.companion;
  if (companion !== undefined) watcher?.add(companion);
  return {
    workspace,
    shell: Object.assign(shellEnvironment(environment, config.values), {
      redact,
      sandbox,
      mark: newId("s"),
      watcher,
    }),
    redact,
    sandbox: sandbox === undefined ? "off" : "on",
    limits: sandbox?.describe(),
    dispose: async () => {
      await sandbox?.dispose();
      if (companion !== undefined) watcher?.remove(companion);
    },
  };
}
