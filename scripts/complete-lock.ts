/**
 * Adds to package-lock.json the optional platform packages that the registry in use did not serve.
 *
 * npm drops such packages when it writes the lock file, and `npm ci` then rejects the file it wrote itself.
 * Entries added here carry the version their parent names and the platform their name spells, and no
 * integrity. Usage: `node scripts/complete-lock.ts` after an `npm install` that changed dependencies;
 * `--check` only reports.
 */
import { readFileSync, writeFileSync } from "node:fs";

interface LockEntry {
  readonly version?: string;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** The parts of a lock file (version 3) this script reads and writes. */
export interface Lock {
  readonly packages: Record<string, LockEntry>;
}

/**
 * Entries missing from the lock, by their place in it. Throws for a missing package whose name tells no
 * platform.
 */
export function missingPlatformPackages(lock: Lock): Record<string, LockEntry> {
  const missing: Record<string, LockEntry> = {};
  for (const [place, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isPresent(lock, place, name)) continue;
      missing[`node_modules/${name}`] = {
        version: exactVersion(range),
        ...platformOf(name),
        ...(entry.dev ? { dev: true } : {}),
        optional: true,
      };
    }
  }
  return missing;
}

function isPresent(lock: Lock, place: string, name: string): boolean {
  let folder = place;
  for (;;) {
    if (lock.packages[folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`]) return true;
    if (folder === "") return false;
    const cut = folder.lastIndexOf("/node_modules/");
    folder = cut === -1 ? "" : folder.slice(0, cut);
  }
}

function exactVersion(range: string): string {
  return range.replace(/^[\^~=v]+/, "");
}

const SYSTEMS = "aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32";
const PROCESSORS = "arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|x64|wasm32";

function platformOf(name: string): Pick<LockEntry, "os" | "cpu" | "libc"> {
  const os = new RegExp(`\\b(${SYSTEMS})\\b`).exec(name)?.[1];
  const cpu = new RegExp(`\\b(${PROCESSORS})\\b`).exec(name)?.[1];
  if (os === undefined && cpu === undefined)
    throw new Error(`${name} is missing in the lock file and names no platform`);
  const musl = /musl/.test(name);
  const glibc = /-(gnu|gnueabihf)\b/.test(name);
  return {
    ...(cpu ? { cpu: [cpu] } : {}),
    ...(os ? { os: [os] } : {}),
    ...(musl ? { libc: ["musl"] } : glibc ? { libc: ["glibc"] } : {}),
  };
}

function sortedByPlace(packages: Record<string, LockEntry>): Record<string, LockEntry> {
  return Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

if (import.meta.main) {
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;
  const missing = missingPlatformPackages(lock);
  const names = Object.keys(missing);
  if (process.argv.includes("--check")) {
    for (const name of names)
      console.error(`package-lock.json lacks ${name}: run node scripts/complete-lock.ts`);
    process.exitCode = names.length > 0 ? 1 : 0;
  } else {
    const packages = sortedByPlace({ ...lock.packages, ...missing });
    writeFileSync("package-lock.json", `${JSON.stringify({ ...lock, packages }, null, 2)}\n`);
    console.log(`${names.length} platform packages added to package-lock.json`);
  }
}
