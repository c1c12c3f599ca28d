import type { PermittedPlaces } from "../files/permitted-places.ts";
import type { RipgrepChoice, RipgrepLocator } from "./ripgrep.ts";

/** What the tools that search take. */
export interface SearchToolOptions {
  /** Folder that relative paths refer to. Default: the working folder of the call. */
  readonly cwd?: string;
  /** What `~` stands for in paths. Default: the home folder of the user. */
  readonly home?: string;
  /** Which ripgrep to use; `false` searches without it. Default: `rg` on the PATH, then the one installed along. */
  readonly ripgrep?: RipgrepChoice;
  /** A locator to share, so that several tools look for ripgrep once. Goes before `ripgrep`. */
  readonly locator?: RipgrepLocator;
  /**
   * Files that are neither listed nor searched for the model, by absolute path: those that a rule denies it to read, say. What makes
   * it throw is left out.
   */
  readonly excludes?: (path: string) => boolean;
  /** Milliseconds after which a search ends with what it has found. Default 20,000. */
  readonly timeoutMs?: number;
  /** Where calls led when they were permitted: a call that leads elsewhere is refused. Default: calls are not compared with anything. */
  readonly permitted?: PermittedPlaces;
}
