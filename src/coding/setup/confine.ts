import { tmpdir } from "node:os";
import { join } from "node:path";
import { invalidConfig } from "../../core/base/errors.ts";
import { newId } from "../../core/base/ids.ts";
import type { Redaction } from "../../core/base/text.ts";
import type { McpServerDefinition } from "../../extensions/mcp/server-definition.ts";
import { type PermissionMode, placementOf, type SandboxState } from "../../permission/permission-mode.ts";
import type { OpenedSandbox, Sandbox } from "../../permission/sandbox/open-sandbox.ts";
import { type CommandEnvironment, commandEnvironment } from "../../permission/secrets/command-environment.ts";
import { createRedaction, secretsOf } from "../../permission/secrets/create-redaction.ts";
import type { Environment } from "../../system/env.ts";
import { createProcessWatcher } from "../../system/process-watcher.ts";
import type { ShellOptions } from "../../tools/shell/shell-session.ts";
import type { OnNotice } from "../../view/notice.ts";
import type { ConfigFile, SandboxMode } from "../settings/config-schema.ts";
import { configPath, existingFolder } from "../settings/paths.ts";
import { keysPath, loginFolder } from "../settings/saved-keys.ts";
import type { Settings } from "../settings/settings.ts";
import type { PermissionGate } from "./permission-gate.ts";

export interface Confinement {
  /** Folders that count as the workspace, the working folder first. */
  readonly workspace: readonly string[];
  readonly shell: ShellOptions;
  readonly redact: Redaction | undefined;
  /** Opens the sandbox if it is not open yet, during the first request. Never rejects. */
  readonly sandboxState: () => Promise<SandboxState>;
  /** The folder that commands inside see as `/tmp`; undefined if the sandbox is not open. */
  readonly temporary: () => string | undefined;
  /** The user's setting: the sandbox is opened later, and may not work. */
  readonly sandbox: "on" | "off";
  readonly follow: (gate: Pick<PermissionGate, "mode" | "modeOf" | "looks">) => void;
  /** Never rejects. */
  readonly dispose: () => Promise<void>;
}

export interface ConfineOptions {
  readonly settings: Settings;
  readonly addDirs?: readonly string[];
  /** `shell`: an editor's terminal, see {@link isForTerminal}. */
  readonly ports?: { readonly shell?: unknown } | undefined;
  /** Servers whose values are secrets too. */
  readonly servers?: readonly McpServerDefinition[];
  readonly onNotice: OnNotice;
}

/** Confines commands as the settings say. Starts nothing. Throws if a folder is missing. */
export async function confine(options: ConfineOptions): Promise<Confinement> {
  const { settings, addDirs = [], servers = [] } = options;
  const { cwd, environment, config, paths } = settings;
  const workspace = [cwd, ...addDirs.map((folder) => existingFolder(folder, "--add-dir", cwd))];
  const redact = redactionFor(environment, config.values, servers);
  const session = new SessionSandbox(options, workspace);
  const isOff = sandboxMode(settings) === "off";
  const shell: ShellOptions = Object.assign(shellEnvironment(environment, config.values), {
    redact,
    mark: newId("s"),
    watcher: createProcessWatcher(),
    ...(isOff
      ? {}
      : {
          sandbox: () => session.open(),
          placement: (input: object) => session.placementOf(input),
          // Out of reach of commands, and at the same path inside.
          outputParent: join(paths.stateFolder, "outputs"),
        }),
  });
  return {
    workspace,
    shell,
    redact,
    sandboxState: () => session.state(),
    temporary: () => session.temporary,
    sandbox: isOff ? "off" : "on",
    follow: ({ mode, modeOf, looks }) => {
      // A call allowed because it could change nothing stays unable to, whatever the current mode.
      session.modeOf = (input) => (modeOf(input) === "plan" ? "plan" : mode());
      Object.assign(shell, { looks });
    },
    dispose: () => session.dispose(),
  };
}

/**
 * True if commands run in an editor's terminal, which we cannot confine: there is one, and a person or a rule
 * allows each command. Commands that run without either stay in the sandbox.
 */
function isForTerminal({ ports }: ConfineOptions, mode: PermissionMode): boolean {
  return ports?.shell !== undefined && mode !== "auto" && mode !== "plan";
}

/** The sandbox of a session: opened once, by the first call that needs to know. */
class SessionSandbox {
  readonly #options: ConfineOptions;
  readonly #workspace: readonly string[];
  #opening: Promise<Sandbox | undefined> | undefined;
  #sandbox: Sandbox | undefined;
  /** The permission mode for a command that starts, by the arguments of its call. */
  modeOf: (input: object) => PermissionMode;

  constructor(options: ConfineOptions, workspace: readonly string[]) {
    this.#options = options;
    this.#workspace = workspace;
    this.modeOf = () => options.settings.config.values.permissionMode ?? "default";
  }

  get temporary(): string | undefined {
    return this.#sandbox?.temporary;
  }

  /** The sandbox; undefined for `auto` if there is none. Rejects for `on`, since nothing may run outside. */
  open(): Promise<Sandbox | undefined> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async state(): Promise<SandboxState> {
    const mode = sandboxMode(this.#options.settings);
    if (mode === "off") return "none";
    if (mode === "on") return "only";
    if (isForTerminal(this.#options, this.modeOf({}))) return "none";
    return (await this.open().catch(() => undefined)) === undefined ? "none" : "works";
  }

  placementOf(input: object): ReturnType<typeof placementOf> {
    const isOnly = sandboxMode(this.#options.settings) === "on";
    const mode = this.modeOf(input);
    const isOutside = this.#sandbox === undefined || (!isOnly && isForTerminal(this.#options, mode));
    const sandbox = isOutside ? "none" : isOnly ? "only" : "works";
    return placementOf("access" in input ? input.access : undefined, { mode, sandbox });
  }

  async dispose(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#sandbox?.dispose();
  }

  async #open(): Promise<Sandbox | undefined> {
    const { settings, onNotice } = this.#options;
    const mode = sandboxMode(settings);
    if (mode === "off") return undefined;
    const opened = await openSettingsSandbox(settings, this.#workspace);
    if ("sandbox" in opened) {
      this.#sandbox = opened.sandbox;
      return opened.sandbox;
    }
    if (mode === "on")
      throw invalidConfig(`The sandbox is on and does not work here, so nothing was run: ${opened.problem}.`);
    onNotice({ level: "warning", code: "sandbox", message: opened.problem });
    return undefined;
  }
}

/** The user's sandbox setting. Default `auto`: if it works. */
export function sandboxMode({ config }: Pick<Settings, "config">): SandboxMode {
  return config.values.sandbox?.mode ?? "auto";
}

/** Opens the sandbox, whatever the mode. Never throws. Its code is loaded now, not at startup. */
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
    // Node caches this program's compiled code in the last one, and runs it at the next start.
    protect: [
      paths.configFolder,
      paths.stateFolder,
      paths.historyFolder,
      join(tmpdir(), "node-compile-cache"),
    ],
    // Our own keys and tokens.
    denyRead: [configPath(paths), keysPath(paths), loginFolder(paths), ...denyRead],
    ...limits,
  });
}

/**
 * Removes secrets from results, errors and exports: credentials in the environment, the config and the values
 * given to MCP servers, and text that looks like one. `undefined` if the user's config has `redact: false`.
 */
export function redactionFor(
  environment: Environment,
  config: ConfigFile,
  servers: readonly McpServerDefinition[] = [],
): Redaction | undefined {
  if (config.redact === false) return undefined;
  // Created with the first text: a run that shows no results needs none, and creating it takes time.
  let created: Required<Redaction> | undefined;
  const redaction = (): Required<Redaction> => {
    const named = [environment, ...configValues(config), ...servers.map(serverValues)];
    created ??= createRedaction({ secrets: named.flatMap((values) => secretsOf(values)) });
    return created;
  };
  return {
    text: (text) => redaction().text(text),
    stream: () => redaction().stream(),
    known: (text) => redaction().known(text),
  };
}

/** The variables commands see, after the user's config. Computed on first access. */
export function shellEnvironment(
  environment: Environment,
  config: ConfigFile,
): Required<Pick<ShellOptions, "env" | "withheld">> {
  const { pass, set } = config.environment ?? {};
  let found: CommandEnvironment | undefined;
  const variables = (): CommandEnvironment => (found ??= commandEnvironment(environment, { pass, set }));
  return {
    get env() {
      return variables().variables;
    },
    get withheld() {
      return variables().withheld;
    },
  };
}

export function commandVariables(
  environment: Environment,
  config: ConfigFile,
): { readonly [name: string]: string } {
  const { env } = shellEnvironment(environment, config);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Values that may be secrets: headers and addresses of providers and proxies, variables of commands. */
function configValues({ providers = {}, network, environment }: ConfigFile): readonly Environment[] {
  const { http, https } = network?.proxy ?? {};
  return [
    ...Object.values(providers).flatMap(({ headers = {}, baseUrl }) => [headers, { baseUrl }]),
    { http, https },
    environment?.set ?? {},
  ];
}

function serverValues(server: McpServerDefinition): Environment {
  return server.type === "stdio" ? server.env : server.headers;
}
