import { resolve } from "node:path";
import { isWithin, realPath } from "../../system/real-path.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";

/** The output of a confined command. */
export interface ConfinedCommand {
  readonly cwd: string;
  readonly output: string;
  readonly failed: boolean;
  /** The lines in which the runtime refused something, one each. */
  readonly refused: readonly string[];
}

/** Paths and hosts named in one result. */
const MAX_NAMED = 5;
/** Of a long output the end counts: there programs say why they failed. */
const MAX_OUTPUT = 60_000;
/** Lines whose paths are looked up on disk. */
const MAX_LINES = 100;
const DENIED_HOST = /^deny network-outbound (\S{1,255}):(\d{1,5})\b/;
const READ_ONLY = /read-only file system|\bEROFS\b/i;
const WRITE_FAULT = /read-only file system|\bEROFS\b|device or resource busy|\bEBUSY\b/i;
const READ_FAULT = /permission denied|\bEACCES\b|no such file or directory|\bENOENT\b/i;
/** The error where a hidden folder holds nothing. Elsewhere this fault is none of the sandbox. */
const ABSENT = /no such file or directory|\bENOENT\b/i;
const NO_NETWORK =
  /network is unreachable|\bENETUNREACH\b|could not resolve host|name or service not known|temporary failure in name resolution|\bEAI_AGAIN\b|\bENOTFOUND\b/i;

/**
 * Lines for the result of a confined command: what it was kept from, and what in the user's config would
 * allow it. Empty when nothing speaks of the sandbox. What a program says is read for paths; what the runtime
 * saw of the network is certain.
 */
export function blockedNotes(limits: SandboxLimits, command: ConfinedCommand): readonly string[] {
  return [...networkNotes(limits, command), ...fileNotes(limits, command)];
}

function networkNotes(
  { domains }: SandboxLimits,
  { output, failed, refused }: ConfinedCommand,
): readonly string[] {
  const hosts = refused.flatMap((line) => {
    const [, host, port] = DENIED_HOST.exec(line) ?? [];
    return host === undefined ? [] : [{ host, port }];
  });
  const names = [...new Set(hosts.map(({ host }) => host))].slice(0, MAX_NAMED);
  if (names.length > 0) {
    const where = [...new Set(hosts.map(({ host, port }) => `${host}:${port}`))]
      .slice(0, MAX_NAMED)
      .join(", ");
    return [note(`no network to ${where}`, "sandbox.allowDomains", names)];
  }
  if (!failed || !NO_NETWORK.test(output.slice(-MAX_OUTPUT))) return [];
  const reach =
    domains.length === 0 ? "no network" : `no network but ${domains.slice(0, MAX_NAMED).join(", ")}`;
  return [
    `[sandbox: commands have ${reach}. The user can allow a host: sandbox.allowDomains in their config]`,
  ];
}

function fileNotes(limits: SandboxLimits, { cwd, output, failed }: ConfinedCommand): readonly string[] {
  const lines = output
    .slice(-MAX_OUTPUT)
    .split("\n")
    .filter((line) => WRITE_FAULT.test(line) || READ_FAULT.test(line))
    .slice(0, MAX_LINES);
  const found = { outside: new Set<string>(), kept: new Set<string>(), hidden: new Set<string>() };
  for (const line of lines) {
    for (const path of pathsOf(line, cwd)) {
      const kind = kindOf(limits, path, line);
      if (kind !== undefined) found[kind].add(path);
    }
  }
  const { outside, kept, hidden } = found;
  const notes = [];
  if (outside.size > 0)
    notes.push(note(`no writing to ${named(outside)}`, "sandbox.allowWrite", first(outside)));
  if (kept.size > 0)
    notes.push(
      `[sandbox: ${named(kept)} cannot be changed by commands; no setting allows it, the user can do it]`,
    );
  if (hidden.size > 0)
    notes.push(`[sandbox: ${named(hidden)} is hidden by sandbox.denyRead in the user's config]`);
  if (notes.length === 0 && failed && lines.some((line) => READ_ONLY.test(line)))
    notes.push(
      `[sandbox: commands write below ${limits.writable.slice(0, MAX_NAMED).join(", ")} only. The user can allow more: sandbox.allowWrite in their config]`,
    );
  return notes;
}

/** Which limit a fault at this path is about, if any. */
function kindOf(
  limits: SandboxLimits,
  path: string,
  line: string,
): "outside" | "kept" | "hidden" | undefined {
  if (isWithin(path, ...limits.unreadable)) return "hidden";
  if (ABSENT.test(line)) return undefined;
  const isKept =
    isWithin(path, ...limits.protected) || limits.protected.some((inner) => isWithin(inner, path));
  if (isKept) return "kept";
  return WRITE_FAULT.test(line) && !isWithin(path, ...limits.writable) ? "outside" : undefined;
}

/** The words of a line that look like paths: quoted, absolute, or next to those that name the fault. */
function pathsOf(line: string, cwd: string): readonly string[] {
  const text = line.slice(0, 2_000);
  // The word that stands first and is followed by a colon is the program that complains.
  const program = /^(\/[^\s:]{1,500}):/.exec(text)?.[1];
  const quoted = [...text.matchAll(/['"‘`]([^'"’`]{1,500})['"’`]/g)].map(([, path = ""]) => path);
  const absolute = [...text.matchAll(/(?:^|[\s:=(])(\/[^\s:'"’)]{1,500})/g)].map(([, path = ""]) => path);
  const before = /(?:^|[\s:])([^\s:]{1,500}): (?:read-only|permission denied|device or|no such)/i.exec(
    text,
  )?.[1];
  const found = [...quoted, ...absolute, ...(before === undefined ? [] : [before])];
  const others = found.filter((path) => path !== program);
  const paths = others.length > 0 ? others : found;
  return [...new Set(paths.map((path) => realPath(resolve(cwd, path))))];
}

function note(what: string, key: string, values: readonly string[]): string {
  return `[sandbox: ${what}. The user can allow it: ${key} ${JSON.stringify(values)} in their config]`;
}

function first(paths: ReadonlySet<string>): readonly string[] {
  return [...paths].slice(0, MAX_NAMED);
}

function named(paths: ReadonlySet<string>): string {
  const rest = paths.size - MAX_NAMED;
  return `${first(paths).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
