/** A job: the order to work on a run. */
export interface RunJob {
  readonly id: string;
  readonly queue: string;
  readonly run: string;
  /** Counts the times it was handed out. */
  readonly attempt: number;
}
