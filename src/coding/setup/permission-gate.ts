import type { Gate, GateDecision, GateRequest } from "../../core/agent/ports.ts";
import { invalidConfig, isNanoAgentError, misuse } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import { didYouMean, shellArgument } from "../../core/base/text.ts";
import { MCP_PREFIX } from "../../extensions/mcp/tool-name.ts";
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
import type { PermittedCall, PermittedPlaces } from "../../tools/resolve-path.ts";
import type { PermissionConfig } from "../settings/config-schema.ts";

/** The parts the gate of the command decides by. */
export interface PermissionGateOptions
  extends Pick<PathSpaceOptions, "cwd" | "home" | "workspace" | "temporary" | "machinery"> {
  readonly mode: PermissionMode;
  /** Names of tools that may run (`bash`) and rules (`bash(git status*)`), parted by commas. */
  readonly allowed: readonly string[];
  /** The same for what never runs. */
  readonly disallowed: readonly string[];
  /** The files the lists come from, if they do: an unknown name is then `invalid_config`. */
  readonly listsFrom?: { readonly allowed?: string | undefined; readonly disallowed?: string | undefined };
  readonly permissions?: PermissionConfig | undefined;
  readonly session?: SessionRules;
  readonly guard?: FileGuard;
  /** True when a person is asked: a question then needs no advice how to start. Default: nobody is. */
  readonly isAttended?: () => boolean;
  readonly known: readonly string[];
  /** Folders outside the workspace whose files may be read. */
  readonly readable?: readonly string[];
  /** The state of the sandbox, asked for with each command. Default: there is none. */
  readonly sandbox?: () => Promise<SandboxState>;
  /** The folders that commands find programs in, as in `PATH`. Asked for with the first call. */
  readonly commandPath?: () => string | undefined;
}

/** The gate of a session, and the one owner of its mode. */
export interface PermissionGate extends Gate {
  /** True for a tool whose every call is refused: rules that forbid win over all others. */
  readonly forbids: (name: string) => boolean;
  /** {@link PolicyGate.looks}: false before anything was judged. */
  readonly looks: (input: object) => boolean;
  /** The mode that calls are judged by now. */
  readonly mode: () => PermissionMode;
  /** The mode that a call was judged by, by its arguments. Default: the one that holds now. */
  readonly modeOf: (input: object) => PermissionMode;
  /** Counts from the next call on. */
  readonly setMode: (mode: PermissionMode) => void;
  /** Calls back after each change of the mode, until the returned function is called. */
  readonly onModeChange: (listener: () => void) => () => void;
}

/**
 * The permission policy as the command uses it. Names and rules are read now (`invalid_argument`,
 * `invalid_config`); the policy with its shell parser is loaded with the first call that is judged, for a
 * start pays for everything it loads.
 */
export function createPermissionGate(options: PermissionGateOptions): PermissionGate {
  const { known, listsFrom } = options;
  const allowed = readList(options.allowed, "allow", known, listsFrom?.allowed);
  const denied = readList(options.disallowed, "deny", known, listsFrom?.disallowed);
  const configured = parseRules(options.permissions ?? {}, "permissions");
  const denials = denied.names.map((tool): Rule => ({ tool, action: "deny" }));
  const forbidding = [...denials, ...denied.rules, ...configured].filter(isWholeDenial);
  const { workspace, cwd, home, session, guard, isAttended = () => false } = options;
  let { mode } = options;
  const listeners = new Set<() => void>();
  let sandbox: SandboxState = "none";
  const judged = new WeakMap<object, PermissionMode>();
  let loading: Promise<PolicyGate> | undefined;
  let loaded: PolicyGate | undefined;
  const load = async (): Promise<PolicyGate> => {
    const { PolicyGate: Loaded } = await import("../../permission/policy.ts");
    const rules = [
      ...configured,
      ...allowed.rules,
      ...allowed.names.map((tool): Rule => ({ tool, action: "allow" })),
      ...denied.rules,
      ...denials,
      ...readableRules(options.readable ?? []),
    ];
    const searchPath = options.commandPath?.();
    const gate = new Loaded({
      rules,
      ...defined({ searchPath, session, temporary: options.temporary }),
      sandbox: () => sandbox,
      mode,
      workspace,
      cwd,
      home,
      machinery: options.machinery ?? [],
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

/** True for a rule that denies every call: one without a pattern, or with one that describes anything. */
function isWholeDenial({ action, tool, pattern }: Rule): boolean {
  if (action !== "deny" || pattern === undefined) return action === "deny";
  const kind = patternKind(tool);
  return kind === "domain" ? pattern === "domain:*" : kind !== "path" && /^\*+$/.test(pattern);
}

/** A folder whose name would read as a pattern gets no rule: then reading in it is asked about. */
function readableRules(folders: readonly string[]): readonly Rule[] {
  return folders
    .filter((folder) => !/[*?[\]{}!\\]/.test(folder))
    .map((folder): Rule => ({ tool: "read", pattern: `${folder}/**`, action: "allow" }));
}

interface ToolList {
  readonly names: readonly string[];
  readonly rules: readonly Rule[];
}

function readList(
  list: readonly string[],
  action: "allow" | "deny",
  known: readonly string[],
  from: string | undefined,
): ToolList {
  try {
    return readItems(list, action, known);
  } catch (error) {
    if (!isNanoAgentError(error, "invalid_argument", "invalid_config")) throw error;
    // A mistake in a file is the file's fault, one in an option is wrong use.
    if (from === undefined) throw misuse(error.message, { cause: error });
    if (error.code === "invalid_config") throw error;
    throw invalidConfig(`${from}: ${error.message}`, { cause: error });
  }
}

function readItems(list: readonly string[], action: "allow" | "deny", known: readonly string[]): ToolList {
  const option = action === "allow" ? "allowed tool" : "disallowed tool";
  const items = list.flatMap(itemsOf);
  const isRule = (item: string): boolean => item.includes("(") || isOfServer(item);
  const names = items.filter((item) => !isRule(item)).map((item) => knownName(item, known, option));
  const rules = items.filter(isRule).flatMap((item) => {
    if (!isOfServer(item)) knownName(item.slice(0, item.indexOf("(")), known, option);
    return parseRule(item, action);
  });
  return { names: [...new Set(names)], rules };
}

/** The tool that a name means, whatever its case. Throws `invalid_argument` for none of `known`. */
function knownName(name: string, known: readonly string[], option: string): string {
  const wanted = toToolName(name).toLowerCase();
  const found = known.find((tool) => tool.toLowerCase() === wanted);
  if (found !== undefined) return found;
  throw misuse(
    `${option} ${JSON.stringify(name)}: there is no such tool.${didYouMean(name.toLowerCase(), known)} Tools: ${known.join(", ")}.`,
  );
}

/** The items of a list in one text: parted by commas and blanks, except inside brackets. */
function itemsOf(text: string): readonly string[] {
  return text.match(/[^\s,(]+\((?:[^()]|\([^()]*\))*\)|[^\s,(]*\([^,]*|[^\s,(]+/g) ?? [];
}

/** Names of tools that servers bring are known to them alone. */
function isOfServer(item: string): boolean {
  return item.startsWith(MCP_PREFIX);
}

/** Tells how the person who started the run could have allowed the call. */
function withHint(decision: GateDecision, name: string, mode: PermissionMode): GateDecision {
  const { action, reason, suggestion } = decision;
  if (action !== "ask" || suggestion === undefined) return decision;
  // The option takes a list, in which brackets of the call's could begin another rule.
  const [only, ...others] = itemsOf(suggestion);
  if (only !== suggestion || others.length > 0) return decision;
  const edits = (name === "write" || name === "edit") && mode !== "acceptEdits" && mode !== "auto";
  // Meant to be pasted into a shell, where a quote of the call's would end the text.
  const flags = `${edits ? "--permission-mode acceptEdits or " : ""}--allowed-tools ${shellArgument(suggestion)}`;
  return {
    ...decision,
    reason: `${(reason ?? "no rule allows it").replace(/\.$/, "")} (${flags} would allow it)`,
  };
}

/** Calls whose place is kept until they run; the oldest go first. One without its place is refused. */
const MAX_PLACES = 50_000;

/**
 * Tells file tools what the permission layer knows: the place each call was judged by, so that a link that is
 * swapped between judging and opening changes nothing, and the files that searching does not show.
 */
export class FileGuard {
  readonly #places = new Map<string, string>();
  #hides: ((path: string) => boolean) | undefined;

  note({ callId, sessionId, input }: GateRequest, place: string): void {
    const path = input["path"];
    this.#places.set(keyOf({ callId, sessionId, path: typeof path === "string" ? path : "." }), place);
    for (const oldest of this.#places.keys()) {
      if (this.#places.size <= MAX_PLACES) return;
      this.#places.delete(oldest);
    }
  }

  /** Says which files a search leaves out, by absolute path. */
  hide(hides: (path: string) => boolean): void {
    this.#hides = hides;
  }

  /** The place a call was judged by, once. */
  readonly permitted: PermittedPlaces = (call) => {
    const key = keyOf(call);
    const place = this.#places.get(key);
    this.#places.delete(key);
    return place;
  };

  /** True when a file is left out of what a search shows. Before anything was judged: every file. */
  readonly excludes = (path: string): boolean => this.#hides?.(path) ?? true;
}

function keyOf({ callId, sessionId, path }: PermittedCall): string {
  return `${sessionId}\0${callId}\0${path}`;
}
