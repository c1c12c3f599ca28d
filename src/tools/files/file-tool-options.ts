import type { FilePort } from "./file-port.ts";
import type { FileState } from "./file-state.ts";
import type { PermittedPlaces } from "./permitted-places.ts";

/** What the tools that touch files take. */
export interface FileToolOptions {
  /** Folder that relative paths refer to. Default: the working folder of the call. */
  readonly cwd?: string;
  /** What `~` stands for in paths. Default: the home folder of the user. */
  readonly home?: string;
  /** What was read in a session. Tools made with the same one know of each other; default: one of its own. */
  readonly state?: FileState;
  /** Where calls led when they were permitted: a call that leads elsewhere is refused. Default: calls are not compared with anything. */
  readonly permitted?: PermittedPlaces;
  /** What text files are read and written through. Default: the disk alone. */
  readonly files?: FilePort | undefined;
}
