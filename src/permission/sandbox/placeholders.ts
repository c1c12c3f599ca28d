import { lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { systemCode } from "../../system/system-error.ts";
import type { Placeholder } from "./git-steering.ts";
import type { PlaceholderClaims } from "./placeholder-claims.ts";

/** A placeholder of ours, and how many commands need it. */
interface PlaceholderUse {
  readonly placeholder: Placeholder;
  /** Gives up the claim of this process, and removes it if that was the last one. */
  readonly giveUp: () => void;
  users: number;
}

/** The facts {@link Placeholders.put} looks at beside the files it puts. */
export interface PutOptions {
  /** Paths that exist already; placeholders of other commands and processes stay for this one too. */
  readonly there?: readonly string[];
  readonly claims: PlaceholderClaims;
}

/** Keeps placeholders in their places while somebody needs them. */
export class Placeholders {
  readonly #placed = new Map<string, PlaceholderUse>();

  /** Puts them where nothing is. Call what it returns once, when they are no longer needed. */
  put(placeholders: readonly Placeholder[], { there = [], claims }: PutOptions): () => void {
    const shared = there.flatMap((path) => this.#placed.get(path)?.placeholder ?? claims.at(path) ?? []);
    const ours = [...new Map([...placeholders, ...shared].map((each) => [each.path, each])).values()].filter(
      (each) => this.#put(each, claims),
    );
    return () => {
      for (const { path } of ours) this.#take(path);
    };
  }

  #put(placeholder: Placeholder, claims: PlaceholderClaims): boolean {
    const { path } = placeholder;
    const placed = this.#placed.get(path);
    if (placed !== undefined) {
      placed.users++;
      return true;
    }
    const giveUp = claims.take(placeholder);
    const isOurs = make(placeholder) || claims.at(path) !== undefined;
    if (!isOurs) giveUp(() => undefined);
    else this.#placed.set(path, { placeholder, giveUp: () => giveUp(() => remove(placeholder)), users: 1 });
    return isOurs;
  }

  #take(path: string): void {
    const placed = this.#placed.get(path);
    if (placed === undefined || --placed.users > 0) return;
    this.#placed.delete(path);
    placed.giveUp();
  }
}

/** False where something is already, or nothing can be made: then no command of the same user makes it. */
function make({ path, content }: Placeholder): boolean {
  try {
    if (content === undefined) mkdirSync(path);
    else writeFileSync(path, content, { flag: "wx" });
    return true;
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (["EEXIST", "ENOENT", "ENOTDIR", "EACCES", "EPERM", "EROFS"].includes(code)) return false;
    throw error;
  }
}

/** A file that somebody else wrote there meanwhile is theirs, and stays. */
function remove({ path, content }: Placeholder): void {
  try {
    if (content === undefined) rmdirSync(path);
    else if (lstatSync(path).isFile() && readFileSync(path, "utf8") === content) rmSync(path);
  } catch {
    // Gone, or no longer empty.
  }
}
