import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";
import type { ToolContext } from "../core/tool/tool.ts";
import { followLinks } from "../system/follow-links.ts";
import { sessionPath } from "../system/session-path.ts";
import { FileRefusal } from "./files/file-error.ts";

interface PathBase {
  readonly cwd: string;
  readonly home?: string;
  readonly temporary?: (() => string | undefined) | undefined;
}

/** The path that the system would open, see {@link followLinks}. `~/` is the home folder. Never throws. */
export function resolvePath(path: string, base: PathBase): string {
  const expanded = expandHome(path, base);
  return followLinks(
    isAbsolute(expanded)
      ? sessionPath(expanded, base.temporary?.())
      : `${resolve(base.cwd)}${sep}${expanded}`,
  );
}

function expandHome(path: string, base: PathBase): string {
  if (path !== "~" && !path.startsWith("~/") && !path.startsWith(`~${sep}`)) return path;
  return join(base.home ?? homedir(), path.slice(1));
}

/** The options that decide where the path of a call leads. */
export interface PathOptions {
  /** Folder that relative paths refer to. Default: the working directory of the call. */
  readonly cwd?: string;
  /** The folder `~` stands for in paths. Default: the user's home folder. */
  readonly home?: string;
  /** The folder that the session's commands see as `/tmp`. Default: they see the machine's `/tmp`. */
  readonly temporary?: (() => string | undefined) | undefined;
  /** Where calls led when permitted. A call that now leads elsewhere is refused. Default: no check. */
  readonly permitted?: PermittedPaths;
}

/** Throws {@link FileRefusal} if the path now leads elsewhere than when it was judged. */
export function resolvePermittedPath(givenPath: string, options: PathOptions, context: ToolContext): string {
  const { permitted } = options;
  const path = resolvePath(givenPath, { ...options, cwd: options.cwd ?? context.cwd });
  if (permitted === undefined) return path;
  const judged = permitted({ callId: context.callId, sessionId: context.sessionId, path: givenPath });
  if (judged === path) return path;
  throw new FileRefusal(
    judged === undefined
      ? `${givenPath} was not judged by the permission rules, so it is left alone. Try again.`
      : `${givenPath} no longer leads to the permitted place: a link has changed. Try again.`,
  );
}

export interface PermittedCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly path: string;
}

/** Where the path of a call led when it was permitted; `undefined` for a call that was never judged. */
export type PermittedPaths = (call: PermittedCall) => string | undefined;
