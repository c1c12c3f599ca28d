import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage, misuse } from "../../core/base/errors.ts";

const MAX_FILES = 100_000;
const MAX_BYTES = 2 * 1024 * 1024 * 1024;

/** A copy of a workspace in a temporary folder of the user's alone. */
export class ScratchWorkspace {
  /** The workspace it is a copy of, links resolved. */
  readonly origin: string;
  readonly folder: string;
  /** For temporary files of what runs in the copy. */
  readonly temporary: string;
  readonly #root: string;

  /** Copies the folder. Throws `invalid_argument` for one that is too large or cannot be copied. */
  constructor(origin: string) {
    this.origin = origin;
    assertSmallEnough(origin);
    this.#root = realpathSync(mkdtempSync(join(tmpdir(), "nano-agent-replay-")));
    this.folder = join(this.#root, "workspace");
    this.temporary = join(this.#root, "tmp");
    try {
      mkdirSync(this.temporary, { mode: 0o700 });
      // Links stay links: what they lead to is not copied, and tools may not follow them out of the copy.
      cpSync(origin, this.folder, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (source) => isCopied(source),
      });
    } catch (error) {
      this.remove();
      throw misuse(`${origin} cannot be copied: ${errorMessage(error)}.`, {
        cause: error,
      });
    }
  }

  /** A value with the workspace's path replaced by that of the copy, in every text. */
  inCopy(value: unknown): unknown {
    return withPath(value, this.origin, this.folder);
  }

  /** The reverse of {@link inCopy}. */
  inOrigin(value: unknown): unknown {
    return withPath(value, this.folder, this.origin);
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }
}

function isCopied(path: string): boolean {
  const stats = lstatSync(path);
  return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
}

function assertSmallEnough(origin: string): void {
  let files = 0;
  let bytes = 0;
  const folders = [origin];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) bytes += lstatSync(path).size;
      if (++files <= MAX_FILES && bytes <= MAX_BYTES) continue;
      throw misuse(
        `${origin} is too large to be copied for a replay: more than ${MAX_FILES} files or ${MAX_BYTES} bytes. Leave --live-tools out, or name a smaller copy with --workspace.`,
      );
    }
  }
}

function withPath(value: unknown, from: string, to: string): unknown {
  if (typeof value === "string") return value.replaceAll(from, to);
  if (Array.isArray(value)) return value.map((item: unknown) => withPath(item, from, to));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withPath(item, from, to)]));
}
