import { accessSync, constants } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { LinuxWall } from "./linux-wall.ts";
import { Sandbox } from "./sandbox.ts";
import { type SandboxLimits, type SandboxOptions, sandboxLimits, unfitWorkspace } from "./sandbox-limits.ts";
import { SeatbeltWall } from "./seatbelt-wall.ts";
import { endedSessions, makeSessionFolders, type SessionFolders } from "./session-folders.ts";
import { readPending, SteeringGuard } from "./steering-guard.ts";
import { trySandbox } from "./try-sandbox.ts";
import type { Wall } from "./wall.ts";
import { line, missingPrograms, noSandbox } from "./why-none.ts";

/** A sandbox that works, or one line that says why there is none and what to do. */
export type OpenedSandbox = { readonly sandbox: Sandbox } | { readonly problem: string };

const BASH = ["/bin", "/usr/bin", "/usr/local/bin"];
const PROGRAMS: { readonly [platform: string]: readonly string[] } = {
  linux: ["bash", "bwrap", "nsenter"],
  darwin: ["bash", "sandbox-exec"],
};

/**
 * Opens a sandbox for the commands of one session and tries it with a real one: Linux with bubblewrap, macOS
 * with `sandbox-exec`. Never throws. Close what was opened with {@link Sandbox.dispose}.
 */
export async function openSandbox(options: SandboxOptions): Promise<OpenedSandbox> {
  let folders: SessionFolders | undefined;
  let sandbox: Sandbox | undefined;
  try {
    const limits = sandboxLimits(options);
    const found = findPrograms(limits);
    if ("problem" in found) return found;
    folders = makeSessionFolders(limits.stateFolder, limits.workspace[0] ?? "");
    const guard = guardOf(limits, folders);
    const wall = await openWall(limits, folders, found.programs);
    sandbox = new Sandbox({ limits, folders, wall, guard });
    const trial = { cwd: limits.workspace[0] ?? "/", outside: folders.own, env: limits.environment };
    const problem = await trySandbox(sandbox, trial);
    if (problem === undefined) return { sandbox };
    await sandbox.dispose();
    return { problem: noSandbox(problem) };
  } catch (error) {
    await (sandbox?.dispose() ?? folders?.remove());
    return { problem: noSandbox(errorMessage(error)) };
  }
}

type Programs = { readonly [name: string]: string };

function findPrograms(limits: SandboxLimits): { readonly programs: Programs } | { readonly problem: string } {
  const unfit = unfitWorkspace(limits);
  if (unfit !== undefined)
    return { problem: line(unfit, "start in a folder of its own below the home folder") };
  const needed = PROGRAMS[process.platform];
  if (needed === undefined)
    return { problem: line(`there is none for ${process.platform}`, "on Windows use WSL 2") };
  const found = needed.map((name) => [name, findProgram(name, limits)] as const);
  const missing = found.flatMap(([name, path]) => (path === undefined ? [name] : []));
  if (missing.length > 0) return { problem: missingPrograms(missing) };
  return { programs: Object.fromEntries(found.map(([name, path]) => [name, path ?? ""])) };
}

/** Never one that commands could have written. Bash is the one that commands outside run in. */
function findProgram(name: string, { programs, writable }: SandboxLimits): string | undefined {
  const folders =
    name === "bash" ? [...BASH.filter((folder) => programs.includes(folder)), ...programs] : programs;
  return folders
    .map((folder) => join(folder, name))
    .find(
      (path) =>
        isExecutable(path) && ![dirname(path), path].some((each) => isWithin(realPath(each), ...writable)),
    );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not for this user.
    return false;
  }
}

async function openWall(limits: SandboxLimits, folders: SessionFolders, programs: Programs): Promise<Wall> {
  const { bash = "", bwrap = "", nsenter = "" } = programs;
  if (process.platform === "darwin") return new SeatbeltWall(limits, folders, bash);
  return LinuxWall.open({ limits, folders, programs: { bash, bwrap, nsenter } });
}

/** A guard that has looked after what killed sessions could not. */
function guardOf(limits: SandboxLimits, { kept, pending }: SessionFolders): SteeringGuard {
  const { workspace: roots, writable, outerGit, environment: env, stateFolder } = limits;
  const gitFolders = outerGit.map(({ folder }) => folder);
  const guard = new SteeringGuard({ roots, gitFolders, writable, kept, pending, env });
  for (const ended of endedSessions(stateFolder)) {
    const text = readPending(ended.pending);
    if (text === undefined || guard.recover(text)) ended.remove();
  }
  return guard;
}
