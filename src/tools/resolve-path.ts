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
 * The place on disk that the system would open for `path`: every link followed, also one whose target is not
 * there yet, and `..` taken after following. A name that is not there stands for one that is there and that
 * Unicode holds for the same (`é` as one character or two). The part of a path that does not exist is kept as
 * written. Never throws: where the system would refuse (no permission, a file used as a folder, links in a
 * circle) the rest is kept as written, and opening it will be refused.
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

export interface PermittedCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly path: string;
}

/** Where the path of a call led when it was permitted; `undefined` for a call nobody judged. */
export type PermittedPlaces = (call: PermittedCall) => string | undefined;
