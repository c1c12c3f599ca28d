import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { singleQuoted } from "../../core/base/text.ts";
import { makePrivateFolders } from "../../system/private-folders.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { systemCode } from "../../system/system-error.ts";
import { blockedNotes } from "./blocked-notes.ts";
import type { CommandToConfine, ConfinedStart } from "./confined-start.ts";
import { isBare, refuseAsBare, repositoriesBelow } from "./git-steering.ts";
import { PlaceholderClaims } from "./placeholder-claims.ts";
import { Placeholders } from "./placeholders.ts";
import { probeSandbox } from "./probe-sandbox.ts";
import { runtimeConfig, type SandboxLimits, type SandboxPlace, sandboxLimits } from "./sandbox-limits.ts";
import type { SandboxRuntime } from "./sandbox-runtime.ts";
import { SharedRuntime } from "./shared-runtime.ts";

/** How a sandbox is opened. */
export interface SandboxOptions extends Omit<SandboxPlace, "temporary" | "repositories"> {
  /** The runtime: `SandboxManager` of `@anthropic-ai/sandbox-runtime`. One process has one. */
  readonly runtime: SandboxRuntime;
  /** Default: the system's temporary folder. */
  readonly temporary?: string;
  /**
   * A folder outside the limits, made if it is not there: the probe tries to write to it, and processes tell
   * each other there what they guard. All of one user share it.
   */
  readonly probeFolder: string;
}

/** A sandbox that works, or why there is none and what to do. */
export type OpenedSandbox = { readonly sandbox: Sandbox } | { readonly problem: string };

/**
 * Starts the runtime and tries it: a command must run, a write outside and a connection must fail. Never
 * throws; what does not work is said in `problem`. Close what was opened with {@link Sandbox.dispose}.
 */
export async function openSandbox(options: SandboxOptions): Promise<OpenedSandbox> {
  const { runtime, probeFolder, temporary = tmpdir(), ...given } = options;
  const repositories = given.workspace.flatMap(repositoriesBelow);
  const place: SandboxPlace = { ...given, temporary, repositories };
  let sandbox: Sandbox | undefined;
  try {
    if (!runtime.isSupportedPlatform())
      return { problem: `The sandbox runtime does not know this system (${process.platform}).` };
    const missing = await missingPrograms(runtime);
    if (missing !== undefined) return { problem: missing };
    makeProtected(place);
    await patiently(() => SharedRuntime.of(runtime).join());
    sandbox = new Sandbox(runtime, place, join(probeFolder, "placeholders"));
    const problem = await probeSandbox(sandbox, { folder: probeFolder });
    if (problem === undefined) return { sandbox };
    await sandbox.dispose();
    return { problem };
  } catch (error) {
    await sandbox?.dispose();
    return { problem: `The sandbox cannot be started: ${errorMessage(error)}.` };
  }
}

/** Which programs are not there, and what to do; undefined: all are. */
function missingPrograms(runtime: SandboxRuntime): Promise<string | undefined> {
  const look = async (): Promise<undefined> => {
    const { errors, warnings } = runtime.checkDependencies();
    // Without it sockets of the system could be reached, which no trial tells where there are none.
    const missing = [...errors, ...warnings.filter((each) => each.includes("seccomp"))];
    if (missing.length === 0) return;
    const install =
      process.platform === "linux"
        ? " Install them, e.g. apt-get install bubblewrap socat ripgrep, or dnf install bubblewrap socat ripgrep."
        : "";
    throw new Error(`The sandbox needs what is not there: ${missing.join("; ")}.${install}`);
  };
  return patiently(look).catch(errorMessage);
}

/** Most times the runtime is asked for the same. */
const ATTEMPTS = 20;
/** It waits at least so long for a program to be found or to start: not enough on a busy machine. */
const PATIENCE_MS = 500;

/** Has the runtime do again what it may have failed at for want of time. What is not there fails sooner. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const began = performance.now();
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || performance.now() - began < PATIENCE_MS) throw error;
    }
  }
}

/** Paths that a description lists: models read it with every request. */
const MOST_NAMED = 8;

/** Confines commands to the limits of one place. */
export class Sandbox {
  /** Of all sandboxes of this process: two of them may share a workspace. */
  static readonly #placeholders = new Placeholders();
  readonly #runtime: SandboxRuntime;
  readonly #place: SandboxPlace;
  readonly #claims: PlaceholderClaims;
  #isDisposed = false;

  /**
   * `runtime`: one that was joined ({@link SharedRuntime}). `claims`: folder in which processes tell each
   * other which placeholders they need.
   */
  constructor(runtime: SandboxRuntime, place: SandboxPlace, claims: string) {
    this.#runtime = runtime;
    this.#place = place;
    this.#claims = new PlaceholderClaims(claims);
  }

  /** The limits in force, in one line for people and models. */
  describe(): string {
    const { writable, domains, unreadable } = sandboxLimits(this.#place);
    const network = domains.length === 0 ? "no network" : `network only to ${domains.join(", ")}`;
    const named = unreadable.slice(0, MOST_NAMED).join(", ");
    const more = unreadable.length > MOST_NAMED ? " and more" : "";
    const hidden = named === "" ? "" : `, without reading ${named}${more}`;
    return `writing only below ${writable.join(", ")}, ${network}${hidden}`;
  }

  /** The command line of the process that the runtime keeps beside all commands; undefined: there is none. */
  get companion(): string | undefined {
    const socket = this.#runtime.getLinuxHttpSocketPath?.();
    return socket === undefined ? undefined : basename(socket);
  }

  /** How to start a command inside. Rejects when closed or refused by the runtime: do not start it then. */
  async wrap(start: CommandToConfine): Promise<ConfinedStart> {
    if (this.#isDisposed) throw new Error("the sandbox is closed");
    const { protect = [] } = start;
    const limits = sandboxLimits({ ...this.#place, protect: [...(this.#place.protect ?? []), ...protect] });
    const put = { there: limits.protected, claims: this.#claims };
    const removePlaceholders = Sandbox.#placeholders.put(limits.placeholders, put);
    const refuseNew = this.#watchBare();
    const release = (): void => {
      refuseNew();
      removePlaceholders();
    };
    try {
      return await this.#wrapWithin(limits, start, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * A command can spoil a `.git`, as a checkout changes it; git would then take the folder around it for a
   * repository, if the command made one of it. What this returns has git refuse those that came into being.
   */
  #watchBare(): () => void {
    const folders = [...this.#place.workspace, ...(this.#place.repositories ?? [])].map(realPath);
    const plain = folders.filter((folder) => !isBare(folder));
    // A link that the command put in its place leads to a folder that is none of ours.
    const isSame = (folder: string): boolean => realPath(folder) === folder;
    return () => plain.filter((folder) => isSame(folder) && isBare(folder)).forEach(refuseAsBare);
  }

  async #wrapWithin(
    limits: SandboxLimits,
    { command, shell, cwd }: CommandToConfine,
    release: () => void,
  ): Promise<ConfinedStart> {
    // Named so that a command cannot guess the name of another one.
    const commandId = randomBytes(16).toString("base64url");
    const runtime = this.#runtime;
    const line = `export TMPDIR=${singleQuoted(limits.temporary)}; ${command}`;
    const config = runtimeConfig(limits);
    const { argv } = await patiently(() =>
      runtime.wrapWithSandboxArgv(line, shell, config, undefined, cwd, { commandId }),
    );
    const [file, ...args] = argv.map((word) => withoutPlaceholders(withFixedSettings(word), limits));
    if (file === undefined) throw new Error("the sandbox runtime named no program to start");
    if (limits.domains.length > 0)
      runtime.registerCommandNetworkLists(commandId, { allowedDomains: [...limits.domains] });
    return {
      file,
      args,
      notes: ({ output, failed }) => {
        const refused = runtime.getSandboxViolationStore().getViolationsForCommand(commandId);
        return blockedNotes(limits, { cwd, output, failed, refused: refused.map(({ line }) => line) });
      },
      release: () => {
        if (limits.domains.length > 0) runtime.unregisterCommandNetworkLists(commandId);
        // Removes what the runtime put in the place of guarded files that are not there.
        runtime.cleanupAfterCommand();
        release();
      },
    };
  }

  /** Stops the runtime when nobody else in this process uses it. Never rejects. */
  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    await SharedRuntime.of(this.#runtime).leave();
  }
}

/** A guarded folder of the user's that does not exist could be made by a command: it is made first. */
function makeProtected(place: SandboxPlace): void {
  const { writable } = sandboxLimits(place);
  for (const path of place.protect ?? []) {
    if (!isWithin(realPath(path), ...writable)) continue;
    try {
      makePrivateFolders(path);
    } catch (error) {
      const code = systemCode(error);
      // A folder that we may not make, no command of the same user makes.
      if (code !== "EACCES" && code !== "EPERM" && code !== "EROFS") throw error;
    }
  }
}

/** The folders by which root could change the system; bubblewrap sees to others. */
const KERNEL_FOLDERS = ["sys", "fs", "scsi", "acpi"].map((name) => `/proc/${name}`);

/** Mounts the kernel's settings read-only. */
function withFixedSettings(word: string): string {
  const end = word.indexOf(DEVICES);
  if (!/^(?:exec )?\S*bwrap /.test(word) || end === -1) return word;
  const processes = " --proc /proc ";
  const mounts = KERNEL_FOLDERS.map((path) => `--ro-bind-try ${path} ${path} `).join("");
  const rest = word.slice(end).replace(processes, processes + mounts);
  return word.slice(0, end) + rest;
}

/** Where the options of bubblewrap end that name folders. */
const DEVICES = " --dev /dev ";

/**
 * The runtime puts a device or an empty folder in the place of some files that are not there (`.gitconfig`,
 * `.mcp.json`, …), which then stand in the folder while a command runs, and make `git add` fail. Takes these
 * out of the command line of bubblewrap, whose own options end at `--dev`; those in front of what our limits
 * name stay, and whatever is not spelled in the expected way.
 */
function withoutPlaceholders(word: string, { protected: guarded, unreadable }: SandboxLimits): string {
  const end = word.indexOf(DEVICES);
  if (!/^(?:exec )?\S*bwrap /.test(word) || end === -1) return word;
  const options = word
    .slice(0, end)
    .replaceAll(
      / --ro-bind (?:\/dev\/null|\/\S*\/claude-empty-\w+) (\/[^\s'"\\]+)(?= |$)/g,
      (all, path: string) =>
        existsSync(path) || isWithin(path, ...guarded, ...unreadable) || isParent(path, guarded) ? all : "",
    );
  return options + word.slice(end);
}

function isParent(path: string, guarded: readonly string[]): boolean {
  return guarded.some((inner) => isWithin(inner, path));
}
