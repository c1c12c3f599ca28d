import type { ShellWord } from "./shell-command.ts";

/** Words of a command that the `*` of an allow rule does not cover. */
export interface WordGuard {
  /** Index of the first word, and one behind the last. */
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** The program these words run: where a rule of its own allows it, nothing is left to guard. */
  readonly program?: readonly ShellWord[];
  /** That program runs in folders that are not known here. */
  readonly elsewhere?: boolean;
}
