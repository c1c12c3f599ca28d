import { accessSync, constants } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { LinuxWall } from "./linux-wall.ts";
import { Sandbox } from "./sandbox.ts";
import { type SandboxLimits, type SandboxOptions, sandboxLimits, unfitWorkspace } from "./sandbox-limits.ts";
import { SeatbeltWall } from "./seatbelt-wall.ts";
import { endedSessions, makeSessionFolders, removeSession, type SandboxFolders } from "./session-folders.ts";
import { SteeringGuard } from "./steering-guard.ts";
import { trySandbox } from "./try-sandbox.ts";
import { missingPrograms, noSandbox, whyNone } from "./why-none.ts";

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
  let close = async (): Promise<void> => undefined;
  try {
    const limits = sandboxLimits(options);
    const unfit = unfitWorkspace(limits);
    if (unfit !== undefined)
      return { problem: whyNone(unfit, "start in a folder of its own below the home folder") };
    const names = PROGRAMS[process.platform];
    if (names === undefined)
      return { problem: whyNone(`there is none for ${process.platform}`, "on Windows use WSL 2") };
    const programs = new Map(names.map((name) => [name, findProgram(name, limits)]));
    const missing = names.filter((name) => programs.get(name) === undefined);
    if (missing.length > 0) return { problem: missingPrograms(missing) };
    const [cwd = "/"] = limits.workspace;
    const folders = makeSessionFolders(limits.stateFolder, cwd);
    close = async () => removeSession(folders);
    const guard = guardOf(limits, folders);
    const program = (name: string): string => programs.get(name) ?? "";
    const [bash, bwrap, nsenter] = [program("bash"), program("bwrap"), program("nsenter")];
    const wall =
      process.platform === "darwin"
        ? new SeatbeltWall({ limits, folders, bash })
        : await LinuxWall.open({ limits, folders, programs: { bash, bwrap, nsenter } });
    const sandbox = new Sandbox({ limits, folders, wall, guard });
    close = () => sandbox.dispose();
    const problem = await trySandbox(sandbox, { cwd, outside: folders.own, env: limits.environment });
    if (problem === undefined) return { sandbox };
    throw new Error(problem);
  } catch (error) {
    await close();
    return { problem: noSandbox(errorMessage(error)) };
  }
}

/** Never one that commands could have written. Bash is the one that commands outside run in. */
function findProgram(name: string, { programs, writable }: SandboxLimits): string | undefined {
  const first = name === "bash" ? BASH.filter((folder) => programs.includes(folder)) : [];
  const isOurs = (path: string): boolean =>
    ![dirname(path), path].some((each) => isWithin(realPath(each), ...writable));
  return [...first, ...programs]
    .map((folder) => join(folder, name))
    .find((path) => isExecutable(path) && isOurs(path));
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

/** A guard that has looked after what killed sessions could not. */
function guardOf({ environment, ...limits }: SandboxLimits, { pending }: SandboxFolders): SteeringGuard {
  const { writable, outerGit, stateFolder } = limits;
  const gitFolders = outerGit.map(({ folder }) => folder);
  const roots = writable.filter((folder) => !gitFolders.includes(folder));
  const kept = join(stateFolder, "put-back");
  const guard = new SteeringGuard({ roots, gitFolders, writable, kept, pending, env: environment });
  for (const ended of endedSessions(stateFolder)) if (guard.recover(ended.pending)) removeSession(ended);
  return guard;
}
