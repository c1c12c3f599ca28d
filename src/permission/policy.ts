import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Gate, GateDecision, GateRequest } from "../core/agent/ports.ts";
import { misuse } from "../core/base/errors.ts";
import { defined, fieldsOf, isRecord } from "../core/base/json.ts";
import { clipped } from "../core/base/text.ts";
import { BUILT_IN_RULES, secretPattern } from "./built-in-rules.ts";
import { judgeCommand } from "./commands/judge-command.ts";
import { judgePath, judgeUrl } from "./judge-path.ts";
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
import { type JudgedCall, RuleSet } from "./rule-set.ts";
import { BYPASSED, byRule, noRule, notJudged, planDenial, shown, type Verdict } from "./verdict.ts";

/** Options of a {@link Policy}. */
export interface PolicyOptions extends PathSpaceOptions {
  /** Rules of the user. Default none. */
  readonly rules?: readonly Rule[];
  /** Default `default`. */
  readonly mode?: PermissionMode;
  /** The sandbox in which commands run, asked for with each of them. Default: none. */
  readonly sandbox?: SandboxState | (() => SandboxState);
  /** True when the built-in rules take part. Default true. */
  readonly defaults?: boolean;
  /** Rules from answers of this session. */
  readonly session?: SessionRules;
}

/** A call to judge. */
export interface PolicyCall {
  readonly tool: string;
  readonly input: unknown;
  /** Folder that relative paths refer to. Default: that of the policy. */
  readonly cwd?: string;
  /** A tool of others that changes nothing outside the agent: the plan and default modes let it read. */
  readonly readOnly?: boolean;
  /** The calls of a batch come here too: the batch itself passes. Default false: its calls judge it. */
  readonly batchedCallsFollow?: boolean;
}

/** The decision of the policy about a call. */
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

/** The path of a file tool, looked up once: what is judged is what will be opened. */
function targetOf(tool: string, input: unknown, space: PathSpace): JudgedPath | undefined {
  if (!isFileTool(tool)) return undefined;
  const { path = tool === "grep" || tool === "glob" ? "." : undefined } = fieldsOf(input);
  return typeof path === "string" ? space.path(path === "" && !isEditTool(tool) ? "." : path) : undefined;
}

/** Decides about tool calls. Every call passes here, on every path. */
export class Policy {
  readonly #options: PolicyOptions;
  readonly #mode: PermissionMode;
  readonly #space: PathSpace;
  readonly #defaults: boolean;
  readonly #fixed: readonly OriginRule[];

  /** Made by `createPolicy`. */
  constructor(options: PolicyOptions) {
    const { mode = "default", workspace, rules = [], defaults = true } = options;
    assertPermissionMode(mode);
    if (workspace.length === 0) throw misuse("A policy needs at least one workspace folder.");
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

  /** Judges one call. Never throws: what cannot be judged asks. */
  check(given: PolicyCall): PolicyDecision {
    const space = given.cwd === undefined ? this.#space : this.#space.from(given.cwd);
    const tool = toToolName(given.tool);
    const target = targetOf(tool, given.input, space);
    const place = target?.resolved ?? space.place;
    try {
      const { isFirm: _, part, ...decision } = this.#inMode(this.#judge({ ...given, tool }, space, target));
      return { ...decision, ...(part === undefined ? {} : { part: clipped(part, MAX_PART) }), place };
    } catch (error) {
      const why = error instanceof Error ? error.message : "unknown failure";
      const verdict = notJudged(`The call could not be judged (${why}).`);
      return { ...verdict, place, ...(this.#mode === "dontAsk" ? { decision: "deny" } : {}) };
    }
  }

  /** True when a search hides a file (absolute, links resolved): denied or asked to read, or with keys. */
  hides(path: string): boolean {
    if (this.#defaults && this.#mode !== "bypassPermissions" && secretPattern(path) !== undefined)
      return true;
    return this.#rules.speaksAgainst("grep", { given: path, written: [path], resolved: path }, this.#space);
  }

  #judge(given: PolicyCall, space: PathSpace, target: JudgedPath | undefined): Verdict {
    const { tool, input } = given;
    const rules = this.#rules;
    const { command, calls, url } = fieldsOf(input);
    if (!isRecord(input) || (tool === "bash" && typeof command !== "string")) {
      const rule = rules.whole("deny", tool);
      return rule ? byRule(rule, tool) : notJudged(`The call of ${shown(tool)} lacks its arguments.`);
    }
    const { sandbox: state = "none" } = this.#options;
    const sandbox = typeof state === "function" ? state() : state;
    const call = { tool, input, rules, space, mode: this.#mode, sandbox, defaults: this.#defaults };
    if (tool === "bash") return judgeCommand(call, String(command));
    if (tool === "batch") return this.#batch(call, calls, given.batchedCallsFollow === true);
    if (tool === "web_fetch") {
      const verdict = judgeUrl(url, rules);
      return verdict.decision === "allow" ? verdict : this.#planned(verdict, tool);
    }
    if (!isFileTool(tool)) return this.#other(call, given.readOnly === true);
    const verdict = judgePath(call, target);
    return isEditTool(tool) ? this.#planned(verdict, tool) : verdict;
  }

  /** In plan mode nothing runs that may change something. */
  #planned(verdict: Verdict, tool: string): Verdict {
    return this.#mode !== "plan" || verdict.decision === "deny" ? verdict : planDenial(verdict.part ?? tool);
  }

  /** A batch is as good as its worst call. */
  #batch({ rules, space }: JudgedCall, calls: unknown, follow: boolean): Verdict {
    const rule = rules.whole("deny", "batch") ?? rules.whole("ask", "batch");
    if (rule !== undefined) return byRule(rule, "batch");
    const passed: Verdict = { decision: "allow", reason: "Each call of the batch is judged by itself." };
    if (follow) return passed;
    if (!Array.isArray(calls) || calls.length === 0 || calls.length > MAX_CALLS)
      return notJudged("The batch holds no calls that can be judged.");
    const verdicts = calls.map((call: unknown): Verdict => {
      const { tool: name, input } = fieldsOf(call);
      const tool = typeof name === "string" ? toToolName(name) : "batch";
      if (tool === "batch") return notJudged("The batch holds a call that cannot be judged.");
      return this.#inMode(this.#judge({ tool, input }, space, targetOf(tool, input, space)));
    });
    const refused = verdicts.find(({ decision }) => decision === "deny");
    return refused ?? verdicts.find(({ decision }) => decision === "ask") ?? passed;
  }

  /** Tools whose rules describe every call, or a name in it. */
  #other({ tool, input, rules }: JudgedCall, readOnly: boolean): Verdict {
    const name = patternKind(tool) === "name" ? input[tool === "skill" ? "name" : "agent"] : undefined;
    const fits = ({ pattern }: OriginRule): boolean =>
      pattern === undefined || (typeof name === "string" && matchesText(pattern, name));
    const isOwn = this.#defaults && BUILT_IN_RULES.some((rule) => rule.tool === tool);
    const isReader = readOnly || (isOwn && !(tool === "job" && input["action"] === "kill"));
    const planned = (verdict: Verdict): Verdict => (isReader ? verdict : this.#planned(verdict, tool));
    for (const action of ["deny", "ask", "allow"] as const) {
      const rule = rules.forTool(action, tool).find(fits);
      if (rule !== undefined) return planned(byRule(rule, tool));
    }
    if (readOnly) return { decision: "allow", part: tool, reason: `${shown(tool)} only reads.` };
    const suggestion = /^[\w.:/@-]+$/.test(tool) ? ruleText({ tool }) : undefined;
    return planned(noRule(`No rule allows ${shown(tool)}.`, tool, suggestion));
  }

  #inMode(verdict: Verdict): Verdict {
    if (verdict.decision !== "ask") return verdict;
    if (this.#mode === "dontAsk") {
      const reason = `${verdict.reason} Nothing is asked in this mode.`;
      return { ...verdict, decision: "deny", reason, code: "dont_ask_mode" };
    }
    if (this.#mode !== "bypassPermissions" || verdict.isFirm) return verdict;
    return { ...BYPASSED, ...defined({ part: verdict.part, runs: verdict.runs }) };
  }
}

/** Options of a {@link PolicyGate}: its policy, and whom it tells. */
export interface PolicyGateOptions extends PolicyOptions {
  /** Told the place that a call of a file tool was judged by, links resolved: that is to be opened. */
  readonly onPlace?: (request: GateRequest, place: string) => void;
}

/**
 * The policy as the gate of an agent loop. A batch passes, since each of its calls comes by itself, unless a
 * rule denies or asks about `batch`. Paths start at the folder of the request. A tool that says it is
 * read-only counts as one.
 */
export class PolicyGate implements Gate {
  readonly #options: PolicyGateOptions;
  readonly #looking = new WeakSet();
  #policy: Policy;

  constructor(options: PolicyGateOptions) {
    this.#options = options;
    this.#policy = createPolicy(options);
  }

  /** Judges by another mode from the next call on. Throws `invalid_argument` for one there is not. */
  setMode(mode: PermissionMode): void {
    this.#policy = createPolicy({ ...this.#options, mode });
  }

  /**
   * True for the arguments (the object itself) of a command that was allowed without a rule, since it only
   * looks: git is to run it without hooks, file watcher and other programs.
   */
  readonly looks = (input: object): boolean => this.#looking.has(input);

  /** {@link Policy.hides}, for paths of the working folder. */
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

/** A call as {@link PermissionManager} takes it. */
export interface PermissionCheck {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Paths or commands the call is about, where its arguments do not show them as `path` or `command`. */
  readonly patterns?: readonly string[];
}

/**
 * Options of a {@link PermissionManager}. Default: {@link DEFAULT_RULES} alone, the folder of the agent that
 * asks, else of the process, and the home of the user.
 */
export type PermissionManagerOptions = Partial<PolicyOptions>;

/**
 * Rules over one engine with a short answer: allow, deny or ask. Ask means deny where nobody can be asked. As
 * the gate of an agent it judges paths from the folder the tools open them from.
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
