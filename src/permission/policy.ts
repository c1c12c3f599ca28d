import { defined } from "../core/base/defined.ts";
import { misuse } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import { BUILT_IN_RULES } from "./built-in-rules.ts";
import { judgePath } from "./judge-path.ts";
import { judgeShell } from "./judge-shell.ts";
import { judgeUrl } from "./judge-url.ts";
import { matchesText } from "./match-text.ts";
import { GitFiles, type GitPrograms, gitPrograms } from "./paths/git-programs.ts";
import { PathSpace, type PathSpaceOptions } from "./paths/path-space.ts";
import { programsBelow } from "./paths/programs-below.ts";
import { repositoriesFrom } from "./paths/repository.ts";
import { assertPermissionMode, type PermissionMode } from "./permission-mode.ts";
import { type OriginRule, type Rule, ruleText } from "./rule.ts";
import { RuleSet } from "./rule-set.ts";
import type { RepositoryPrograms } from "./run-by-git.ts";
import { secretPattern } from "./secret-files.ts";
import type { SessionRules } from "./session-rules.ts";
import { ShellRules } from "./shell-rules.ts";
import { isEditTool, isReadTool, patternKind, toToolName } from "./tool-names.ts";
import { BYPASSED, byRule, planDenial, shown, type Verdict } from "./verdict.ts";

/** Options of a {@link Policy}. */
export interface PolicyOptions extends PathSpaceOptions {
  /** Rules of the user. Default none. */
  readonly rules?: readonly Rule[];
  /** Default `default`. */
  readonly mode?: PermissionMode;
  /** True when the built-in rules take part. Default true. */
  readonly defaults?: boolean;
  /** Tools trusted as a whole for this run, redirections and unreadable commands too; deny and ask stay. */
  readonly trusted?: readonly string[];
  /** The shell is not Bash: only what every POSIX shell reads alike is covered. Default false. */
  readonly isPosixShell?: boolean;
  /** Rules from answers of this session. */
  readonly session?: SessionRules;
  /** The calls of a batch come here too: the batch itself passes. Default false: its calls judge it. */
  readonly batchedCallsFollow?: boolean;
  /** True when a person agreed to what the settings of a repository have git run. Default: nobody did. */
  readonly admitsPrograms?: (repository: string, programs: GitPrograms) => boolean;
  /** Tools of others that change nothing outside the agent: the plan and default modes let them read. */
  readonly readOnlyTools?: readonly string[];
}

/** A call to judge. */
export interface PolicyCall {
  readonly tool: string;
  readonly input: unknown;
}

/** The decision of the policy about a call. */
export interface PolicyDecision extends Omit<Verdict, "by" | "mode" | "obstacle"> {
  /**
   * The ground of the decision, for programs: a rule (`allow_rule`, `ask_rule`, `deny_rule`), that there is
   * none (`no_rule`), a mode (`plan_mode`, `dont_ask_mode`), or that the call cannot be judged
   * (`not_judged`). Absent for what is allowed without a rule.
   */
  readonly code?: PolicyCode;
  /** A line allowed by rules about single commands: nobody saw it whole, nor is the tool trusted. */
  readonly isCovered?: true;
}

/** See {@link PolicyDecision}. */
export type PolicyCode =
  | "allow_rule"
  | "ask_rule"
  | "deny_rule"
  | "no_rule"
  | "plan_mode"
  | "dont_ask_mode"
  | "protected_path"
  | "not_judged";

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
/** Grounds to ask even in a mode that bypasses questions: rules of the user, doubts that no rule settles. */
const MODE_CANNOT_ALLOW: ReadonlySet<Verdict["by"]> = new Set(["user", "session", "form"]);

class RulePolicy implements Policy {
  readonly #options: PolicyOptions;
  readonly #mode: PermissionMode;
  readonly #space: PathSpace;
  readonly #fixed: readonly OriginRule[];
  readonly #defaults: boolean;
  #rules: RuleSet;
  #shellRules: ShellRules | undefined;
  #sessionRevision = 0;
  readonly #gitFiles = new GitFiles();
  /** The programs git would run, by folder, as far as this check has looked. */
  readonly #programs = new Map<string, readonly GitPrograms[]>();
  readonly #below = new Map<string, readonly string[]>();
  readonly #repositories: RepositoryPrograms = {
    of: (folder) => this.#programsOf(folder),
    below: (folder) => this.#programsBelow(folder),
  };

  constructor(options: PolicyOptions, mode: PermissionMode) {
    this.#options = options;
    this.#mode = mode;
    this.#space = new PathSpace(options);
    this.#defaults = options.defaults !== false;
    const own = (options.rules ?? []).map(
      (rule): OriginRule => ({ ...rule, tool: toToolName(rule.tool), origin: "user" }),
    );
    const trusted = (options.trusted ?? []).map(
      (tool): OriginRule => ({ tool: toToolName(tool), action: "allow", origin: "user" }),
    );
    this.#fixed = [...own, ...trusted, ...(this.#defaults ? BUILT_IN_RULES : [])];
    this.#rules = new RuleSet(this.#fixed);
  }

  check({ tool, input }: PolicyCall): PolicyDecision {
    this.#space.refresh();
    this.#programs.clear();
    this.#below.clear();
    this.#refreshRules();
    try {
      const name = toToolName(tool);
      const verdict = this.#inMode(this.#judge(name, input), name);
      const isCovered = name === "bash" && verdict.decision === "allow" && verdict.by !== "mode";
      const decision = toDecision(verdict);
      return isCovered && this.#rules.whole("allow", name) === undefined
        ? { ...decision, isCovered: true }
        : decision;
    } catch (error) {
      const reason = `The call could not be judged (${error instanceof Error ? error.message : "unknown failure"}).`;
      return { decision: this.#mode === "dontAsk" ? "deny" : "ask", reason, code: "not_judged" };
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
    this.#shellRules = undefined;
  }

  #judge(tool: string, input: unknown): Verdict {
    if (!isRecord(input)) {
      const rule = this.#rules.whole("deny", tool);
      return rule === undefined
        ? { decision: "ask", reason: `The arguments of ${shown(tool)} are not an object.`, by: "guard" }
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
    const command = input["command"];
    if (typeof command !== "string") {
      const rule = this.#rules.whole("deny", "bash");
      return rule === undefined
        ? { decision: "ask", reason: "The call of bash has no command.", by: "guard" }
        : byRule(rule, "bash");
    }
    this.#shellRules ??= new ShellRules(this.#rules, this.#space);
    return judgeShell(command, {
      rules: this.#shellRules,
      space: this.#space,
      defaults: this.#defaults,
      trusted: (this.#options.trusted ?? []).some((tool) => toToolName(tool) === "bash"),
      bypassed: this.#mode === "bypassPermissions",
      onlyReads: this.#mode === "plan",
      edits: this.#mode === "acceptEdits" || this.#mode === "auto",
      posix: this.#options.isPosixShell === true,
      programs: this.#repositories,
    });
  }

  #programsOf(folder: string): readonly GitPrograms[] {
    const known = this.#programs.get(folder);
    if (known !== undefined) return known;
    const found = repositoriesFrom(folder, this.#gitFiles.read).flatMap((repository) => {
      const programs = gitPrograms(repository, this.#gitFiles);
      const isOpen = programs !== undefined && this.#options.admitsPrograms?.(repository, programs) !== true;
      return isOpen ? [programs] : [];
    });
    this.#programs.set(folder, found);
    return found;
  }

  /** Goes through a whole work tree, which is to happen once for a line. */
  #programsBelow(folder: string): readonly string[] {
    return repositoriesFrom(folder, this.#gitFiles.read).flatMap((tree) => {
      const found = this.#below.get(tree) ?? programsBelow(tree, this.#gitFiles);
      this.#below.set(tree, found);
      return found;
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
      return { decision: "allow", reason: "Each call of the batch is judged by itself.", by: "mode" };
    const calls = input["calls"];
    if (!Array.isArray(calls) || calls.length === 0 || calls.length > MAX_CALLS)
      return { decision: "ask", reason: "The batch holds no calls that can be judged.", by: "guard" };
    const verdicts = calls.map((call: unknown): Verdict => {
      const tool = isRecord(call) && typeof call["tool"] === "string" ? toToolName(call["tool"]) : undefined;
      if (!isRecord(call) || tool === undefined || tool === "batch")
        return { decision: "ask", reason: "The batch holds a call that cannot be judged.", by: "guard" };
      return this.#inMode(this.#judge(tool, call["input"]), tool);
    });
    return (
      verdicts.find(({ decision }) => decision === "deny") ??
      verdicts.find(({ decision }) => decision === "ask") ?? {
        decision: "allow",
        reason: "Every call of the batch is allowed.",
        by: "mode",
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
    if (isReader) return { decision: "allow", part: tool, reason: `${shown(tool)} only reads.`, by: "mode" };
    const suggestion = /^[\w.:/@-]+$/.test(tool) ? { suggestion: ruleText({ tool }) } : {};
    return planned({
      decision: "ask",
      part: tool,
      reason: `No rule allows ${shown(tool)}.`,
      ...suggestion,
      by: "mode",
    });
  }

  #inMode(verdict: Verdict, tool: string): Verdict {
    if (verdict.decision !== "ask") return verdict;
    if (this.#mode === "dontAsk")
      return {
        ...verdict,
        decision: "deny",
        reason: `${verdict.reason} Nothing is asked in this mode.`,
        mode: "dontAsk",
      };
    if (this.#mode !== "bypassPermissions" || MODE_CANNOT_ALLOW.has(verdict.by)) return verdict;
    if (verdict.by === "guard" && isEditTool(tool)) return verdict;
    return { ...BYPASSED, ...defined({ part: verdict.part }) };
  }
}

function toDecision(verdict: Verdict): PolicyDecision {
  const { by: _by, mode: _mode, obstacle: _obstacle, ...decision } = verdict;
  const code = codeOf(verdict);
  return code === undefined ? decision : { ...decision, code };
}

function codeOf({ decision, rule, part, by, mode, obstacle }: Verdict): PolicyCode | undefined {
  if (mode !== undefined) return mode === "plan" ? "plan_mode" : "dont_ask_mode";
  if (rule !== undefined) return `${decision}_rule`;
  if (decision === "allow") return undefined;
  if (obstacle === "protected") return "protected_path";
  const isJudged = obstacle === undefined && by !== "form" && (by !== "guard" || part !== undefined);
  return isJudged ? "no_rule" : "not_judged";
}
