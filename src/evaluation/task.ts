/** The bounds of one run of a task, and of the programs around it. */
export interface TaskLimits {
  /** Model requests. Default: as many as the settings allow. */
  readonly turns?: number;
  /** Milliseconds the agent may take. */
  readonly timeMs: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  /** US dollars. */
  readonly usd?: number;
  /** Milliseconds that `setup` and `check` may take, each. */
  readonly checkMs: number;
}

/** A task of a suite: a prompt, the files it is about, and a program that says whether it was solved. */
export interface Task {
  /** Name of its folder. No two tasks of an evaluation share one. */
  readonly name: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly prompt: string;
  readonly limits: TaskLimits;
  /** Absolute path of its folder. */
  readonly folder: string;
  /** SHA-256 of everything in the folder. */
  readonly hash: string;
  /** The optional parts that are there. */
  readonly has: { readonly files: boolean; readonly setup: boolean; readonly reference: boolean };
  /** An answer that solves it, as `check` gets it on standard input. */
  readonly referenceAnswer: string | undefined;
}

/** Why a folder cannot be used as a task: one sentence each, with what to do. */
export interface TaskFault {
  readonly name: string;
  readonly folder: string;
  readonly faults: readonly string[];
}
