import { chmodSync, existsSync } from "node:fs";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePrivateFolders } from "../../system/private-folders.ts";
import { systemCode } from "../../system/system-error.ts";
import type { OutputFile } from "./output-buffer.ts";

/** Where outputs go, and how much of them stays. */
export interface OutputFolderOptions {
  readonly path?: string | undefined;
  /** The folder in which a new one is made, asked for then. Default: the system's temporary folder. */
  readonly temporary?: () => string;
  readonly maxBytes: number;
}

/**
 * The folder of one session for long outputs and pipes, private to the user (mode 0700, files 0600). It is
 * made when it is first needed. Without a given path it is a new folder for temporary files, and
 * {@link dispose} removes it; a given folder keeps its output files.
 */
export class OutputFolder {
  readonly #given: string | undefined;
  readonly #temporary: () => string;
  readonly #maxBytes: number;
  readonly #files: string[] = [];
  #made: Promise<string> | undefined;
  #count = 0;

  constructor({ path, temporary = tmpdir, maxBytes }: OutputFolderOptions) {
    this.#given = path;
    this.#temporary = temporary;
    this.#maxBytes = maxBytes;
  }

  /** The folder's path. Makes it the first time, and anew when something has removed it. */
  path(): Promise<string> {
    const again = (): Promise<string> => this.#make();
    this.#made = this.#made?.then((made) => (existsSync(made) ? made : again()), again) ?? again();
    return this.#made;
  }

  /** A new, empty file. The oldest files go when all together hold more than `maxBytes`. */
  async openFile(): Promise<OutputFile> {
    const folder = await this.path();
    await this.#dropOldest();
    for (;;) {
      this.#count++;
      const path = join(folder, `output-${this.#count}.txt`);
      try {
        const handle = await open(path, "ax", 0o600);
        this.#files.push(path);
        return { path, handle };
      } catch (error) {
        if (systemCode(error) !== "EEXIST") throw error;
      }
    }
  }

  /** Removes the folder, if it was not given. */
  async dispose(): Promise<void> {
    if (this.#made === undefined || this.#given !== undefined) return;
    const made = await this.#made.catch(() => undefined);
    if (made !== undefined) await rm(made, { recursive: true, force: true });
  }

  async #make(): Promise<string> {
    if (this.#given === undefined) {
      const parent = this.#temporary();
      makePrivateFolders(parent);
      return mkdtemp(join(parent, "nano-agent-"));
    }
    if (makePrivateFolders(this.#given).length > 0) chmodSync(this.#given, 0o700);
    return this.#given;
  }

  async #dropOldest(): Promise<void> {
    const sizes = await Promise.all(this.#files.map(sizeOf));
    let total = sizes.reduce((sum, size) => sum + size, 0);
    for (const size of sizes) {
      if (total <= this.#maxBytes) return;
      const oldest = this.#files.shift();
      if (oldest !== undefined) await rm(oldest, { force: true });
      total -= size;
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.size ?? 0;
}
