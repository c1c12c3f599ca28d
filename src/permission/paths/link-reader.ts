import { type Dir, lstatSync, opendirSync, readlinkSync } from "node:fs";

/** After so many lookups in one folder it is listed, if it has at most eight times as many entries. */
const TRIES: ReadonlySet<number> = new Set([64, 512, 4096]);
const ENTRIES_PER_LOOKUP = 8;
/** The system looks at no longer path, so there is nothing to find. */
const MAX_PATH = process.platform === "win32" ? 32_768 : 4096;
const MISSING: unique symbol = Symbol("missing");

/** A link's target, `undefined` for what is no link, or nothing there. */
type LinkTarget = string | typeof MISSING | undefined;

/** The questions of {@link LinkReader} to the system. Default: the disk. */
export interface LinkSource {
  /** The target of a link, `undefined` for what is no link, `null` for what is not there. */
  readonly look: (path: string) => string | undefined | null;
  /** The names of the links in a folder; `undefined`: more than `most` entries, or it cannot be listed. */
  readonly list: (folder: string, most: number) => readonly string[] | undefined;
}

/**
 * Looks up links, each place once. Below a folder that is not there nothing is looked up, and a folder whose
 * names are asked for again and again is listed once. Never throws.
 */
export class LinkReader {
  readonly #source: LinkSource;
  readonly #known = new Map<string, LinkTarget>();
  readonly #lookups = new Map<string, number>();
  /** Folded names of the links in a folder. */
  readonly #lists = new Map<string, ReadonlySet<string>>();

  constructor(source: LinkSource = DISK) {
    this.#source = source;
  }

  /** The target of the link at an absolute path written with `/`; `undefined` when there is none. */
  linkAt(path: string): string | undefined {
    if (path.length > MAX_PATH) return undefined;
    let found = this.#known.get(path);
    if (found === undefined && !this.#known.has(path)) {
      found = this.#lookUp(path);
      this.#known.set(path, found);
    }
    return found === MISSING ? undefined : found;
  }

  /** The target of the link `name` in a folder: quicker where the folder was listed. */
  linkIn(folder: string, name: string): string | undefined {
    return this.#isListed(folder, name) ? undefined : this.linkAt(`${folder}/${name}`);
  }

  /** True when a list rules such a link out. A name the system could fold in its own way is looked up. */
  #isListed(folder: string, name: string): boolean {
    const links = this.#lists.get(folder);
    return links !== undefined && ASCII.test(name) && !links.has(name.toLowerCase());
  }

  #lookUp(path: string): LinkTarget {
    const slash = path.lastIndexOf("/");
    const folder = path.slice(0, slash);
    if (this.#known.get(folder) === MISSING) return MISSING;
    const count = (this.#lookups.get(folder) ?? 0) + 1;
    this.#lookups.set(folder, count);
    if (TRIES.has(count)) this.#list(folder, count * ENTRIES_PER_LOOKUP);
    // Other entries of a listed folder do not matter: they are no links.
    if (this.#lists.has(folder) && this.#isListed(folder, path.slice(slash + 1))) return undefined;
    const target = this.#source.look(path);
    return target === null ? MISSING : target;
  }

  #list(folder: string, most: number): void {
    const names = this.#source.list(folder === "" ? "/" : folder, most);
    if (names?.every((name) => ASCII.test(name)) === true)
      this.#lists.set(folder, new Set(names.map((name) => name.toLowerCase())));
  }
}

const ASCII = /^[\x20-\x7e]*$/;

const DISK: LinkSource = {
  look: linkOnDisk,
  list: process.platform === "linux" ? listLinks : () => undefined,
};

function linkOnDisk(path: string): string | undefined | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    return stats.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // The system refuses to look (no permission, a file used as a folder): it will not open it either.
    return undefined;
  }
}

function listLinks(path: string, most: number): readonly string[] | undefined {
  try {
    const folder = opendirSync(path, { bufferSize: 512 });
    try {
      return linksOf(folder, most);
    } finally {
      folder.closeSync();
    }
  } catch {
    // It cannot be listed: each name is looked up.
    return undefined;
  }
}

function linksOf(folder: Dir, most: number): readonly string[] | undefined {
  const links: string[] = [];
  let count = 0;
  for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
    if (++count > most) return undefined;
    // Some file systems do not say what an entry is.
    if (entry.isSymbolicLink() || !(entry.isFile() || entry.isDirectory())) links.push(entry.name);
  }
  return links;
}
