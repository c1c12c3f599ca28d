import { hash } from "node:crypto";
import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newUuid } from "../../core/base/ids.ts";
import { systemCode } from "../session-error.ts";
import { makePrivateFolders } from "../session-file.ts";
import { checkpointError } from "./checkpoint-error.ts";
import { type BlockPlace, type ObjectPlace, PackWriter, readBlock, readPackTable } from "./pack-file.ts";

/** The name some bytes are kept under: their SHA-256 in lowercase hex digits. */
export function hashOf(bytes: Buffer): string {
  return hash("sha256", bytes, "hex");
}

interface PackedObject extends ObjectPlace {
  readonly pack: string;
}

/** A file is closed and a new one begun when it holds so many bytes, so that no clean-up has to copy much at once. */
const PACK_BYTES = 64 * 1024 * 1024;

const SUFFIX = ".pack";

/**
 * Bytes kept by their hash, in a folder of pack files that are only ever written whole. What was added counts from {@link commit} on.
 * Throws `checkpoint` for what the file system refuses.
 */
export class ObjectStore {
  readonly folder: string;
  #places: Map<string, PackedObject> | undefined;
  /** Bytes of each pack file. */
  #sizes: Map<string, number> | undefined;
  #draft: PackWriter | undefined;
  readonly #drafted = new Set<string>();
  #drafts: PackWriter[] = [];
  #lastBlock: { readonly pack: string; readonly place: BlockPlace; readonly bytes: Buffer } | undefined;

  /** `folder` is made when the first object is added. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Names of the pack files. */
  packs(): readonly string[] {
    return [...this.#packSizes().keys()];
  }

  /** Bytes on disk, those of objects not yet committed included. */
  get bytes(): number {
    let sum = 0;
    for (const size of this.#packSizes().values()) sum += size;
    for (const draft of this.#drafts) sum += draft.bytes;
    return sum;
  }

  has(name: string): boolean {
    return this.#drafted.has(name) || this.#table().has(name);
  }

  add(name: string, bytes: Buffer): void {
    if (this.has(name)) return;
    try {
      if (this.#draft === undefined || this.#draft.bytes > PACK_BYTES) {
        makePrivateFolder(this.folder);
        this.#draft = new PackWriter(join(this.folder, `${Date.now().toString(36)}-${newUuid()}${SUFFIX}`));
        this.#drafts.push(this.#draft);
      }
      this.#draft.add(name, bytes);
      this.#drafted.add(name);
    } catch (error) {
      this.rollBack();
      throw checkpointError(`${this.folder} cannot be written`, error);
    }
  }

  /** Brings what was added to the disk; on failure nothing of it stays. */
  commit(): void {
    try {
      for (let draft = this.#drafts[0]; draft !== undefined; draft = this.#drafts[0]) {
        const pack = draft.path.slice(this.folder.length + 1);
        const places = draft.finish();
        this.#drafts.shift();
        this.#packSizes().set(pack, draft.bytes);
        const table = this.#table();
        for (const [name, place] of places) table.set(name, { ...place, pack });
      }
      this.#draft = undefined;
      this.#drafted.clear();
    } catch (error) {
      this.rollBack();
      throw checkpointError(`${this.folder} cannot be written`, error);
    }
  }

  /** Forgets what was added and not committed. */
  rollBack(): void {
    for (const draft of this.#drafts) draft.discard();
    this.#drafts = [];
    this.#draft = undefined;
    this.#drafted.clear();
  }

  /** The bytes of a name; undefined when they are not kept, or damaged. */
  get(name: string): Buffer | undefined {
    const place = this.#table().get(name);
    if (place === undefined) return undefined;
    const block = this.#blockOf(place);
    const bytes = block?.subarray(place.start, place.start + place.length);
    return bytes !== undefined && hashOf(bytes) === name ? bytes : undefined;
  }

  /** What each pack file holds, as name and length. */
  *contents(): Iterable<{
    readonly pack: string;
    readonly objects: readonly (readonly [name: string, length: number])[];
  }> {
    const byPack = new Map<string, [string, number][]>();
    for (const pack of this.packs()) byPack.set(pack, []);
    for (const [name, { pack, length }] of this.#table()) byPack.get(pack)?.push([name, length]);
    for (const [pack, objects] of byPack) yield { pack, objects };
  }

  /** Removes pack files with all they hold; objects named in `move` are written again elsewhere first. */
  removePacks(packs: readonly string[], move: Iterable<string>): void {
    const gone = new Set(packs);
    const moved = [...move].flatMap((name) => (gone.has(this.#table().get(name)?.pack ?? "") ? [name] : []));
    for (const name of moved) {
      const bytes = this.get(name);
      this.#table().delete(name);
      if (bytes !== undefined) this.add(name, Buffer.from(bytes));
    }
    this.commit();
    for (const [name, { pack }] of this.#table()) if (gone.has(pack)) this.#table().delete(name);
    for (const pack of packs) {
      try {
        rmSync(join(this.folder, pack), { force: true });
      } catch (error) {
        throw checkpointError(`${join(this.folder, pack)} cannot be removed`, error);
      }
      this.#packSizes().delete(pack);
    }
  }

  #blockOf({ pack, block }: PackedObject): Buffer | undefined {
    const last = this.#lastBlock;
    if (last?.pack === pack && last.place.offset === block.offset) return last.bytes;
    try {
      const bytes = readBlock(join(this.folder, pack), block);
      this.#lastBlock = bytes === undefined ? undefined : { pack, place: block, bytes };
      return bytes;
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      throw checkpointError(`${join(this.folder, pack)} cannot be read`, error);
    }
  }

  #packSizes(): Map<string, number> {
    if (this.#sizes !== undefined) return this.#sizes;
    this.#sizes = new Map();
    for (const name of namesOf(this.folder)) {
      const stats = lstatSync(join(this.folder, name), { throwIfNoEntry: false });
      if (name.endsWith(SUFFIX) && stats?.isFile() === true) this.#sizes.set(name, stats.size);
    }
    return this.#sizes;
  }

  #table(): Map<string, PackedObject> {
    if (this.#places !== undefined) return this.#places;
    this.#places = new Map();
    for (const pack of this.#packSizes().keys()) {
      try {
        const places = readPackTable(join(this.folder, pack));
        for (const [name, place] of places ?? []) this.#places.set(name, { ...place, pack });
      } catch (error) {
        if (systemCode(error) === undefined) throw error;
        throw checkpointError(`${join(this.folder, pack)} cannot be read`, error);
      }
    }
    return this.#places;
  }
}

function namesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    // Where something else stands in its place, that is told when it is to be written.
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return [];
    throw checkpointError(`${folder} cannot be read`, error);
  }
}

/** Makes a folder with those around it, for this user alone. Throws what the file system says, and for a link in its place. */
export function makePrivateFolder(folder: string): void {
  makePrivateFolders(folder);
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) throw new Error(`${folder} is a link or no folder. Move it away`);
  if ((stats.mode & 0o777) !== 0o700) chmodSync(folder, 0o700);
}
