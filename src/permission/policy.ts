import { defined } from "../core/base/defined.ts";
import { misuse } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import { BUILT_IN_RULES } from "./built-in-rules.ts";
import { judgeCommand } from "./commands/judge-command.ts";
import { judgePath } from "./judge-path.ts";
import { judgeUrl } from "./judge-url.ts";
import { matchesText } from "./match-text.ts";
import { PathSpace, type PathSpaceOptions } from "./paths/path-space.ts";
import { assertPermissionMode, type PermissionMode } from "./permission-mode.ts";
import type { SandboxState } from "./placement.ts";
import { type OriginRule, type Rule, ruleText } from "./rule.ts";
import { RuleSet } from "./rule-set.ts";
import { secretPattern } from "./secret-files.ts";
import type { SessionRules } from "./session-rules.ts";
import { isEditTool, isReadTool, patternKind, toToolName } from "./tool-names.ts";
import { BYPASSED, byRule, notJudged, planDenial, shown, type Verdict } from "./verdict.ts";

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
  /** The calls of a batch come here too: the batch itself passes. Default false: its calls judge it. */
  readonly batchedCallsFollow?: boolean;
  /** Tools of others that change nothing outside the agent: the plan and default modes let them read. */
  readonly readOnlyTools?: readonly string[];
}

/** A call to judge. */
export interface PolicyCall {
  readonly tool: string;
  readonly input: unknown;
}

/** The decision of the policy about a call. */
export type PolicyDecision = Omit<Verdict, "isFirm">;

/** Decides about tool calls. Every call passes here, on every path. */
export interface Policy {
  /** Judges one call. Never throws: what cannot be judged asks. */
  check(call: PolicyCall): PolicyDecision;
  /** The path, links resolved, that the last check of this file tool's call judged; else `undefined`. */
  placeOf(call: PolicyCall): string | undefined;
  /** The working folder, links resolved, as the last check saw it. */
  readonly folder: string;
  /** True when a search hides a file (absolute, links resolved): denied or asked to read, or with keys. */
  hides(path: string): boolean;
}

/** A policy over rules, mode and workspace. Throws `invalid_argument`: unknown mode, no folders. */
export function createPolicy(options: PolicyOptions): Policy {
  const mode = options.mode ?? "default";
  assertPermissionMode(mode);
  if (options.workspace.length === 0) throw misuse("A policy needs at least one workspace folder.");
  return new RulePolicy(options, mode);
}

const MAX_CALLS = 100;

class RulePolicy implements Policy {
  readonly #options: PolicyOptions;
  readonly #mode: PermissionMode;
  readonly #space: PathSpace;
  readonly #fixed: readonly OriginRule[];
  readonly #defaults: boolean;
  #rules: RuleSet;
  #sessionRevision = 0;

  constructor(options: PolicyOptions, mode: PermissionMode) {
    this.#options = options;
    this.#mode = mode;
    this.#space = new PathSpace(options);
    this.#defaults = options.defaults !== false;
    const own = (options.rules ?? []).map(
      (rule): OriginRule => ({ ...rule, tool: toToolName(rule.tool), origin: "user" }),
    );
    this.#fixed = [...own, ...(this.#defaults ? BUILT_IN_RULES : [])];
    this.#rules = new RuleSet(this.#fixed);
  }

  check({ tool, input }: PolicyCall): PolicyDecision {
    this.#space.refresh();
    this.#refreshRules();
    try {
      const { isFirm: _, ...decision } = this.#inMode(this.#judge(toToolName(tool), input));
      return decision;
    } catch (error) {
      const why = error instanceof Error ? error.message : "unknown failure";
      const verdict = notJudged(`The call could not be judged (${why}).`);
      return this.#mode === "dontAsk" ? { ...verdict, decision: "deny" } : verdict;
    }
  }

  placeOf({ tool, input }: PolicyCall): string | undefined {
    const name = toToolName(tool);
    if (!isReadTool(name) && !isEditTool(name)) return undefined;
    const path = isRecord(input) ? (input["path"] ?? ".") : undefined;
    if (typeof path !== "string") return undefined;
    return this.#space.path(path === "" ? "." : path).resolved;
  }

  get folder(): string {
    return this.#space.place;
  }

  hides(path: string): boolean {
    this.#refreshRules();
    const bypassed = this.#mode === "bypassPermissions";
    const judged = { given: path, written: [path], resolved: path };
    return (
      (["deny", "ask"] as const).some(
        (action) =>
          this.#rules.againstPath(action, "grep", { path: judged, space: this.#space }) !== undefined,
      ) ||
      (this.#defaults && !bypassed && secretPattern(path) !== undefined)
    );
  }

  #refreshRules(): void {
    const { session } = this.#options;
    if (session === undefined || session.revision === this.#sessionRevision) return;
    this.#sessionRevision = session.revision;
    this.#rules = new RuleSet([...this.#fixed, ...session.rules]);
  }

  #judge(tool: string, input: unknown): Verdict {
    if (!isRecord(input)) {
      const rule = this.#rules.whole("deny", tool);
      return rule === undefined
        ? notJudged(`The arguments of ${shown(tool)} are not an object.`)
        : byRule(rule, tool);
    }
    if (tool === "batch") return this.#batch(input);
    if (tool === "bash") return this.#shell(input);
    if (isReadTool(tool) || isEditTool(tool)) {
      const rules = this.#rules;
      const space = this.#space;
      const verdict = judgePath({ tool, input, rules, space, mode: this.#mode, defaults: this.#defaults });
      return isEditTool(tool) ? this.#planned(verdict, tool) : verdict;
    }
    if (tool === "web_fetch") return this.#planned(judgeUrl(input, this.#rules), tool);
    return this.#other(tool, input);
  }

  #shell(input: Readonly<Record<string, unknown>>): Verdict {
    const { command, access } = input;
    if (typeof command !== "string") {
      const rule = this.#rules.whole("deny", "bash");
      return rule === undefined ? notJudged("The call of bash has no command.") : byRule(rule, "bash");
    }
    const { sandbox = "none" } = this.#options;
    return judgeCommand({
      command,
      // What is no known access is judged as the widest: the tool refuses it.
      access: access === undefined || access === "network" ? access : "full",
      rules: this.#rules,
      space: this.#space,
      mode: this.#mode,
      sandbox: typeof sandbox === "function" ? sandbox() : sandbox,
      defaults: this.#defaults,
    });
  }

  /** In plan mode nothing runs that may change something. */
  #planned(verdict: Verdict, tool: string): Verdict {
    if (this.#mode !== "plan" || verdict.decision === "deny") return verdict;
    if (tool === "web_fetch" && verdict.decision === "allow") return verdict;
    return planDenial(verdict.part ?? tool);
  }

  /** A batch is as good as its worst call. */
  #batch(input: Readonly<Record<string, unknown>>): Verdict {
    for (const action of ["deny", "ask"] as const) {
      const rule = this.#rules.whole(action, "batch");
      if (rule !== undefined) return byRule(rule, "batch");
    }
    if (this.#options.batchedCallsFollow === true)
      return { decision: "allow", reason: "Each call of the batch is judged by itself." };
    const calls = input["calls"];
    if (!Array.isArray(calls) || calls.length === 0 || calls.length > MAX_CALLS)
      return notJudged("The batch holds no calls that can be judged.");
    const verdicts = calls.map((call: unknown): Verdict => {
      const tool = isRecord(call) && typeof call["tool"] === "string" ? toToolName(call["tool"]) : undefined;
      if (!isRecord(call) || tool === undefined || tool === "batch")
        return notJudged("The batch holds a call that cannot be judged.");
      return this.#inMode(this.#judge(tool, call["input"]));
    });
    return (
      verdicts.find(({ decision }) => decision === "deny") ??
      verdicts.find(({ decision }) => decision === "ask") ?? {
        decision: "allow",
        reason: "Every call of the batch is allowed.",
      }
    );
  }

  /** Tools whose rules describe every call, or a name in it. */
  #other(tool: string, input: Readonly<Record<string, unknown>>): Verdict {
    const name = patternKind(tool) === "name" ? input[tool === "skill" ? "name" : "agent"] : undefined;
    const fits = ({ pattern }: OriginRule): boolean =>
      pattern === undefined || (typeof name === "string" && matchesText(pattern, name));
    const isReader = this.#options.readOnlyTools?.includes(tool) === true;
    const isKill = tool === "job" && input["action"] === "kill";
    const isOwn =
      !isKill && this.#rules.forTool("allow", tool).some((rule) => rule.origin === "built-in" && fits(rule));
    const planned = (verdict: Verdict): Verdict =>
      isReader || isOwn ? verdict : this.#planned(verdict, tool);
    for (const action of ["deny", "ask", "allow"] as const) {
      const rule = this.#rules.forTool(action, tool).find(fits);
      if (rule !== undefined) return planned(byRule(rule, tool));
    }
    if (isReader) return { decision: "allow", part: tool, reason: `${shown(tool)} only reads.` };
    const suggestion = /^[\w.:/@-]+$/.test(tool) ? { suggestion: ruleText({ tool }) } : {};
    return planned({
      decision: "ask",
      part: tool,
      reason: `No rule allows ${shown(tool)}.`,
      code: "no_rule",
      ...suggestion,
    });
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
