import { createHash, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isRecord, safeParse } from "../../core/base/json.ts";
import { isTaken } from "../../system/process-identity.ts";
import { systemCode } from "../../system/system-error.ts";
import type { Placeholder } from "./git-steering.ts";

/** Milliseconds between two looks at whether another process has removed a placeholder, and looks at most. */
const PAUSE_MS = 5;
const MAX_LOOKS = 400;

/**
 * Which processes need a placeholder, as files in a folder that no command can write to: one folder for each
 * placeholder, one file in it for each process. Who leaves last removes it. A process that has died needs
 * nothing any more.
 */
export class PlaceholderClaims {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The placeholder in a place that another process needs there. */
  at(path: string): Placeholder | undefined {
    return this.#others(this.#placeOf(path)).find((placeholder) => placeholder.path === path);
  }

  /** Claims one: nobody else removes it from now on, and who was about to is done. Returns the release. */
  take(placeholder: Placeholder): (remove: () => void) => void {
    const place = this.#placeOf(placeholder.path);
    const file = join(place, `${process.pid}-${randomUUID()}`);
    for (;;) {
      mkdirSync(place, { recursive: true, mode: 0o700 });
      try {
        writeFileSync(file, JSON.stringify(placeholder), { flag: "wx", mode: 0o600 });
        break;
      } catch (error) {
        // Whoever left last took the folder away.
        if (systemCode(error) !== "ENOENT") throw error;
      }
    }
    for (let look = 0; look < MAX_LOOKS && isHeld(lockOf(place)); look++) pause();
    return (remove) => release(place, file, remove);
  }

  #placeOf(path: string): string {
    return join(this.#folder, createHash("sha256").update(path).digest("hex").slice(0, 32));
  }

  #others(place: string): readonly Placeholder[] {
    return claimsIn(place)
      .filter((name) => !name.startsWith(`${process.pid}-`))
      .flatMap((name) => placeholderIn(join(place, name)) ?? []);
  }
}

function release(place: string, file: string, remove: () => void): void {
  const lock = lockOf(place);
  for (let look = 0; look < MAX_LOOKS && !hold(lock); look++) pause();
  try {
    unlinkSync(file);
    if (claimsIn(place).length > 0) return;
    // Fails when somebody has claimed it in this moment: then it stays for them.
    rmdirSync(place);
    remove();
  } catch {
    // It stays, which does no harm.
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The claims of processes that live; those of others are removed. */
function claimsIn(place: string): readonly string[] {
  if (!existsSync(place)) return [];
  return readdirSync(place).filter((name) => {
    if (isAlive(Number(name.split("-", 1)[0]))) return true;
    rmSync(join(place, name), { force: true });
    return false;
  });
}

function placeholderIn(file: string): Placeholder | undefined {
  try {
    const parsed = safeParse(readFileSync(file, "utf8"));
    const { path, content } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
    if (typeof path !== "string") return undefined;
    return typeof content === "string" ? { path, content } : { path };
  } catch {
    // Given up in this moment.
    return undefined;
  }
}

/** Held while a placeholder is being removed. */
function lockOf(place: string): string {
  return `${place}.removing`;
}

function hold(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    // The next try finds it free where its owner has died.
    isHeld(lock);
    return false;
  }
}

function isHeld(lock: string): boolean {
  try {
    const owner = readFileSync(lock, "utf8");
    if (owner === "" || isAlive(Number(owner))) return true;
    rmSync(lock, { force: true });
    return false;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  return Number.isSafeInteger(pid) && pid > 0 && isTaken(pid);
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
