import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { diffFile } from "../../../tools/files/file-under-change.ts";

/** Files by path, with forward slashes. */
type Files = { readonly [path: string]: string };

/** Larger files are no work of a demo and are not compared. */
const MAX_COMPARED_BYTES = 1_000_000;

/** A copy of a project in a temporary folder of its own. */
export class ScratchProject {
  readonly folder: string;
  readonly #before: Files;

  /** Writes the files. Throws what the file system throws. */
  constructor(files: Files) {
    this.#before = files;
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "nano-agent-demo-")));
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }

  /** Paths of the files that are not as they were, sorted; new and removed ones too. */
  changes(): readonly string[] {
    const after = this.#read();
    const paths = [...new Set([...Object.keys(this.#before), ...Object.keys(after)])];
    return paths.filter((path) => this.#before[path] !== after[path]).sort();
  }

  /** What changed, as one unified diff; empty when nothing did. */
  async diff(): Promise<string> {
    const after = this.#read();
    const parts: string[] = [];
    for (const path of this.changes()) {
      const { diff } = await diffFile(path, this.#before[path] ?? "", after[path] ?? "");
      parts.push(diff ?? `${path} changed\n`);
    }
    return parts.join("");
  }

  /** Removes the folder. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #read(): Files {
    const files: { [path: string]: string } = {};
    for (const entry of readdirSync(this.folder, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (!entry.isFile() || statSync(file).size > MAX_COMPARED_BYTES) continue;
      files[relative(this.folder, file).split(sep).join("/")] = readFileSync(file, "utf8");
    }
    return files;
  }
}
