import type { Json } from "../../core/base/errors.ts";
import { isRecord, ownValue } from "../../core/base/json.ts";
import { closestMatch } from "../../core/base/text.ts";

/** Hook events. Names, settings and answers follow the conventions of Claude Code. */
export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "Notification",
  "PreCompact",
  "SubagentStop",
  "Stop",
  "SessionEnd",
] as const;

/** One of {@link HOOK_EVENTS}. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** The standard input of every hook, one JSON object; events add their own fields. */
export interface HookInput {
  readonly session_id: string;
  /** The session file; `""` if the session is not stored. */
  readonly transcript_path: string;
  readonly cwd: string;
  readonly permission_mode: string;
  readonly tool_name?: string;
  readonly tool_input?: { readonly [key: string]: Json | undefined };
  readonly tool_use_id?: string;
  readonly tool_response?: Json;
  readonly prompt?: string;
  readonly [key: string]: Json | undefined;
}

export interface HookCommand {
  readonly event: HookEvent;
  /** Regular expression for the whole tool name or other event subject; absent: matches everything. */
  readonly matcher?: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly source: string;
}

export interface HookHandler {
  readonly event: HookEvent;
  readonly matcher?: string;
  readonly source: string;
  /** Returns the JSON that a command hook would print, or nothing. */
  readonly run: (input: HookInput, signal: AbortSignal) => unknown;
  /** Called when it throws or never answers, so that its extension can be disabled. */
  readonly onFailure: (error: unknown) => void;
}

export interface HookVerdict {
  readonly decision?: "allow" | "ask" | "deny";
  readonly reason?: string;
  readonly by?: string;
  /** New arguments of the call, from the last hook that provided any. */
  readonly updatedInput?: { readonly [key: string]: Json | undefined };
  readonly updatedBy?: string;
  /** Text for the model from all hooks, in order. */
  readonly context: readonly string[];
  readonly stop?: string;
  /** Problems of hooks, one sentence each; they blocked nothing. */
  readonly problems: readonly string[];
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_S = 3_600;

interface ReadHooks {
  readonly hooks: readonly HookCommand[];
  readonly problems: readonly string[];
}

/** Parses the value of `hooks` in settings. Never throws: malformed parts are left out and reported. */
export function readHooks(value: unknown, source: string): ReadHooks {
  const hooks: HookCommand[] = [];
  const problems: string[] = [];
  const problem = (what: string): number => problems.push(`${source}: ${what}`);
  if (value === undefined) return { hooks, problems };
  if (!isRecord(value)) return { hooks, problems: [`${source}: hooks is not an object of events`] };
  for (const [event, groups] of Object.entries(value)) {
    if (!isEvent(event)) problem(unknownEvent(event));
    else if (!Array.isArray(groups)) problem(`hooks.${event} is not a list`);
    else
      for (const [at, group] of (groups as readonly unknown[]).entries())
        readGroup(group, { event, place: `hooks.${event}[${at}]`, source, hooks, problem });
  }
  return { hooks, problems };
}

function isEvent(name: string): name is HookEvent {
  return (HOOK_EVENTS as readonly string[]).includes(name);
}

function unknownEvent(event: string): string {
  const guess = closestMatch(event, HOOK_EVENTS);
  const hint = guess === undefined ? `Events: ${HOOK_EVENTS.join(", ")}` : `Did you mean ${guess}?`;
  return `there is no event ${JSON.stringify(event)}, so its hooks do not run. ${hint}`;
}

interface GroupContext {
  readonly event: HookEvent;
  readonly place: string;
  readonly source: string;
  readonly hooks: HookCommand[];
  readonly problem: (what: string) => number;
}

function readGroup(group: unknown, { event, place, source, hooks, problem }: GroupContext): void {
  if (!isRecord(group) || !Array.isArray(group["hooks"])) {
    problem(`${place} has no list of hooks`);
    return;
  }
  const { matcher = "" } = group;
  if (typeof matcher !== "string" || toMatcher(matcher) === undefined) {
    problem(`${place}.matcher is not a regular expression, so its hooks do not run`);
    return;
  }
  for (const [at, hook] of (group["hooks"] as readonly unknown[]).entries()) {
    const read = readHook(hook);
    if ("fault" in read) problem(`${place}.hooks[${at}]${read.fault}`);
    else hooks.push({ event, ...(matcher === "" || matcher === "*" ? {} : { matcher }), ...read, source });
  }
}

function readHook(hook: unknown): Pick<HookCommand, "command" | "timeoutMs"> | { readonly fault: string } {
  const { type = "command", command, timeout } = isRecord(hook) ? hook : {};
  if (type !== "command") return { fault: ` is of type ${JSON.stringify(type)}; only "command" runs` };
  if (typeof command !== "string" || command.trim() === "") return { fault: " has no command" };
  if (timeout === undefined) return { command, timeoutMs: DEFAULT_TIMEOUT_MS };
  if (typeof timeout === "number" && timeout > 0 && timeout <= MAX_TIMEOUT_S)
    return { command, timeoutMs: timeout * 1_000 };
  return { fault: `.timeout is not a number of seconds up to ${MAX_TIMEOUT_S}` };
}

/** Compiles a matcher for whole names; `undefined` if it is not a regular expression. */
function toMatcher(text: string): RegExp | undefined {
  if (text === "" || text === "*") return /^/;
  try {
    return new RegExp(`^(?:${text})$`);
  } catch {
    // The caller reports it with its location.
    return undefined;
  }
}

/** Other agents' names for the same tools, Gemini's last. */
const PEER_TOOL_NAMES: { readonly [tool: string]: readonly string[] } = {
  bash: ["Bash", "run_shell_command"],
  edit: ["Edit", "MultiEdit", "replace"],
  write: ["Write", "write_file"],
  read: ["Read", "LS", "read_file", "list_directory"],
  glob: ["Glob"],
  grep: ["Grep", "search_file_content", "grep_search"],
  task: ["Task", "Agent"],
  skill: ["Skill"],
  todo: ["TodoWrite"],
  web_fetch: ["WebFetch"],
};

/** The name that a matcher matches, which its script expects; `undefined` if none. */
export function matchedName({ matcher }: Pick<HookCommand, "matcher">, name: string): string | undefined {
  if (matcher === undefined) return name;
  const pattern = toMatcher(matcher);
  return [name, ...(ownValue(PEER_TOOL_NAMES, name) ?? [])].find((each) => pattern?.test(each) === true);
}

/** Adapts another agent's matcher: a tool with other names there matches only by the one `isPeers` knows. */
export function peerMatcher(
  matcher: string | undefined,
  isPeers: (name: string) => boolean,
): string | undefined {
  const pattern = toMatcher(matcher ?? "");
  const earlier = Object.entries(PEER_TOOL_NAMES).flatMap(([tool, names]) => {
    const all = [tool, ...names];
    return all.slice(0, Math.max(0, names.findIndex(isPeers) + 1));
  });
  const taken = earlier.filter((name) => pattern?.test(name) === true);
  return taken.length === 0 ? matcher : `(?!(?:${taken.join("|")})$)(?:${matcher ?? ".*"})`;
}
