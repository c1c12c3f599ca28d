import { createHash } from "node:crypto";

/** Every {@link TrustKind}. */
export const TRUST_KINDS = [
  "config",
  "hook",
  "mcp_server",
  "skill",
  "agent",
  "command",
  "extension",
] as const;

/**
 * The parts of a project that can act: settings, hooks, MCP servers, skills, subagents, commands, extensions.
 */
export type TrustKind = (typeof TRUST_KINDS)[number];

/** One thing a project brings that can act. */
export interface TrustItem {
  readonly kind: TrustKind;
  /** The file, relative to the project and with `/`, and behind `#` its name there: `.mcp.json#db`. */
  readonly path: string;
  /** The {@link contentHash} of the content that would act. */
  readonly hash: string;
  /** Its effect, in one line for people. */
  readonly does: string;
  /** Why it can never be approved, where that is so. */
  readonly blocked?: string;
}

/** The hash a content is approved by. Equal contents have equal hashes, whatever the file is called. */
export function contentHash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** One text for what an item is, without its content. */
export function itemKey({ kind, path }: Pick<TrustItem, "kind" | "path">): string {
  return `${kind} ${path}`;
}
