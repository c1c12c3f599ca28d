import { misuse } from "../core/base/errors.ts";
import { defined, type Fields, fieldsOf, isRecord } from "../core/base/json.ts";
import { clipped } from "../core/base/text.ts";
import { BUILT_IN_RULES, secretPattern } from "./built-in-rules.ts";
import { judgeCommand } from "./commands/judge-command.ts";
import { judgePath, judgeUrl } from "./judge-path.ts";
import { matchesText } from "./match-text.ts";
import { type JudgedPath, PathSpace, type PathSpaceOptions } from "./path-space.ts";
import { assertPermissionMode, type PermissionMode, type SandboxState } from "./permission-mode.ts";
import {
  isEditTool,
  isFileTool,
  type OriginRule,
  patternKind,
  type Rule,
  ruleText,
  type SessionRules,
  toToolName,
} from "./rule.ts";
import { RuleSet } from "./rule-set.ts";
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
  const { mode = "default", workspace } = options;
  assertPermissionMode(mode);
  if (workspace.length === 0) throw misuse("A policy needs at least one workspace folder.");
  return new Policy(options, mode);
}

const MAX_CALLS = 100;
const MAX_PART = 2_000;

interface JudgedCall extends PolicyCall {
  readonly space: PathSpace;
  /** The path of a file tool, looked up once: what is judged is what will be opened. */
  readonly target: JudgedPath | undefined;
}

function judgedCall(call: PolicyCall, space: PathSpace): JudgedCall {
  const tool = toToolName(call.tool);
  const { path = tool === "grep" || tool === "glob" ? "." : undefined } = isRecord(call.input)
    ? call.input
    : {};
  const target =
    isFileTool(tool) && typeof path === "string"
      ? space.path(path === "" && !isEditTool(tool) ? "." : path)
      : undefined;
  return { ...call, tool, space, target };
}

/** Decides about tool calls. Every call passes here, on every path. */
export class Policy {
  readonly #options: PolicyOptions;
  readonly #mode: PermissionMode;
  readonly #space: PathSpace;
  readonly #defaults: boolean;
  readonly #fixed: readonly OriginRule[];

  /** Made by `createPolicy`. */
  constructor(options: PolicyOptions, mode: PermissionMode) {
    this.#options = options;
    this.#mode = mode;
    this.#space = new PathSpace(options);
    this.#defaults = options.defaults !== false;
    const own = (options.rules ?? []).map(
      (rule): OriginRule => ({ ...rule, tool: toToolName(rule.tool), origin: "user" }),
    );
    this.#fixed = [...own, ...(this.#defaults ? BUILT_IN_RULES : [])];
  }

  get #rules(): RuleSet {
    return new RuleSet([...this.#fixed, ...(this.#options.session?.rules ?? [])]);
  }

  /** Judges one call. Never throws: what cannot be judged asks. */
  check(given: PolicyCall): PolicyDecision {
    const space = given.cwd === undefined ? this.#space : this.#space.from(given.cwd);
    const call = judgedCall(given, space);
    const place = call.target?.resolved ?? space.place;
    try {
      const { isFirm: _, part, ...decision } = this.#inMode(this.#judge(call));
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

  #sandbox(): SandboxState {
    const { sandbox = "none" } = this.#options;
    return typeof sandbox === "function" ? sandbox() : sandbox;
  }

  #judge(call: JudgedCall): Verdict {
    const { tool, input, space, target } = call;
    const rules = this.#rules;
    const { command } = fieldsOf(input);
    if (!isRecord(input) || (tool === "bash" && typeof command !== "string")) {
      const rule = rules.whole("deny", tool);
      return rule ? byRule(rule, tool) : notJudged(`The call of ${shown(tool)} lacks its arguments.`);
    }
    const shared = { rules, space, mode: this.#mode, defaults: this.#defaults };
    if (typeof command === "string" && tool === "bash") {
      const { access } = input;
      // What is no known access is judged as the widest: the tool refuses it.
      const reach = access === undefined || access === "network" ? access : "full";
      return judgeCommand({ command, access: reach, sandbox: this.#sandbox(), ...shared });
    }
    if (tool === "batch") return this.#batch(call, input["calls"]);
    if (tool === "web_fetch") {
      const verdict = judgeUrl(input, rules);
      return verdict.decision === "allow" ? verdict : this.#planned(verdict, tool);
    }
    if (!isFileTool(tool)) return this.#other(call, input);
    const verdict = judgePath({ tool, input, target, ...shared });
    return isEditTool(tool) ? this.#planned(verdict, tool) : verdict;
  }

  /** In plan mode nothing runs that may change something. */
  #planned(verdict: Verdict, tool: string): Verdict {
    return this.#mode !== "plan" || verdict.decision === "deny" ? verdict : planDenial(verdict.part ?? tool);
  }

  /** A batch is as good as its worst call. */
  #batch({ space, batchedCallsFollow = false }: JudgedCall, calls: unknown): Verdict {
    const rule = this.#rules.whole("deny", "batch") ?? this.#rules.whole("ask", "batch");
    if (rule !== undefined) return byRule(rule, "batch");
    const passed: Verdict = { decision: "allow", reason: "Each call of the batch is judged by itself." };
    if (batchedCallsFollow) return passed;
    if (!Array.isArray(calls) || calls.length === 0 || calls.length > MAX_CALLS)
      return notJudged("The batch holds no calls that can be judged.");
    const verdicts = calls.map((call: unknown): Verdict => {
      const { tool, input } = fieldsOf(call);
      if (typeof tool !== "string" || toToolName(tool) === "batch")
        return notJudged("The batch holds a call that cannot be judged.");
      return this.#inMode(this.#judge(judgedCall({ tool, input }, space)));
    });
    const refused = verdicts.find(({ decision }) => decision === "deny");
    return refused ?? verdicts.find(({ decision }) => decision === "ask") ?? passed;
  }

  /** Tools whose rules describe every call, or a name in it. */
  #other({ tool, readOnly = false }: JudgedCall, input: Fields): Verdict {
    const name = patternKind(tool) === "name" ? input[tool === "skill" ? "name" : "agent"] : undefined;
    const fits = ({ pattern }: OriginRule): boolean =>
      pattern === undefined || (typeof name === "string" && matchesText(pattern, name));
    const rules = this.#rules;
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
