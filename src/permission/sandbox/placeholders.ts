import { lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import type { Placeholder } from "./git-steering.ts";

/** Keeps placeholders in their places while somebody needs them. */
export class Placeholders {
  /** Ours, and how many commands need them. */
  readonly #placed = new Map<string, number>();

  /** Puts them where nothing is. Call what it returns once, when they are no longer needed. */
  put(placeholders: readonly Placeholder[]): () => void {
    const ours = placeholders.filter((each) => this.#put(each));
    return () => {
      for (const each of ours) this.#take(each);
    };
  }

  #put(placeholder: Placeholder): boolean {
    const { path } = placeholder;
    const users = this.#placed.get(path);
    if (users === undefined && !make(placeholder)) return false;
    this.#placed.set(path, (users ?? 0) + 1);
    return true;
  }

  #take(placeholder: Placeholder): void {
    const left = (this.#placed.get(placeholder.path) ?? 1) - 1;
    if (left > 0) this.#placed.set(placeholder.path, left);
    else {
      this.#placed.delete(placeholder.path);
      remove(placeholder);
    }
  }
}

/** False where something is already, or nothing can be made: then no command of the same user makes it. */
function make({ path, content }: Placeholder): boolean {
  try {
    if (content === undefined) mkdirSync(path);
    else writeFileSync(path, content, { flag: "wx" });
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (["EEXIST", "ENOENT", "ENOTDIR", "EACCES", "EPERM", "EROFS"].includes(code)) return false;
    throw error;
  }
}

/** What somebody made of it meanwhile is theirs, and stays. */
function remove({ path, content }: Placeholder): void {
  try {
    if (content === undefined) rmdirSync(path);
    else if (lstatSync(path).isFile() && readFileSync(path, "utf8") === content) rmSync(path);
  } catch {
    // Gone, or no longer empty.
  }
}
