import { invalidConfig } from "../../core/base/errors.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import { itemKey, type TrustItem } from "./trust-item.ts";

/** Contents that were approved in one folder: hash by item. */
export type TrustedContents = ReadonlyMap<string, string>;

/** The approvals of a user, by the real path of the folder. Immutable. */
export class TrustRecord {
  readonly #folders: ReadonlyMap<string, TrustedContents>;

  constructor(folders: ReadonlyMap<string, TrustedContents> = new Map()) {
    this.#folders = folders;
  }

  /** The folders something was approved in, in the order of their paths. */
  get folders(): readonly string[] {
    return [...this.#folders.keys()].sort();
  }

  /** The contents that were approved in a folder. */
  contentsOf(folder: string): TrustedContents {
    return this.#folders.get(folder) ?? new Map();
  }

  /** The record with exactly these items approved in `folder`. Items that are blocked are left out. */
  approve(folder: string, items: readonly TrustItem[]): TrustRecord {
    return this.remove(folder).add(folder, items);
  }

  /** The record with these items approved in addition to those of `folder`. */
  add(folder: string, items: readonly TrustItem[]): TrustRecord {
    const contents = items
      .filter(({ blocked }) => blocked === undefined)
      .map((item): [string, string] => [itemKey(item), item.hash]);
    return new TrustRecord(
      new Map([...this.#folders, [folder, new Map([...this.contentsOf(folder), ...contents])]]),
    );
  }

  /** The record without a folder. */
  remove(folder: string): TrustRecord {
    return new TrustRecord(new Map([...this.#folders].filter(([path]) => path !== folder)));
  }

  /** The text {@link parseTrustRecord} reads. */
  toText(): string {
    const folders = this.folders.map((folder): [string, object] => [
      folder,
      Object.fromEntries([...this.contentsOf(folder)].sort(([one], [other]) => (one < other ? -1 : 1))),
    ]);
    return `${JSON.stringify({ version: VERSION, folders: Object.fromEntries(folders) }, null, 2)}\n`;
  }
}

const VERSION = 1;

/** The record in a text; `path` is for messages. Throws `invalid_config` for another format. */
export function parseTrustRecord(text: string, path: string): TrustRecord {
  const parsed = safeParse(text);
  const { version, folders } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  if (version === VERSION && isRecord(folders)) {
    const entries = Object.entries(folders);
    if (entries.every((entry): entry is [string, Record<string, string>] => isContents(entry[1])))
      return new TrustRecord(new Map(entries.map(([folder, all]) => [folder, new Map(Object.entries(all))])));
  }
  throw invalidConfig(
    `${path} is damaged or of another version. Remove it and approve again what you trust, with nano-agent trust.`,
  );
}

function isContents(value: unknown): boolean {
  const isHash = (hash: unknown): boolean => typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash);
  return isRecord(value) && Object.values(value).every(isHash);
}
