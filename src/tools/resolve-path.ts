import { lstatSync, readlinkSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, parse, resolve, sep } from "node:path";
import type { ToolContext } from "../core/tool/tool.ts";
import { sessionPlace } from "../system/session-temporary.ts";
import { spelledPath } from "../system/spelled-path.ts";
import { FileRefusal } from "./files/file-error.ts";

interface PathBase {
  readonly cwd: string;
  readonly home?: string;
  readonly temporary?: (() => string | undefined) | undefined;
}

/**
 * The place on disk that the system would open for `path`: every link is followed, even to a missing target,
 * and `..` is applied after following. A missing name stands for an existing one that Unicode considers the
 * same (`é` as one character or two). The part of a path that does not exist is kept as written. Never
 * throws: if the system would refuse (no permission, a file used as a folder, a cycle of links), the rest is
 * kept as written, and opening it will be refused.
 */
export function resolvePath(path: string, base: PathBase): string {
  const expanded = expandHome(path, base);
  const absolute = spelledPath(
    isAbsolute(expanded)
      ? sessionPlace(expanded, base.temporary?.())
      : `${resolve(base.cwd)}${sep}${expanded}`,
  );
  const { root } = parse(absolute);
  const pending = partsOf(absolute.slice(root.length));
  let current = root;
  let links = 0;
  for (let part = pending.shift(); part !== undefined; part = pending.shift()) {
    if (part === "..") {
      current = join(current, "..");
      continue;
    }
    const next = join(current, part);
    const target = links < MAX_LINKS ? linkTarget(next) : undefined;
    if (target === undefined) {
      current = next;
      continue;
    }
    links++;
    if (isAbsolute(target)) current = parse(target).root;
    pending.unshift(...partsOf(isAbsolute(target) ? target.slice(current.length) : target));
  }
  return current;
}

const MAX_LINKS = 40;

function expandHome(path: string, base: PathBase): string {
  if (path !== "~" && !path.startsWith("~/") && !path.startsWith(`~${sep}`)) return path;
  return join(base.home ?? homedir(), path.slice(1));
}

function partsOf(path: string): string[] {
  return path.split(sep === "/" ? /\/+/u : /[\\/]+/u).filter((part) => part !== "" && part !== ".");
}

function linkTarget(path: string): string | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
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
  readonly permitted?: PermittedPlaces;
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
      : `${givenPath} leads elsewhere than when it was permitted: a link changed meanwhile. Try again.`,
  );
}

export interface PermittedCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly path: string;
}

/** Where the path of a call led when it was permitted; `undefined` for a call that was never judged. */
export type PermittedPlaces = (call: PermittedCall) => string | undefined;
