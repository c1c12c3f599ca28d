import type { AgentEvent } from "../core/agent/event.ts";
import type { LinkedController } from "../core/base/abort.ts";
import type { Clock } from "../core/base/clock.ts";
import { NanoAgentError } from "../core/base/errors.ts";

/** What an agent has at hand of the run at work: what stops it, and where it is published. */
export class ActiveRun {
  /** Publishes an event of the run. */
  emit: (event: AgentEvent) => void = () => undefined;
  readonly #linked: LinkedController;
  #wallTime: AbortController | undefined;
  #isReleased = false;

  constructor(linked: LinkedController) {
    this.#linked = linked;
  }

  get signal(): AbortSignal {
    return this.#linked.controller.signal;
  }

  /** Whether it was let go of. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  stop(reason: string): void {
    this.#linked.controller.abort(new NanoAgentError("aborted", reason));
  }

  /** Stops it, and nothing more of it is recorded. */
  release(): void {
    this.#isReleased = true;
    this.stop("The run was let go of.");
  }

  /** Stops it when it takes longer than `wallTimeMs`, `workedMs` of which are over. */
  limitWallTime(wallTimeMs: number, workedMs: number, clock: Clock): void {
    const ended = new AbortController();
    this.#wallTime = ended;
    const reached = new NanoAgentError("timeout", `The run took longer than ${wallTimeMs} ms.`);
    clock.sleep(wallTimeMs - workedMs, ended.signal).then(
      () => this.#linked.controller.abort(reached),
      // The run has ended in time.
      () => undefined,
    );
  }

  /** To be called when it is over, whatever became of it. */
  end(): void {
    this.#wallTime?.abort();
    this.#linked.unlink();
  }
}
