import type { Journal } from "../../core/agent/journal.ts";
import type { Tool } from "../../core/tool/tool.ts";
import { type BuiltinTools, createBuiltinTools } from "../builtin-tools.ts";
import type { SessionPorts } from "../coding-session/coding-session.ts";
import { about, type OnNotice } from "../coding-session/notice.ts";
import { variable } from "../config/env.ts";
import type { Confinement } from "../confine.ts";
import { FileGuard } from "../file-guard.ts";
import { webFetchOptions } from "../network-options.ts";
import type { Settings } from "../settings.ts";
import { type OpenPluginsOptions, openPlugins, type Plugins } from "./open-plugins.ts";
import type { SessionHooks } from "./session-hooks.ts";

/** What {@link openParts} works with. */
export interface OpenPartsOptions {
  readonly settings: Settings;
  /** Tools beside the built-in ones. */
  readonly tools?: readonly Tool[];
  readonly ports?: SessionPorts | undefined;
  readonly openJournal: () => Promise<Journal>;
  readonly adoptErrors?: OpenPluginsOptions["adoptErrors"];
  readonly onNotice: OnNotice;
}

/** What stands before anything is asked: built-in tools, and what commands, extensions and hooks of files bring. */
export async function openParts(options: OpenPartsOptions, confined: Confinement): Promise<OpenParts> {
  const { settings: given, tools: added = [], openJournal, onNotice } = options;
  const guard = new FileGuard();
  const builtin = builtinTools(options, confined, guard);
  const own = [...builtin.tools, ...added];
  const { settings, ...plugins } = await openPlugins(given, { ...options, taken: own });
  const opened: { journal?: Journal } = {};
  const hooks = await hooksOf(settings, { ...plugins, confined, opened, onNotice });
  return {
    settings,
    guard,
    builtin,
    plugins: { ...plugins, tools: [...own, ...plugins.tools] },
    hooks,
    openJournal: async () => (opened.journal = await openJournal()),
  };
}

/** See {@link openParts}. */
export interface OpenParts {
  readonly settings: Settings;
  readonly guard: FileGuard;
  readonly builtin: BuiltinTools;
  /** Their `tools` are all of them. */
  readonly plugins: Omit<Plugins, "settings">;
  readonly hooks: SessionHooks | undefined;
  /** Opens the journal, so that hooks know it too. */
  readonly openJournal: () => Promise<Journal>;
}

/** The hooks there are. Their code is loaded where there is one. */
async function hooksOf(
  settings: Settings,
  { handlers, confined, opened, onNotice }: HookParts,
): Promise<SessionHooks | undefined> {
  if (settings.config.values.hooks === undefined && handlers.length === 0) return undefined;
  const { openSessionHooks } = await import("./plugin-loaders.ts");
  return openSessionHooks({
    settings,
    handlers,
    shell: confined.shell,
    journal: () => opened.journal,
    onNotice: about("hook", onNotice),
  });
}

interface HookParts extends Pick<Plugins, "handlers"> {
  readonly confined: Confinement;
  readonly opened: { readonly journal?: Journal };
  readonly onNotice: OnNotice;
}

function builtinTools(
  { settings: { paths, environment, config }, ports }: OpenPartsOptions,
  { shell, workspace }: Confinement,
  guard: FileGuard,
): BuiltinTools {
  const { values } = config;
  return createBuiltinTools({
    // Assigned and not copied: a copy would read the environment of commands, which takes time and can wait.
    shell: Object.assign(shell, { port: ports?.shell }),
    files: ports?.files,
    home: paths.home,
    workspace,
    searchPath: variable(environment, "PATH") ?? "",
    guard,
    extra: values.extraTools ?? [],
    webFetch: webFetchOptions(values, environment),
  });
}
