import { invalidConfig, type NanoAgentError } from "../../core/base/errors.ts";
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

  /** The record with these items approved beside those that are in `folder`. */
  add(folder: string, items: readonly TrustItem[]): TrustRecord {
    const contents = items
      .filter(({ blocked }) => blocked === undefined)
      .map((item): [string, string] => [itemKey(item), item.hash]);
    const all = new Map([...this.contentsOf(folder), ...contents]);
    return new TrustRecord(new Map([...this.#folders, [folder, all]]));
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
const HASH = /^[0-9a-f]{64}$/;

/** The record a text holds; `path` is for messages. Throws `invalid_config` for what is not its format. */
export function parseTrustRecord(text: string, path: string): TrustRecord {
  const parsed = safeParse(text);
  const value = parsed.ok ? parsed.value : undefined;
  if (!isRecord(value)) throw broken(path, "is not JSON");
  if (value["version"] !== VERSION) throw broken(path, `is not of version ${VERSION}`);
  const folders = value["folders"];
  if (!isRecord(folders)) throw broken(path, 'has no "folders"');
  return new TrustRecord(
    new Map(Object.entries(folders).map(([folder, contents]) => [folder, contentsFrom(contents, path)])),
  );
}

function contentsFrom(value: unknown, path: string): TrustedContents {
  if (!isRecord(value)) throw broken(path, "has a folder that is not an object");
  const entries = Object.entries(value).map(([key, hash]): [string, string] => {
    if (typeof hash !== "string" || !HASH.test(hash))
      throw broken(path, `has no hash for ${JSON.stringify(key)}`);
    return [key, hash];
  });
  return new Map(entries);
}

function broken(path: string, what: string): NanoAgentError {
  return invalidConfig(`${path} ${what}. Remove it and approve again what you trust, with nano-agent trust.`);
}
