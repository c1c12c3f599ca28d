import { createHash } from "node:crypto";
import { invalidConfig } from "../core/base/errors.ts";
import { isRecord, safeParse } from "../core/base/json.ts";

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

/**
 * Answers whether something that a project brings may act: exactly this content was approved in exactly this
 * folder. Everything else is left out and noted for the report.
 */
export class TrustedProject {
  /** Links resolved: the root of the project's repository, else the working folder. */
  readonly folder: string;
  readonly #approved: TrustedContents;
  readonly #leftOut = new Map<string, TrustItem>();

  constructor(folder: string, approved: TrustedContents = new Map()) {
    this.folder = folder;
    this.#approved = approved;
  }

  /** The items that {@link admits} refused, in that order. */
  get leftOut(): readonly TrustItem[] {
    return [...this.#leftOut.values()];
  }

  /** True when a content was approved. `path`: {@link TrustItem.path}; `hash`: of what would act. */
  isTrusted(kind: TrustKind, path: string, hash: string): boolean {
    return this.#approved.get(itemKey({ kind, path })) === hash;
  }

  /** {@link isTrusted} for an item; one that may not act is noted in {@link leftOut}. */
  admits(item: TrustItem): boolean {
    if (item.blocked === undefined && this.isTrusted(item.kind, item.path, item.hash)) return true;
    this.#leftOut.set(itemKey(item), item);
    return false;
  }
}

/** Contents that were approved in one folder: hash by item. */
export type TrustedContents = ReadonlyMap<string, string>;

/** The approvals of a user, by the real path of the folder. */
export type TrustRecord = ReadonlyMap<string, TrustedContents>;

/** The record with these items approved in addition to those of `folder`. Blocked items are left out. */
export function withTrusted(record: TrustRecord, folder: string, items: readonly TrustItem[]): TrustRecord {
  const contents = items
    .filter(({ blocked }) => blocked === undefined)
    .map((item): [string, string] => [itemKey(item), item.hash]);
  return new Map([...record, [folder, new Map([...(record.get(folder) ?? []), ...contents])]]);
}

const VERSION = 1;

/** The text {@link parseTrustRecord} reads. */
export function trustRecordText(record: TrustRecord): string {
  const sorted = <V>(map: ReadonlyMap<string, V>): readonly [string, V][] =>
    [...map].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const folders = sorted(record).map(([folder, all]) => [folder, Object.fromEntries(sorted(all))]);
  return `${JSON.stringify({ version: VERSION, folders: Object.fromEntries(folders) }, null, 2)}\n`;
}

/** The record in a text; `path` is for messages. Throws `invalid_config` for another format. */
export function parseTrustRecord(text: string, path: string): TrustRecord {
  const parsed = safeParse(text);
  const { version, folders } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  if (version === VERSION && isRecord(folders)) {
    const entries = Object.entries(folders);
    if (entries.every((entry): entry is [string, Record<string, string>] => isContents(entry[1])))
      return new Map(entries.map(([folder, all]) => [folder, new Map(Object.entries(all))]));
  }
  throw invalidConfig(
    `${path} is damaged or of another version. Remove it and approve again what you trust, with nano-agent trust.`,
  );
}

function isContents(value: unknown): boolean {
  const isHash = (hash: unknown): boolean => typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash);
  return isRecord(value) && Object.values(value).every(isHash);
}
