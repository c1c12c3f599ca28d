import type { Gate, GateDecision, GateRequest } from "../core/agent/gate.ts";
import type { ToolInput } from "../core/message/block.ts";
import type { PermissionMode } from "./permission-mode.ts";
import { createPolicy, type Policy, type PolicyDecision, type PolicyOptions } from "./policy.ts";

/** Options of a {@link PolicyGate}: its policy, and whom it tells. */
export interface PolicyGateOptions extends PolicyOptions {
  /** Told the place that a call of a file tool was judged by, links resolved: that is to be opened. */
  readonly onPlace?: (request: GateRequest, place: string) => void;
  /** Told of every command line how it was judged, by the arguments it would run with. */
  readonly onCommand?: (input: ToolInput, judged: JudgedCommand) => void;
}

/** How a command line was judged. */
export interface JudgedCommand {
  /** Rules alone allow it, without a person and without trust in the whole tool. */
  readonly isCovered: boolean;
  /** True when the rules allow it in the same form as things stand now. */
  readonly isStillAllowed: () => boolean;
}

/**
 * The policy as the gate of an agent loop. A batch passes, since each of its calls comes by itself, unless a
 * rule denies or asks about `batch`. Paths start at the folder of the request. A tool that says it is
 * read-only counts as one.
 */
export class PolicyGate implements Gate {
  #options: PolicyGateOptions;
  readonly #policies = new Map<string, Policy>();

  constructor(options: PolicyGateOptions) {
    this.#options = options;
    this.#policy(options.cwd, undefined);
  }

  /** Judges by another mode from the next call on. Throws `invalid_argument` for one there is not. */
  setMode(mode: PermissionMode): void {
    createPolicy({ ...this.#options, mode });
    this.#options = { ...this.#options, mode };
    this.#policies.clear();
  }

  check(request: GateRequest): GateDecision {
    const { name, input, cwd, tool } = request;
    const isBuiltIn = NAMED.has(name);
    const policy = this.#policy(
      cwd === "" ? this.#options.cwd : cwd,
      tool.readOnly === true && !isBuiltIn ? name : undefined,
    );
    const { decision, answer, place } = judgeBy(policy, request);
    if (name === "bash")
      this.#options.onCommand?.(answer.input ?? input, {
        isCovered: decision.isCovered === true,
        isStillAllowed: () => this.#runs(request) === decision.runs,
      });
    if (place !== undefined) this.#options.onPlace?.(request, place);
    return answer;
  }

  /** The form in which the rules allow a command now. */
  #runs({ name, input, cwd }: GateRequest): string | undefined {
    const { decision, runs } = this.#policy(cwd === "" ? this.#options.cwd : cwd, undefined).check({
      tool: name,
      input,
    });
    return decision === "allow" ? runs : undefined;
  }

  /** {@link Policy.hides}, for paths of the working folder. */
  hides(path: string): boolean {
    return this.#policy(this.#options.cwd, undefined).hides(path);
  }

  /** One policy per folder and read-only tool; what they share is small. */
  #policy(cwd: string, reader: string | undefined): Policy {
    const key = `${cwd}\0${reader ?? ""}`;
    const known = this.#policies.get(key);
    if (known !== undefined) return known;
    const policy = createPolicy({
      ...this.#options,
      cwd,
      batchedCallsFollow: true,
      ...(reader === undefined ? {} : { readOnlyTools: [reader] }),
    });
    this.#policies.set(key, policy);
    return policy;
  }
}

/** The judgement of a policy about a call. */
interface Judgement {
  readonly decision: PolicyDecision;
  readonly answer: GateDecision;
  /** The file that a call of a file tool leads to, links resolved. */
  readonly place: string | undefined;
}

/**
 * The decision of a policy as the agent loop takes it: with the place that the call leads to, and a line that
 * was judged in another form runs in that form.
 */
export function judgeBy(
  policy: Policy,
  { name, input }: { readonly name: string; readonly input: ToolInput },
): Judgement {
  const call = { tool: name, input };
  const decision = policy.check(call);
  const place = policy.placeOf(call);
  const { decision: action, runs, isCovered: _, ...rest } = decision;
  const isOther = action === "allow" && runs !== undefined && runs !== input["command"];
  const answer = {
    action,
    ...rest,
    place: place ?? policy.folder,
    ...(isOther ? { input: { ...input, command: runs } } : {}),
  };
  return { decision, answer, place };
}

const NAMED = new Set(["bash", "read", "write", "edit", "glob", "grep", "batch", "web_fetch"]);
