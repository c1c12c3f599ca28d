import type { Approver } from "../core/agent/gate.ts";
import { FIND_TOOLS } from "../extensions/mcp/tool-name.ts";
import type { ApprovalPrompt } from "../permission/approval-prompt.ts";
import { createApprover } from "../permission/approver.ts";
import { SessionRules } from "../permission/session-rules.ts";
import { EXTRA_TOOLS } from "./config/config-schema.ts";
import { variable } from "./config/env.ts";
import { MEMORY_TOOLS } from "./open-memory.ts";
import { createPermissionGate, type PermissionGate, type PermissionGateOptions } from "./permission-gate.ts";
import type { SessionHooks } from "./plugins/session-hooks.ts";
import type { Settings } from "./settings.ts";
import { gitProgramsItem } from "./trust/git-programs-item.ts";

/** What the permission of a terminal agent is made from beside its settings. */
export interface ComposePermissionOptions
  extends Pick<PermissionGateOptions, "mode" | "known" | "workspace" | "guard" | "readable"> {
  /** Names of tools that may run whatever the settings say. */
  readonly allowed: readonly string[];
  /** Asks a person what no rule decides; without one nobody is asked. */
  readonly approval?: ApprovalPrompt | undefined;
  /** Whether there is somebody to ask now. Default: where there is an `approval`. */
  readonly isAttended?: (() => boolean) | undefined;
  /** What stands around the gate and who is asked. */
  readonly hooks?: Pick<SessionHooks, "gate" | "approver"> | undefined;
}

/** Who decides about calls, and who asks a person where that is open. */
export interface ComposedPermission {
  readonly permission: PermissionGate;
  readonly approve: Approver | undefined;
  /**
   * Allows what rules describe until the function returned is called. Throws `invalid_config` for a text that
   * is no rule.
   */
  readonly lendRules: (rules: readonly string[]) => () => void;
}

/**
 * Makes the gate of a terminal agent from its settings, and what asks a person. Throws for rules that cannot
 * be read.
 */
export function composePermission(
  settings: Settings,
  {
    approval,
    allowed,
    known,
    hooks,
    isAttended = () => approval !== undefined,
    ...options
  }: ComposePermissionOptions,
): ComposedPermission {
  const { config, cwd, paths, trust } = settings;
  const session = new SessionRules();
  const plain = createPermissionGate({
    ...options,
    session,
    isAttended,
    // Rules about tools that are not there in every run hold, and are no mistake, where they are not.
    known: [...new Set([...known, ...MEMORY_TOOLS, ...EXTRA_TOOLS, FIND_TOOLS, "skill", "task"])],
    // It only offers what is judged when it is called.
    allowed: [...(config.values.allowedTools ?? []), ...allowed, FIND_TOOLS],
    disallowed: config.values.disallowedTools ?? [],
    listsFrom: { allowed: fileOf(settings, "allowedTools"), disallowed: fileOf(settings, "disallowedTools") },
    permissions: config.values.permissions,
    cwd,
    home: paths.home,
    commandPath: () => config.values.environment?.set?.["PATH"] ?? variable(settings.environment, "PATH"),
    machinery: [paths.configFolder, paths.stateFolder],
    admitsPrograms: (repository, programs) =>
      repository === trust.folder && trust.admits(gitProgramsItem(programs)),
  });
  const gate = hooks === undefined ? plain : hooks.gate(plain);
  const lendRules = (rules: readonly string[]): (() => void) => session.lend(rules);
  if (approval === undefined) return { permission: gate, approve: undefined, lendRules };
  const place = { configFolder: paths.configFolder, cwd };
  const approve = createApprover({
    prompt: approval,
    session,
    recheck: (request) => gate.check(request),
    remember: async (rule) => (await import("./saved-rules.ts")).saveRule(rule, place),
  });
  return { permission: gate, approve: hooks === undefined ? approve : hooks.approver(approve), lendRules };
}

/** The file a setting comes from; `undefined` for one of the command line. */
function fileOf({ config }: Settings, key: string): string | undefined {
  const source = config.sources.get(key);
  return source?.endsWith("command line") === true ? undefined : source;
}
