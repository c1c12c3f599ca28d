import { lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import type { Placeholder } from "./git-steering.ts";

/** A placeholder of ours, and how many commands need it. */
interface Placed {
  readonly placeholder: Placeholder;
  users: number;
}

/** Keeps placeholders in their places while somebody needs them. */
export class Placeholders {
  readonly #placed = new Map<string, Placed>();

  /**
   * Puts them where nothing is. `there` are the paths of what is there already: placeholders of other commands among them stay for this one
   * too. Call what it returns once, when they are no longer needed.
   */
  put(placeholders: readonly Placeholder[], there: readonly string[] = []): () => void {
    const shared = there.flatMap((path) => this.#placed.get(path)?.placeholder ?? []);
    const ours = [...new Map([...placeholders, ...shared].map((each) => [each.path, each])).values()].filter(
      (each) => this.#put(each),
    );
    return () => {
      for (const { path } of ours) this.#take(path);
    };
  }

  #put(placeholder: Placeholder): boolean {
    const placed = this.#placed.get(placeholder.path);
    if (placed !== undefined) placed.users++;
    else if (make(placeholder)) this.#placed.set(placeholder.path, { placeholder, users: 1 });
    else return false;
    return true;
  }

  #take(path: string): void {
    const placed = this.#placed.get(path);
    if (placed === undefined || --placed.users > 0) return;
    this.#placed.delete(path);
    remove(placed.placeholder);
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
