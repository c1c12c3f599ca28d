import { createHash } from "node:crypto";
import { join } from "node:path";
import { findProblem, ownSchema } from "../../core/base/check.ts";
import { invalidConfig } from "../../core/base/errors.ts";
import { safeParse } from "../../core/base/json.ts";
import { systemCode } from "../../system/system-error.ts";
import type { LeftOut } from "../../view/notice.ts";
import type { UserPaths } from "../settings/paths.ts";
import { changePrivateFile, readPrivateFile } from "../settings/private-file.ts";

/** The hash a content is approved by. Equal contents have equal hashes, whatever the file is called. */
export function contentHash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The key of an item in a record, without its content. */
export function itemKey({ kind, path }: Pick<LeftOut, "kind" | "path">): string {
  return `${kind} ${path}`;
}

/** Exactly this content, approved in exactly this folder, may act. Everything else is left out. */
export class TrustedProject {
  /** Links resolved: the root of the project's repository, else the working folder. */
  readonly folder: string;
  readonly #approved: TrustedContents;
  readonly #leftOut = new Map<string, LeftOut>();

  constructor(folder: string, approved: TrustedContents = new Map()) {
    this.folder = folder;
    this.#approved = approved;
  }

  /** The items that {@link admits} refused, in that order. */
  get leftOut(): readonly LeftOut[] {
    return [...this.#leftOut.values()];
  }

  isTrusted(item: LeftOut): boolean {
    return item.blocked === undefined && this.#approved.get(itemKey(item)) === item.hash;
  }

  /** {@link isTrusted}; an item that may not act is noted in {@link leftOut}. */
  admits(item: LeftOut): boolean {
    const isTrusted = this.isTrusted(item);
    if (!isTrusted) this.#leftOut.set(itemKey(item), item);
    return isTrusted;
  }
}

/** Hash by item. */
type TrustedContents = ReadonlyMap<string, string>;
/** The approvals of a user, by the real path of the folder. */
type TrustRecord = ReadonlyMap<string, TrustedContents>;

/** The user's approvals: none without a readable file. Throws `invalid_config` when it is damaged. */
export function readTrust(paths: Pick<UserPaths, "stateFolder">): TrustRecord {
  const path = fileIn(paths);
  try {
    return recordIn(readPrivateFile(path), path);
  } catch (error) {
    if (error instanceof Error && systemCode(error.cause) === "EACCES") return new Map();
    throw error;
  }
}

/**
 * Approves items of a folder in addition to what `keeps` of those before; blocked ones never. Throws
 * `invalid_config` when the file cannot be read or written.
 */
export async function changeTrust(
  paths: Pick<UserPaths, "stateFolder">,
  folder: string,
  items: readonly LeftOut[],
  { keeps }: { readonly keeps: boolean },
): Promise<void> {
  const path = fileIn(paths);
  await changePrivateFile(path, (text) => {
    const record = new Map(recordIn(text, path));
    const added = items.flatMap((item): [string, string][] =>
      item.blocked === undefined ? [[itemKey(item), item.hash]] : [],
    );
    const contents = new Map([...(keeps ? (record.get(folder) ?? []) : []), ...added]);
    if (contents.size > 0) record.set(folder, contents);
    else record.delete(folder);
    const folders = [...record].map(([each, all]) => [each, Object.fromEntries(all)]);
    return `${JSON.stringify({ version: VERSION, folders: Object.fromEntries(folders) }, null, 2)}\n`;
  });
}

/** The parts that may act of the project in `folder` (links resolved). */
export function openTrustedProject(folder: string, paths: Pick<UserPaths, "stateFolder">): TrustedProject {
  return new TrustedProject(folder, readTrust(paths).get(folder));
}

function fileIn({ stateFolder }: Pick<UserPaths, "stateFolder">): string {
  return join(stateFolder, "trust.json");
}

const VERSION = 1;
const HASHES = { type: "object", additionalProperties: { type: "string", pattern: "^[0-9a-f]{64}$" } };
const RECORD = ownSchema({
  type: "object",
  properties: { version: { const: VERSION }, folders: { type: "object", additionalProperties: HASHES } },
  required: ["version", "folders"],
});

function recordIn(text: string | undefined, path: string): TrustRecord {
  if (text === undefined) return new Map();
  const parsed = safeParse(text);
  if (!parsed.ok || findProblem(parsed.value, RECORD, path) !== undefined)
    throw invalidConfig(
      `${path} is damaged or of another version. Remove it and approve again what you trust, with nano-agent trust.`,
    );
  const { folders } = parsed.value as { readonly folders: { readonly [folder: string]: object } };
  return new Map(Object.entries(folders).map(([folder, all]) => [folder, new Map(Object.entries(all))]));
}
