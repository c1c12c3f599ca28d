import { createHash } from "node:crypto";

const MAX_NAME = 64;

export const MCP_PREFIX = "mcp__";

/** Name of the tool through which deferred server tools are found. */
export const FIND_TOOLS = "find_tools";

/**
 * The names of a server's tools or prompts as the agent uses them: `mcp__server__name`, made of letters,
 * digits, `_` and `-`, at most 64 characters. A changed name that clashes with another, or one that was too
 * long, ends in a hash of the original. Equal names give equal results; which of two clashing names changes
 * does not depend on their order. `part` is one of {@link serverNameParts}.
 */
export function mcpNames(part: string, names: readonly string[]): ReadonlyMap<string, string> {
  const prefix = `${MCP_PREFIX}${part}__`;
  const plain = names.map((name) => prefix + clean(name));
  const count = new Map<string, number>();
  for (const each of plain) count.set(each, (count.get(each) ?? 0) + 1);
  const exact = new Set(names.map((name) => prefix + name));
  const made = new Map<string, string>();
  for (const [at, name] of names.entries()) {
    const simple = plain[at] ?? prefix;
    const isOwn = simple === prefix + name;
    const clashes = !isOwn && ((count.get(simple) ?? 0) > 1 || exact.has(simple));
    made.set(name, clashes || simple.length > MAX_NAME ? withHash(simple, `${part}\0${name}`) : simple);
  }
  return made;
}

/** The part of tool names that stands for each server, without `__`. A valid name stays unchanged. */
export function serverNameParts(servers: readonly string[]): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  const plain = (server: string): string =>
    shortened(clean(server).replaceAll(/_{2,}/g, "_").replaceAll(/^_|_$/g, ""), server);
  for (const server of servers) if (plain(server) === server) parts.set(server, server);
  for (const server of servers.filter((name) => !parts.has(name))) {
    const taken = new Set(parts.values());
    let part = plain(server);
    for (let text = server; taken.has(part); text += " ")
      part = `${plain(server).slice(0, MAX_SERVER - 9)}_${hashOf(text)}`;
    parts.set(server, part);
  }
  return new Map(servers.map((server) => [server, parts.get(server) ?? server]));
}

const MAX_SERVER = 30;

function shortened(part: string, server: string): string {
  if (part === "") return hashOf(server);
  return part.length <= MAX_SERVER ? part : `${part.slice(0, MAX_SERVER - 9)}_${hashOf(server)}`;
}

function clean(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

function withHash(name: string, whole: string): string {
  return `${name.slice(0, MAX_NAME - 9)}_${hashOf(whole)}`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
