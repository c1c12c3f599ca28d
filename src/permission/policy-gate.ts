import type { Gate, GateDecision, GateRequest } from "../core/agent/ports.ts";
import type { PermissionMode } from "./permission-mode.ts";
import { createPolicy, type Policy, type PolicyOptions } from "./policy.ts";
import { isFileTool } from "./tool-names.ts";

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
