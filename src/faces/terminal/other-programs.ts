import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { misuse } from "../../core/base/errors.ts";
import { type Environment, variable } from "../../system/env.ts";

/**
 * Lets a person write a text in `$VISUAL`, else `$EDITOR`, which gets the terminal for so long. Throws
 * `invalid_argument` when neither is set or it cannot be started.
 */
export async function writeInEditor(text: string, environment: Environment): Promise<string> {
  const command = variable(environment, "VISUAL") ?? variable(environment, "EDITOR");
  if (command === undefined)
    throw misuse("Neither VISUAL nor EDITOR is set. Set one, e.g. export EDITOR=vim.");
  const folder = mkdtempSync(join(tmpdir(), "nano-agent-"));
  try {
    const path = join(folder, "message.md");
    writeFileSync(path, text, { mode: 0o600 });
    // It may have options and quotes: the shell reads it, as it does for every other program.
    const child = spawn("sh", ["-c", `${command} "$1"`, "sh", path], { stdio: "inherit" });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (code !== 0) throw misuse(`${command} ended with ${String(code)}; the text stays as it was.`);
    return readFileSync(path, "utf8").replace(/\n$/, "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Programs that write the image of the clipboard to their output, each on the systems that have it. */
const PROGRAMS: readonly (readonly [command: string, ...args: readonly string[]])[] = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
  ["pngpaste", "-"],
];

const MAX_BYTES = 10_000_000;

/** The bytes of the image in the clipboard; undefined when there is none, or no program that reads it. */
export async function clipboardImage(): Promise<Uint8Array | undefined> {
  for (const [command, ...args] of PROGRAMS) {
    const bytes = await outputOf(command, args);
    if (bytes !== undefined && bytes.length > 0) return bytes;
  }
  return undefined;
}

function outputOf(command: string, args: readonly string[]): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { encoding: "buffer", maxBuffer: MAX_BYTES, timeout: 3_000 }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
}

export interface OwnCommandOptions {
  readonly cwd: string;
  readonly environment: Environment;
}

/** The output of a command of this program. Rejects with what it says on standard error. */
export function ownCommand(
  words: readonly string[],
  { cwd, environment }: OwnCommandOptions,
): Promise<string> {
  const [, program = ""] = process.argv;
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...words],
      { cwd, env: { ...environment }, maxBuffer: 20_000_000 },
      (error, stdout, stderr) => {
        if (error === null || stdout !== "") resolve(stdout);
        else reject(misuse(stderr.trim() || error.message));
      },
    );
  });
}

export function ownCommandOnTerminal(
  words: readonly string[],
  { cwd, environment }: OwnCommandOptions,
): Promise<void> {
  const [, program = ""] = process.argv;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...words], {
      cwd,
      env: { ...environment },
      stdio: "inherit",
    });
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
}

/** Time for which what was read of a repository is taken to hold. */
const FRESH_MS = 2_000;

/** {@link placeOf} for frames, which are many: looks again when some time has gone by. */
export function placeIn(cwd: string, elapsed: () => number): () => string {
  let place = "";
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (elapsed() - readAt >= FRESH_MS) {
      place = placeOf(cwd);
      readAt = elapsed();
    }
    return place;
  };
}

/** The branch of the repository a folder is in, else the name of the folder. */
export function placeOf(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const branch = branchIn(folder);
    if (branch !== undefined) return branch;
    if (dirname(folder) === folder) return basename(cwd) || cwd;
  }
}

function branchIn(folder: string): string | undefined {
  try {
    const git = join(folder, ".git");
    const place = statSync(git).isDirectory()
      ? git
      : resolve(
          folder,
          readFileSync(git, "utf8")
            .replace(/^gitdir:\s*/, "")
            .trim(),
        );
    const head = readFileSync(join(place, "HEAD"), "utf8").trim();
    return head.startsWith("ref: refs/heads/") ? head.slice(16) : head.slice(0, 8);
  } catch {
    // No repository here.
    return undefined;
  }
}
