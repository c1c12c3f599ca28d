import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Gate, GateDecision, GateRequest } from "../core/agent/ports.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { fieldsOf, isRecord, omitUndefined } from "../core/base/json.ts";
import { truncateEnd } from "../core/base/text.ts";
import { BUILT_IN_RULES, secretInWord, secretPattern } from "./built-in-rules.ts";
import { judgeCommand } from "./commands/judge-command.ts";
import { matchesText } from "./match-text.ts";
import { type JudgedPath, PathSpace, type PathSpaceOptions } from "./path-space.ts";
import { assertPermissionMode, type PermissionMode, type SandboxState } from "./permission-mode.ts";
import {
  DEFAULT_RULES,
  isEditTool,
  isFileTool,
  type OriginRule,
  parseRules,
  patternKind,
  type Rule,
  type RuleAction,
  ruleText,
  type SessionRules,
  toToolName,
} from "./rule.ts";
import {
  BYPASS_VERDICT,
  type JudgedCall,
  noRuleVerdict,
  oneLine,
  planDenial,
  RuleSet,
  ruleVerdict,
  secretVerdict,
  unjudgedVerdict,
  type Verdict,
} from "./verdict.ts";

/** Options of a {@link Policy}. */
export interface PolicyOptions extends PathSpaceOptions {
  /** The user's rules. Default: none. */
  readonly rules?: readonly Rule[];
  /** Default `default`. */
  readonly mode?: PermissionMode;
  /** The sandbox for commands, requested with each of them. Default: none. */
  readonly sandbox?: SandboxState | (() => SandboxState);
  /** True if the built-in rules apply. Default true. */
  readonly defaults?: boolean;
  /** Rules from answers in this session. */
  readonly session?: SessionRules;
}

/** A call to judge. */
export interface PolicyCall {
  readonly tool: string;
  readonly input: unknown;
  /** Folder that relative paths refer to. Default: that of the policy. */
  readonly cwd?: string;
  /** A third-party tool that changes nothing outside the agent: the plan and default modes let it read. */
  readonly readOnly?: boolean;
  /** True if a batch's calls come here too, so the batch itself passes. Default false: its calls judge it. */
  readonly batchedCallsFollow?: boolean;
}

/** The policy's decision about a call. */
export interface PolicyDecision extends Omit<Verdict, "isFirm"> {
  /** Links resolved: the file or folder that a file tool would open; for others the working folder. */
  readonly place: string;
}

/** A policy over rules, mode and workspace. Throws `invalid_argument`: unknown mode, no folders. */
export function createPolicy(options: PolicyOptions): Policy {
  return new Policy(options);
}

const MAX_CALLS = 100;
const MAX_PART = 2_000;

/** The path of a file tool, resolved once: the judged path is the one that will be opened. */
function targetOf(tool: string, input: unknown, space: PathSpace): JudgedPath | undefined {
  if (!isFileTool(tool)) return undefined;
  const { path = tool === "grep" || tool === "glob" ? "." : undefined } = fieldsOf(input);
  return typeof path === "string" ? space.resolve(path === "" && !isEditTool(tool) ? "." : path) : undefined;
}

/** Decides about tool calls. Every call goes through here, whatever its path. */
export class Policy {
  readonly #options: PolicyOptions;
  readonly #mode: PermissionMode;
  readonly #space: PathSpace;
  readonly #defaults: boolean;
  readonly #fixed: readonly OriginRule[];

  /** Created by `createPolicy`. */
  constructor(options: PolicyOptions) {
    const { mode = "default", workspace, rules = [], defaults = true } = options;
    assertPermissionMode(mode);
    if (workspace.length === 0) throw invalidArgument("A policy needs at least one workspace folder.");
    this.#options = options;
    this.#mode = mode;
    this.#space = new PathSpace(options);
    this.#defaults = defaults;
    const own = rules.map((rule): OriginRule => ({ ...rule, tool: toToolName(rule.tool), origin: "user" }));
    this.#fixed = [...own, ...(defaults ? BUILT_IN_RULES : [])];
  }

  get #rules(): RuleSet {
    return new RuleSet([...this.#fixed, ...(this.#options.session?.rules ?? [])]);
  }

  /** Judges one call. Never throws: a call that cannot be judged asks. */
  check(given: PolicyCall): PolicyDecision {
    const space = given.cwd === undefined ? this.#space : this.#space.withCwd(given.cwd);
    const tool = toToolName(given.tool);
    const target = targetOf(tool, given.input, space);
    const place = target?.resolved ?? space.cwd;
    try {
      const verdict = this.#applyMode(this.#judge({ ...given, tool }, space, target));
      const { isFirm: _, part, ...decision } = verdict;
      return { ...decision, ...(part === undefined ? {} : { part: truncateEnd(part, MAX_PART) }), place };
    } catch (error) {
      const why = error instanceof Error ? error.message : "unknown failure";
      const verdict = unjudgedVerdict(`The call could not be judged (${why}).`);
      return { ...verdict, place, ...(this.#mode === "dontAsk" ? { decision: "deny" } : {}) };
    }
  }

  /** True if a search hides a file (absolute, links resolved): reads are denied or ask, or it has keys. */
  hides(path: string): boolean {
    if (this.#defaults && this.#mode !== "bypassPermissions" && secretPattern(path) !== undefined)
      return true;
    return this.#rules.hasRuleAgainst("grep", { given: path, written: [path], resolved: path }, this.#space);
  }

  #judge(given: PolicyCall, space: PathSpace, target: JudgedPath | undefined): Verdict {
    const { tool, input } = given;
    const rules = this.#rules;
    const { command, calls, url } = fieldsOf(input);
    if (!isRecord(input) || (tool === "bash" && typeof command !== "string")) {
      const rule = rules.wholeToolRule("deny", tool);
      return rule
        ? ruleVerdict(rule, tool)
        : unjudgedVerdict(`The call of ${oneLine(tool)} lacks its arguments.`);
    }
    const { sandbox: state = "none" } = this.#options;
    const sandbox = typeof state === "function" ? state() : state;
    const call = { tool, input, rules, space, mode: this.#mode, sandbox, defaults: this.#defaults };
    if (tool === "bash") return judgeCommand(call, String(command));
    if (tool === "batch") return this.#judgeBatch(call, calls, given.batchedCallsFollow === true);
    if (tool === "web_fetch") {
      const verdict = judgeUrl(url, rules);
      return verdict.decision === "allow" ? verdict : this.#denyInPlanMode(verdict, tool);
    }
    if (!isFileTool(tool)) return this.#judgeOther(call, given.readOnly === true);
    const verdict = judgePath(call, target);
    return isEditTool(tool) ? this.#denyInPlanMode(verdict, tool) : verdict;
  }

  #denyInPlanMode(verdict: Verdict, tool: string): Verdict {
    return this.#mode !== "plan" || verdict.decision === "deny" ? verdict : planDenial(verdict.part ?? tool);
  }

  #judgeBatch({ rules, space }: JudgedCall, calls: unknown, callsFollow: boolean): Verdict {
    const rule = rules.wholeToolRule("deny", "batch") ?? rules.wholeToolRule("ask", "batch");
    if (rule !== undefined) return ruleVerdict(rule, "batch");
    const passed: Verdict = { decision: "allow", reason: "Each call of the batch is judged by itself." };
    if (callsFollow) return passed;
    if (!Array.isArray(calls) || calls.length === 0 || calls.length > MAX_CALLS)
      return unjudgedVerdict("The batch holds no calls that can be judged.");
    const verdicts = calls.map((call: unknown): Verdict => {
      const { tool: name, input } = fieldsOf(call);
      const tool = typeof name === "string" ? toToolName(name) : "batch";
      if (tool === "batch") return unjudgedVerdict("The batch holds a call that cannot be judged.");
      return this.#applyMode(this.#judge({ tool, input }, space, targetOf(tool, input, space)));
    });
    const refused = verdicts.find(({ decision }) => decision === "deny");
    return refused ?? verdicts.find(({ decision }) => decision === "ask") ?? passed;
  }

  #judgeOther({ tool, input, rules }: JudgedCall, readOnly: boolean): Verdict {
    const name = patternKind(tool) === "name" ? input[tool === "skill" ? "name" : "agent"] : undefined;
    const matches = ({ pattern }: OriginRule): boolean =>
      pattern === undefined || (typeof name === "string" && matchesText(pattern, name));
    const isOwn = this.#defaults && BUILT_IN_RULES.some((rule) => rule.tool === tool);
    const isReader = readOnly || (isOwn && !(tool === "job" && input["action"] === "kill"));
    const planned = (verdict: Verdict): Verdict => (isReader ? verdict : this.#denyInPlanMode(verdict, tool));
    for (const action of ["deny", "ask", "allow"] as const) {
      const rule = rules.rulesForTool(action, tool).find(matches);
      if (rule !== undefined) return planned(ruleVerdict(rule, tool));
    }
    if (readOnly) return { decision: "allow", part: tool, reason: `${oneLine(tool)} only reads.` };
    const suggestion = /^[\w.:/@-]+$/.test(tool) ? ruleText({ tool }) : undefined;
    return planned(noRuleVerdict(`No rule allows ${oneLine(tool)}.`, tool, suggestion));
  }

  #applyMode(verdict: Verdict): Verdict {
    if (verdict.decision !== "ask") return verdict;
    if (this.#mode === "dontAsk") {
      const reason = `${verdict.reason} Nothing is asked in this mode.`;
      return { ...verdict, decision: "deny", reason, code: "dont_ask_mode" };
    }
    if (this.#mode !== "bypassPermissions" || verdict.isFirm) return verdict;
    return { ...BYPASS_VERDICT, ...omitUndefined({ part: verdict.part, runs: verdict.runs }) };
  }
}

/** Options of a {@link PolicyGate}: its policy, and its callback. */
export interface PolicyGateOptions extends PolicyOptions {
  /** Receives the path by which a file tool's call was judged, links resolved: the one to open. */
  readonly onPlace?: (request: GateRequest, place: string) => void;
}

/**
 * The policy as the gate of an agent loop. A batch passes, since each of its calls is judged separately,
 * unless a rule denies or asks about `batch`. Paths start at the folder of the request. A tool that says it
 * is read-only counts as one.
 */
export class PolicyGate implements Gate {
  readonly #options: PolicyGateOptions;
  readonly #looking = new WeakSet();
  #policy: Policy;

  constructor(options: PolicyGateOptions) {
    this.#options = options;
    this.#policy = createPolicy(options);
  }

  /** Judges by another mode from the next call on. Throws `invalid_argument` for an unknown one. */
  setMode(mode: PermissionMode): void {
    this.#policy = createPolicy({ ...this.#options, mode });
  }

  /** True for the arguments object of a command allowed because it only looks: git runs nothing for it. */
  readonly looks = (input: object): boolean => this.#looking.has(input);

  /** {@link Policy.hides}, for paths relative to the working folder. */
  hides(path: string): boolean {
    return this.#policy.hides(path);
  }

  check(request: GateRequest): GateDecision {
    const { name, input, cwd, tool } = request;
    const { decision, looks, ...rest } = this.#policy.check({
      tool: name,
      input,
      ...(cwd === "" ? {} : { cwd }),
      readOnly: tool.readOnly === true,
      batchedCallsFollow: true,
    });
    if (looks) this.#looking.add(input);
    else this.#looking.delete(input);
    if (isFileTool(name)) this.#options.onPlace?.(request, rest.place);
    return { action: decision, ...rest };
  }
}

/** A call in the form {@link PermissionManager} takes. */
export interface PermissionCheck {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Paths or commands of the call, if its arguments do not show them as `path` or `command`. */
  readonly patterns?: readonly string[];
}

/**
 * Options of a {@link PermissionManager}. Default: only {@link DEFAULT_RULES}, the folder of the agent that
 * asks or else of the process, and the user's home.
 */
export type PermissionManagerOptions = Partial<PolicyOptions>;

/**
 * Rules over one engine with a short answer: allow, deny or ask. Ask means deny if nobody can be asked. As
 * the gate of an agent it judges paths from the folder in which the tools open them.
 */
export class PermissionManager implements Gate {
  readonly #options: PermissionManagerOptions;
  #rules: readonly Rule[];

  /** Throws `invalid_config` for a malformed rule. */
  constructor(given: readonly Rule[] | PermissionManagerOptions = {}) {
    this.#options = "map" in given ? {} : given;
    this.#rules = parseRules([...("map" in given ? given : (given.rules ?? DEFAULT_RULES))]);
  }

  /** Decides about a call. Every pattern has to be allowed. */
  check(call: PermissionCheck): RuleAction;
  check(request: GateRequest): GateDecision;
  check(call: PermissionCheck | GateRequest): RuleAction | GateDecision {
    if (!("params" in call)) return new PolicyGate(this.#optionsIn(call.cwd)).check(call);
    const { tool, params, patterns = [] } = call;
    const key = tool === "bash" ? "command" : "path";
    const inputs = patterns.length === 0 ? [params] : patterns.map((each) => ({ ...params, [key]: each }));
    const policy = createPolicy(this.#optionsIn(""));
    const decisions = inputs.map((input) => policy.check({ tool, input }).decision);
    return (["deny", "ask"] as const).find((each) => decisions.includes(each)) ?? "allow";
  }

  /** Adds a rule. Throws `invalid_config` for a malformed one. */
  addRule(rule: Rule): void {
    this.#rules = [...parseRules([rule]), ...this.#rules];
  }

  #optionsIn(folder: string): PolicyOptions {
    const cwd = resolve(folder === "" ? (this.#options.cwd ?? "") : folder);
    const { home = homedir(), workspace = [this.#options.cwd ?? cwd], ...options } = this.#options;
    return { defaults: false, ...options, rules: this.#rules, cwd, home, workspace };
  }
}

function judgePath(call: JudgedCall, target: JudgedPath | undefined): Verdict {
  const { tool, input, rules, space } = call;
  if (target === undefined) {
    const rule = rules.wholeToolRule("deny", tool);
    return rule === undefined ? oddCall(`The call of ${tool} names no path.`, tool) : ruleVerdict(rule, tool);
  }
  const { pattern } = input;
  const start = tool === "glob" && typeof pattern === "string" ? globStart(pattern) : "";
  const paths = start === "" ? [target] : [target, space.resolve(start, target.resolved)];
  for (const path of paths) {
    const rule = rules.ruleAgainstPath("deny", tool, path, space);
    if (rule !== undefined) return ruleVerdict(rule, path.given);
  }
  const verdicts = [
    ...paths.map((path) => questionAbout(call, path) ?? PASS_VERDICT),
    ...paths.map((path) => judgeByRulesAndMode(call, path)),
  ];
  return verdicts.find(({ decision }) => decision !== "allow") ?? verdicts[paths.length] ?? PASS_VERDICT;
}

const PASS_VERDICT: Verdict = { decision: "allow", reason: "Nothing speaks against it." };

/** `bypassPermissions` allows reads that cannot be judged, but not writes. */
function oddCall(reason: string, tool: string, part?: string): Verdict {
  return { ...unjudgedVerdict(reason, part), ...(isEditTool(tool) ? { isFirm: true } : {}) };
}

/** Asked whatever the rules allow. */
function questionAbout(call: JudgedCall, path: JudgedPath): Verdict | undefined {
  const { tool, rules, space, defaults, input } = call;
  const part = path.given;
  if (path.oddity !== undefined)
    return oddCall(`${oneLine(part)} is not a plain path: ${path.oddity}.`, tool, part);
  if (isEditTool(tool) && space.isProtected(path)) {
    const reason = `${oneLine(part)} steers git, an editor or nano-agent: writing there is always asked about.`;
    return { decision: "ask", part, reason, code: "protected_path", isFirm: true };
  }
  const rule = rules.ruleAgainstPath("ask", tool, path, space);
  if (rule !== undefined) return ruleVerdict(rule, part);
  const glob = tool === "glob" ? input["pattern"] : tool === "grep" ? input["glob"] : undefined;
  const secret =
    [path.resolved, ...path.written].map(secretPattern).find((found) => found !== undefined) ??
    (typeof glob === "string" ? secretInWord(glob) : undefined);
  if (secret === undefined || (!defaults && rules.ruleForPath(tool, path, space) !== undefined))
    return undefined;
  return secretVerdict(part, secret, "may hold keys");
}

function judgeByRulesAndMode({ tool, rules, space, mode }: JudgedCall, path: JudgedPath): Verdict {
  const { given: part, resolved } = path;
  const rule = rules.ruleForPath(tool, path, space);
  if (rule !== undefined) return ruleVerdict(rule, part);
  const suggestion = ruleFor(tool, path, space);
  if (!space.isInside(resolved)) {
    const reason = `${oneLine(part)} leads to ${oneLine(resolved)}, outside the workspace: only a rule with an absolute or home path allows that.`;
    return noRuleVerdict(reason, part, suggestion);
  }
  const inside = `${oneLine(part)} is inside the workspace, and`;
  if (!isEditTool(tool)) return { decision: "allow", part, reason: `${inside} ${tool} only reads.` };
  if (mode === "acceptEdits" || mode === "auto")
    return { decision: "allow", part, reason: `${inside} edits there are accepted.` };
  const [place = resolved] = space.workspaceForms(resolved);
  const isLink = !path.written.some((form) => space.workspaceForms(form).includes(place));
  const leads = isLink ? `${oneLine(part)} leads to ${oneLine(place)}. ` : "";
  return noRuleVerdict(`${leads}No rule allows ${tool} on ${oneLine(part)}.`, part, suggestion);
}

/** `undefined` if the rule would match other paths or be invalid. */
function ruleFor(tool: string, { resolved }: JudgedPath, space: PathSpace): string | undefined {
  const [form = resolved] = space.workspaceForms(resolved);
  const plain = form.startsWith("~") ? resolved : form;
  return plain.includes("*") || plain.trim() === "" ? undefined : `${tool}(${plain})`;
}

/** The folder a file pattern starts from or climbs to: `../x/*` leads outside like a path would. */
function globStart(pattern: string): string {
  // Braces can hide `..`, root and home from a plain check: each one inside a group counts.
  // Three dots do not: `app/[...slug]/page.tsx`.
  if (/(?<!\.)\.\.(?!\.)/.test(pattern) || /[{,(|]\s*[/\\~]/.test(pattern)) return "/";
  const [fixed = ""] = pattern.split(/[*?[{(!]/, 1);
  return /^[/~]/.test(fixed)
    ? fixed.slice(0, Math.max(fixed.lastIndexOf("/"), 1))
    : fixed.replace(/\/?[^/]*$/, "");
}

const TOOL = "web_fetch";

/** Judges `web_fetch` by the host in its URL. Deny and ask rules also cover subdomains. */
function judgeUrl(url: unknown, rules: RuleSet): Verdict {
  const text = typeof url === "string" ? url : "";
  const host = hostOf(text);
  const part = host ?? text;
  for (const action of ["deny", "ask", "allow"] as const) {
    if (action === "allow" && host === undefined)
      return unjudgedVerdict(`${oneLine(part)} is not an address of a web page.`, part);
    const rule = rules
      .rulesForTool(action, TOOL)
      .find(({ pattern }) => pattern === undefined || isHost(pattern, host, action !== "allow"));
    if (rule !== undefined) return ruleVerdict(rule, part);
  }
  // A star in a rule matches any text.
  const suggestion = part.includes("*") ? undefined : `${TOOL}(domain:${part})`;
  return noRuleVerdict(`No rule allows to fetch pages from ${oneLine(part)}.`, part, suggestion);
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, username, password } = new URL(url);
  if ((protocol !== "http:" && protocol !== "https:") || username !== "" || password !== "") return undefined;
  return hostname.replace(/\.+$/, "");
}

/** True if `domain:HOST` matches a host, or `domain:*.HOST` a subdomain. Wide: both match both. */
function isHost(pattern: string, host: string | undefined, isWide: boolean): boolean {
  const wanted = pattern.slice("domain:".length).toLowerCase().replace(/\.+$/, "");
  if (host === undefined || wanted === "*") return host !== undefined;
  const name = wanted.replace(/^\*\./, "");
  const isBelow = host.endsWith(`.${name}`) && (isWide || name !== wanted);
  return isBelow || (host === name && (isWide || name === wanted));
}
