import type { ToolContext } from "../../core/tool/tool.ts";
import { resolvePath } from "../resolve-path.ts";
import { FileRefusal } from "./file-error.ts";

/** The options that decide where a call leads. */
export interface PathOptions {
  /** Folder that relative paths refer to. Default: the working folder of the call. */
  readonly cwd?: string;
  /** The folder `~` stands for in paths. Default: the home folder of the user. */
  readonly home?: string;
  /** The folder that commands of the session see as `/tmp`. Default: they see that of the machine. */
  readonly temporary?: (() => string | undefined) | undefined;
  /** Where calls led when they were permitted: one that leads elsewhere is refused. Default: no check. */
  readonly permitted?: PermittedPlaces;
}

/** The canonical path meant by `shown`. Throws {@link FileRefusal} when it is not the judged one. */
export function permittedPath(shown: string, options: PathOptions, context: ToolContext): string {
  const { permitted } = options;
  const path = resolvePath(shown, { ...options, cwd: options.cwd ?? context.cwd });
  if (permitted === undefined) return path;
  const judged = permitted({ callId: context.callId, sessionId: context.sessionId, path: shown });
  if (judged === path) return path;
  throw new FileRefusal(
    judged === undefined
      ? `${shown} was not judged by the permission rules, so it is left alone. Try again.`
      : `${shown} leads elsewhere than when it was permitted: a link changed meanwhile. Try again.`,
  );
}

/** A call that a permission layer has judged. */
export interface PermittedCall {
  readonly callId: string;
  readonly sessionId: string;
  /** The path as the call has it. */
  readonly path: string;
}

/** Where the path of a call led when it was permitted; `undefined` for a call nobody judged. */
export type PermittedPlaces = (call: PermittedCall) => string | undefined;
