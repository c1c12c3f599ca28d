import type { Approver } from "../../core/agent/ports.ts";
import type { Tool } from "../../core/tool/tool.ts";
import { FIND_TOOLS } from "../../extensions/mcp/tool-name.ts";
import { type ApprovalPrompt, createApprover } from "../../permission/approver.ts";
import { SessionRules } from "../../permission/rule.ts";
import { variable } from "../../system/env.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { ASK_TOOL } from "../../tools/ask-tool.ts";
import { PLAN_TOOL } from "../../view/question-kind.ts";
import type { SessionHooks } from "../plugins/session-hooks.ts";
import { EXTRA_TOOLS } from "../settings/config-schema.ts";
import type { Settings } from "../settings/settings.ts";
import { MEMORY_TOOLS, type OpenMemory } from "./open-memory.ts";
import { createPermissionGate, type PermissionGate, type PermissionGateOptions } from "./permission-gate.ts";

/** The parts of a terminal agent's permission beside its settings. */
export interface ComposePermissionOptions
  extends Pick<PermissionGateOptions, "workspace" | "guard" | "readable" | "sandbox" | "temporary"> {
  readonly tools: readonly Tool[];
  /** Its tools may run whatever the settings say. */
  readonly memory: Pick<OpenMemory, "toolNames">;
  readonly approval: ApprovalPrompt;
  readonly isAttended: () => boolean;
  readonly hooks: Pick<SessionHooks, "gate" | "approver"> | undefined;
}

/** Who decides about calls, and who asks a person where that is open. */
export interface ComposedPermission {
  readonly gate: PermissionGate;
  /** Asks a person: for runs that are attended. */
  readonly approve: Approver;
  /** Allows what rules describe until the function returned is called. Throws `invalid_config`. */
  readonly lendRules: (rules: readonly string[]) => () => void;
}

/** Makes the gate of a terminal agent, and what asks a person. Throws for rules that cannot be read. */
export function composePermission(
  settings: Settings,
  { approval, hooks, tools, memory, ...options }: ComposePermissionOptions,
): ComposedPermission {
  const { config, cwd, paths } = settings;
  const { permissionMode = "default", allowedTools = [], disallowedTools = [] } = config.values;
  const own = tools.map(({ name }) => name);
  const session = new SessionRules();
  const plain = createPermissionGate({
    ...options,
    mode: permissionMode,
    session,
    // Rules about tools that are not there in every run hold, and are no mistake, where they are not.
    known: [...new Set([...own, ...MEMORY_TOOLS, ...EXTRA_TOOLS, ...AT_TIMES])],
    // It only offers what is judged when it is called.
    allowed: [...allowedTools, ...memory.toolNames, FIND_TOOLS],
    disallowed: disallowedTools,
    listsFrom: { allowed: fileOf(settings, "allowedTools"), disallowed: fileOf(settings, "disallowedTools") },
    permissions: config.values.permissions,
    cwd,
    home: paths.home,
    commandPath: () => config.values.environment?.set?.["PATH"] ?? variable(settings.environment, "PATH"),
    machinery: [paths.configFolder, paths.stateFolder, paths.historyFolder],
  });
  const gate = hooks?.gate(plain) ?? plain;
  const approve = createApprover({
    prompt: approval,
    session,
    recheck: (request) => gate.check(request),
    isInside: (place) => isWithin(place, ...options.workspace.map(realPath)),
    onModeChange: gate.onModeChange,
    remember: async (rule) =>
      (await import("../settings/saved-rules.ts")).saveRule(rule, { configFolder: paths.configFolder, cwd }),
  });
  return {
    gate,
    approve: hooks?.approver(approve) ?? approve,
    lendRules: (rules) => session.lend(rules),
  };
}

/** Tools that only some runs have. */
const AT_TIMES: readonly string[] = [FIND_TOOLS, "skill", "task", ASK_TOOL, PLAN_TOOL];

/** The file a setting comes from; `undefined` for one of the command line. */
function fileOf({ config }: Settings, key: string): string | undefined {
  const source = config.sources.get(key);
  return source?.endsWith("command line") === true ? undefined : source;
}
