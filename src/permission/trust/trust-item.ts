import { createHash } from "node:crypto";

/** Parts of a project that can act. */
export type TrustKind = "config" | "hook" | "mcp_server" | "skill" | "agent" | "command" | "extension";

/** One thing a project brings that can act. */
export interface TrustItem {
  readonly kind: TrustKind;
  /** The file, relative to the project and with `/`, then `#` and the name in it: `.mcp.json#db`. */
  readonly path: string;
  /** The {@link contentHash} of the content that would act. */
  readonly hash: string;
  /** Its effect in one line, for people. */
  readonly does: string;
  /** The reason when it can never be approved. */
  readonly blocked?: string;
}

/** The hash a content is approved by. Equal contents have equal hashes, whatever the file is called. */
export function contentHash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The key of an item in a record, without its content. */
export function itemKey({ kind, path }: Pick<TrustItem, "kind" | "path">): string {
  return `${kind} ${path}`;
}
