import type { Gate, GateDecision, GateRequest } from "../../core/agent/ports.ts";
import { invalidArgument, invalidConfig, isNanoAgentError } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { didYouMean, quoteShellArgument } from "../../core/base/text.ts";
import { FIND_TOOLS, MCP_PREFIX } from "../../extensions/mcp/tool-name.ts";
import type { PathSpaceOptions } from "../../permission/path-space.ts";
import type { PermissionMode, SandboxState } from "../../permission/permission-mode.ts";
import type { PolicyGate } from "../../permission/policy.ts";
import {
  namesTool,
  parseRule,
  parseRules,
  patternKind,
  type Rule,
  type SessionRules,
  toToolName,
} from "../../permission/rule.ts";
import { variable } from "../../system/env.ts";
import { ASK_TOOL } from "../../tools/ask-tool.ts";
import type { PermittedCall, PermittedPaths } from "../../tools/resolve-path.ts";
import { PLAN_TOOL } from "../../view/question-kind.ts";
import { EXTRA_TOOLS } from "../settings/config-schema.ts";
import type { Settings } from "../settings/settings.ts";
import { MEMORY_TOOLS } from "./open-memory.ts";

export interface PermissionGateOptions extends Pick<PathSpaceOptions, "workspace" | "temporary"> {
  readonly tools: readonly string[];
  /** Further tools that may run whatever the settings say. Default: none. */
  readonly allowed?: readonly string[];
  readonly session?: SessionRules;
  readonly guard?: FileGuard;
  /** True if a person can answer: a question then needs no hint about options. Default: never. */
  readonly isAttended?: () => boolean;
  /** Folders outside the workspace whose files may be read. */
  readonly readable?: readonly string[];
  /** The state of the sandbox, requested with each command. Default: no sandbox. */
  readonly sandbox?: () => Promise<SandboxState>;
}

/** Tools that only some runs have: rules naming them are valid in every run. */
const OPTIONAL_TOOLS = [...MEMORY_TOOLS, ...EXTRA_TOOLS, FIND_TOOLS, "skill", "task", ASK_TOOL, PLAN_TOOL];

/** The gate of a session, and the sole owner of its mode. */
export interface PermissionGate extends Gate {
  /** True for a tool whose calls are all refused: deny rules win over all others. */
  readonly forbids: (name: string) => boolean;
  /** {@link PolicyGate.looks}: false before the first call is judged. */
  readonly looks: (input: object) => boolean;
  /** The mode by which calls are judged now. */
  readonly mode: () => PermissionMode;
  /** The mode by which a call was judged, by its arguments. Default: the current one. */
  readonly modeOf: (input: object) => PermissionMode;
  /** Takes effect with the next call. */
  readonly setMode: (mode: PermissionMode) => void;
  /** Calls back after each change of the mode, until the returned function is called. */
  readonly onModeChange: (listener: () => void) => () => void;
}

/**
 * The permission policy as the command uses it. Names and rules are read now (`invalid_argument`,
 * `invalid_config`); the policy with its shell parser is loaded with the first call that is judged, to keep
 * startup fast.
 */
export function createPermissionGate(
  { config, cwd, paths, environment }: Pick<Settings, "config" | "cwd" | "paths" | "environment">,
  options: PermissionGateOptions,
): PermissionGate {
  const { workspace, session, guard, isAttended = () => false } = options;
  const { allowed, denied, configured } = rulesOf(config, options);
  const forbidding = [...denied, ...configured].filter(isWholeDenial);
  let { permissionMode: mode = "default" } = config.values;
  const listeners = new Set<() => void>();
  let sandbox: SandboxState = "none";
  const judged = new WeakMap<object, PermissionMode>();
  let loading: Promise<PolicyGate> | undefined;
  let loaded: PolicyGate | undefined;
  const load = async (): Promise<PolicyGate> => {
    const { PolicyGate: Loaded } = await import("../../permission/policy.ts");
    const searchPath = config.values.environment?.set?.["PATH"] ?? variable(environment, "PATH");
    const gate = new Loaded({
      rules: [...configured, ...allowed, ...denied, ...readableRules(options.readable ?? [])],
      ...omitUndefined({ searchPath, session, temporary: options.temporary }),
      sandbox: () => sandbox,
      mode,
      workspace,
      cwd,
      home: paths.home,
      machinery: [paths.configFolder, paths.stateFolder, paths.historyFolder],
      ...(guard && { onPlace: (request, place) => guard.note(request, place) }),
    });
    guard?.hide((path) => gate.hides(path));
    loaded = gate;
    return gate;
  };
  return {
    forbids: (name) => forbidding.some((rule) => namesTool(rule, name)),
    check: async (request: GateRequest): Promise<GateDecision> => {
      loading ??= load();
      const gate = await loading;
      if (request.name === "bash") sandbox = (await options.sandbox?.()) ?? "none";
      judged.set(request.input, mode);
      const decision = gate.check(request);
      return isAttended() ? decision : withHint(decision, request.name, mode);
    },
    looks: (input) => loaded?.looks(input) === true,
    mode: () => mode,
    modeOf: (input) => judged.get(input) ?? mode,
    setMode: (next) => {
      mode = next;
      loaded?.setMode(next);
      for (const listener of listeners) listener();
    },
    onModeChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function rulesOf({ values, sources }: Settings["config"], { tools, allowed = [] }: PermissionGateOptions) {
  const { allowedTools = [], disallowedTools = [], permissions = {} } = values;
  const known = [...new Set([...tools, ...OPTIONAL_TOOLS])];
  const fileOf = (key: string): string | undefined => {
    const source = sources.get(key);
    return source?.endsWith("command line") === true ? undefined : source;
  };
  // FIND_TOOLS only offers tools; they are judged when called.
  const allowList = [...allowedTools, ...allowed, FIND_TOOLS];
  return {
    allowed: readList(allowList, "allow", known, fileOf("allowedTools")),
    denied: readList(disallowedTools, "deny", known, fileOf("disallowedTools")),
    configured: parseRules(permissions, "permissions"),
  };
}

/** True for a rule that denies every call: one without a pattern, or with one that matches anything. */
function isWholeDenial({ action, tool, pattern }: Rule): boolean {
  if (action !== "deny" || pattern === undefined) return action === "deny";
  const kind = patternKind(tool);
  return kind === "domain" ? pattern === "domain:*" : kind !== "path" && /^\*+$/.test(pattern);
}

/** A folder whose name would read as a pattern gets no rule: reading in it is then asked about. */
function readableRules(folders: readonly string[]): readonly Rule[] {
  return folders
    .filter((folder) => !/[*?[\]{}!\\]/.test(folder))
    .map((folder): Rule => ({ tool: "read", pattern: `${folder}/**`, action: "allow" }));
}

/** The rules in a comma-separated list of tool names (`bash`) and rules (`bash(git status*)`). */
function readList(
  list: readonly string[],
  action: "allow" | "deny",
  known: readonly string[],
  from: string | undefined,
): readonly Rule[] {
  const option = action === "allow" ? "allowed tool" : "disallowed tool";
  try {
    return list.flatMap(itemsOf).flatMap((item): readonly Rule[] => {
      // Only servers know the names of their tools.
      const isOfServer = item.startsWith(MCP_PREFIX);
      const tool = isOfServer ? item : knownName(item.split("(", 1)[0] ?? "", known, option);
      return isOfServer || item.includes("(") ? parseRule(item, action) : [{ tool, action }];
    });
  } catch (error) {
    if (!isNanoAgentError(error, "invalid_argument", "invalid_config")) throw error;
    // A mistake in a file is the file's fault; one in an option is wrong use.
    if (from === undefined) throw invalidArgument(error.message, { cause: error });
    if (error.code === "invalid_config") throw error;
    throw invalidConfig(`${from}: ${error.message}`, { cause: error });
  }
}

/** The tool that a name means, ignoring case. Throws `invalid_argument` if it is not in `known`. */
function knownName(name: string, known: readonly string[], option: string): string {
  const wanted = toToolName(name).toLowerCase();
  const found = known.find((tool) => tool.toLowerCase() === wanted);
  if (found !== undefined) return found;
  throw invalidArgument(
    `${option} ${JSON.stringify(name)}: there is no such tool.${didYouMean(name.toLowerCase(), known)} Tools: ${known.join(", ")}.`,
  );
}

/** The items of a list in one text, separated by commas or blanks except inside brackets. */
function itemsOf(text: string): readonly string[] {
  return text.match(/[^\s,(]+\((?:[^()]|\([^()]*\))*\)|[^\s,(]*\([^,]*|[^\s,(]+/g) ?? [];
}

/** Explains how the person who started the run could have allowed the call. */
function withHint(decision: GateDecision, name: string, mode: PermissionMode): GateDecision {
  const { action, reason, suggestion } = decision;
  if (action !== "ask" || suggestion === undefined) return decision;
  // The option takes a list, in which brackets in the call's text could begin another rule.
  const [only, ...others] = itemsOf(suggestion);
  if (only !== suggestion || others.length > 0) return decision;
  const edits = (name === "write" || name === "edit") && mode !== "acceptEdits" && mode !== "auto";
  // Meant to be pasted into a shell, where a quote in the call's text would end the argument.
  const flags = `${edits ? "--permission-mode acceptEdits or " : ""}--allowed-tools ${quoteShellArgument(suggestion)}`;
  return {
    ...decision,
    reason: `${(reason ?? "no rule allows it").replace(/\.$/, "")} (${flags} would allow it)`,
  };
}

/** Calls whose judged path is kept until they run, oldest dropped first. A call without one is refused. */
const MAX_JUDGED_PATHS = 50_000;

/**
 * Gives file tools the permission layer's knowledge: the path by which each call was judged, so that swapping
 * a link between judging and opening changes nothing, and the files that searches hide.
 */
export class FileGuard {
  readonly #judgedPaths = new Map<string, string>();
  #hides: ((path: string) => boolean) | undefined;

  note({ callId, sessionId, input }: GateRequest, place: string): void {
    const path = input["path"];
    this.#judgedPaths.set(keyOf({ callId, sessionId, path: typeof path === "string" ? path : "." }), place);
    for (const oldest of this.#judgedPaths.keys()) {
      if (this.#judgedPaths.size <= MAX_JUDGED_PATHS) return;
      this.#judgedPaths.delete(oldest);
    }
  }

  hide(hides: (path: string) => boolean): void {
    this.#hides = hides;
  }

  /** The path by which a call was judged; returned once. */
  readonly permitted: PermittedPaths = (call) => {
    const key = keyOf(call);
    const place = this.#judgedPaths.get(key);
    this.#judgedPaths.delete(key);
    return place;
  };

  /** True if a search hides a file. Before the first call is judged: every file. */
  readonly excludes = (path: string): boolean => this.#hides?.(path) ?? true;
}

function keyOf({ callId, sessionId, path }: PermittedCall): string {
  return `${sessionId}\0${callId}\0${path}`;
}
