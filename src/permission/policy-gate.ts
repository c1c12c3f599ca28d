import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Gate, GateDecision, GateRequest } from "../core/agent/ports.ts";
import type { PathSpaceOptions } from "./path-space.ts";
import type { PermissionMode } from "./permission-mode.ts";
import { createPolicy, type Policy, type PolicyOptions } from "./policy.ts";
import { DEFAULT_RULES, isFileTool, parseRules, type Rule, type RuleAction } from "./rule.ts";

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

/** Options of a {@link PermissionManager}. */
export interface PermissionManagerOptions extends Omit<PolicyOptions, "rules" | keyof PathSpaceOptions> {
  /** Default {@link DEFAULT_RULES}. */
  readonly rules?: readonly Rule[];
  /** Folder that relative paths refer to. Default: that of the agent that asks, else of the process. */
  readonly cwd?: string;
  /** The folder `~` stands for. Default: the home folder of the user. */
  readonly home?: string;
  /** Folders whose files are no secret. Default: `cwd`. */
  readonly workspace?: readonly string[];
}

/**
 * Rules over one engine with a short answer: allow, deny or ask. Ask means deny where nobody can be asked. As
 * the gate of an agent it judges paths from the folder the tools open them from.
 */
export class PermissionManager implements Gate {
  readonly #options: Omit<PermissionManagerOptions, "rules">;
  #rules: readonly Rule[];

  /** Throws `invalid_config` for a malformed rule. */
  constructor(given: readonly Rule[] | PermissionManagerOptions = {}) {
    const { rules = DEFAULT_RULES, ...options } = "map" in given ? { rules: given } : given;
    this.#options = options;
    this.#rules = parseRules([...rules]);
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
