import type { Gate, GateDecision, GateRequest } from "../core/agent/ports.ts";
import type { ToolInput } from "../core/message/block.ts";
import type { PermissionMode } from "./permission-mode.ts";
import { createPolicy, type Policy, type PolicyOptions } from "./policy.ts";

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
  #options: PolicyGateOptions;
  readonly #policies = new Map<string, Policy>();
  readonly #looking = new WeakSet();

  constructor(options: PolicyGateOptions) {
    this.#options = options;
    this.#policy(options.cwd, undefined);
  }

  /** Judges by another mode from the next call on. Throws `invalid_argument` for one there is not. */
  setMode(mode: PermissionMode): void {
    const options = { ...this.#options, mode };
    createPolicy(options);
    this.#options = options;
    this.#policies.clear();
  }

  /**
   * True for the arguments (the object itself) of a command that was allowed without a rule, since it only
   * looks: git is to run it without hooks, file watcher and other programs.
   */
  readonly looks = (input: object): boolean => this.#looking.has(input);

  /** {@link Policy.hides}, for paths of the working folder. */
  hides(path: string): boolean {
    return this.#policy(this.#options.cwd, undefined).hides(path);
  }

  check(request: GateRequest): GateDecision {
    const { name, input, cwd, tool } = request;
    const isReader = tool.readOnly === true && !NAMED.has(name);
    const policy = this.#policy(cwd === "" ? this.#options.cwd : cwd, isReader ? name : undefined);
    const { answer, place, looks } = judgeBy(policy, request);
    if (looks) this.#looking.add(input);
    else this.#looking.delete(input);
    if (place !== undefined) this.#options.onPlace?.(request, place);
    return answer;
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
  readonly answer: GateDecision;
  /** The file that a call of a file tool leads to, links resolved. */
  readonly place: string | undefined;
  /** True for a command that is allowed since it only looks. */
  readonly looks: boolean;
}

/** The decision of a policy as the agent loop takes it, with the place that the call leads to. */
export function judgeBy(
  policy: Policy,
  { name, input }: { readonly name: string; readonly input: ToolInput },
): Judgement {
  const call = { tool: name, input };
  const { decision: action, looks, ...rest } = policy.check(call);
  const place = policy.placeOf(call);
  return { answer: { action, ...rest, place: place ?? policy.folder }, place, looks: looks === true };
}

const NAMED = new Set(["bash", "read", "write", "edit", "glob", "grep", "batch", "web_fetch"]);
