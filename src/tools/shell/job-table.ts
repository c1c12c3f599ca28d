import type { RunningCommand } from "./running-command.ts";

/** A command that goes on after its call returned. */
export interface Job {
  /** `job_1`, `job_2`, … */
  readonly id: string;
  readonly running: RunningCommand;
  /** True for what a finished command left running, false for a command started in the background. */
  readonly isLeftover: boolean;
}

const MAX_FINISHED = 100;

/** The jobs of a session, oldest first. */
export class JobTable {
  readonly #jobs = new Map<string, Job>();
  readonly #ended = new Map<string, number | null>();
  #onEnd: () => void = () => undefined;
  #count = 0;

  /** Makes a command a job. It no longer keeps the program alive. */
  add(running: RunningCommand, { isLeftover }: { readonly isLeftover: boolean }): Job {
    const job: Job = { id: `job_${++this.#count}`, running, isLeftover };
    this.#jobs.set(job.id, job);
    running.process.unref();
    void this.#watch(job);
    this.#dropOldFinished();
    return job;
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  all(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  /**
   * The exit codes of the jobs that ended, as soon as nothing of them writes or runs; null: ended by a
   * signal. `onEnd` is called for each.
   */
  watch(onEnd: () => void): ReadonlyMap<string, number | null> {
    this.#onEnd = onEnd;
    return this.#ended;
  }

  async #watch({ id, running }: Job): Promise<void> {
    await Promise.all([running.settled, running.process.closed]);
    if ((await running.process.running()).length > 0) return;
    this.#ended.set(id, running.exit?.code ?? null);
    this.#onEnd();
  }

  #dropOldFinished(): void {
    const finished = this.all().filter((job) => !job.isLeftover && job.running.exit !== undefined);
    for (const job of finished.slice(0, -MAX_FINISHED)) this.#jobs.delete(job.id);
  }
}
