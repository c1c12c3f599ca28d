import type { Origin } from "../markdown/origin.ts";

/** Instructions for a kind of task, kept in a folder with a `SKILL.md` and the files it speaks of. */
export interface Skill {
  /** Lower-case letters, digits and dashes, at most 64; also the name of its folder. */
  readonly name: string;
  /** When to use it, at most 1,024 characters. */
  readonly description: string;
  /** False keeps it from the model; a person can still see and use it. */
  readonly forModel: boolean;
  readonly origin: Origin;
  /** Its `SKILL.md`. */
  readonly path: string;
  /** Its folder, links resolved. */
  readonly folder: string;
}
