import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../temp-folder.ts";

/** What a command line really did. */
export interface Trace {
  /** Names of the stub programs that ran, with their arguments. */
  readonly ran: readonly (readonly string[])[];
  /** Files that were not there before. */
  readonly created: readonly string[];
}

/**
 * A throw-away folder in which every program is a stub that only notes that it ran; wrappers and shells are
 * real.
 */
export interface StubRoom {
  readonly cwd: string;
  run(command: string): Trace;
}

const REAL = ["bash", "sh", "env", "timeout", "nice", "nohup", "xargs", "setsid", "find"];

/** Where Bash is, if this machine has one. */
export const BASH: string | undefined = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].find((path) =>
  existsSync(path),
);

/** Opens a room with stubs of these names. */
export function openStubRoom(stubs: readonly string[]): StubRoom {
  const root = tempFolder();
  const [bin, cwd, log] = [join(root, "bin"), join(root, "work"), join(root, "log")];
  mkdirSync(bin);
  for (const name of stubs) {
    writeFileSync(
      join(bin, name),
      `#!${BASH}\nprintf '%s\\0' ${name} "$@" > ${log}/${name},$BASHPID,$EPOCHREALTIME\n`,
    );
    chmodSync(join(bin, name), 0o755);
  }
  for (const name of REAL) {
    const real = ["/usr/bin", "/bin"]
      .map((folder) => join(folder, name === "sh" ? "bash" : name))
      .find((path) => existsSync(path));
    if (real !== undefined) symlinkSync(real, join(bin, name));
  }
  const reset = (): void => {
    rmSync(cwd, { recursive: true, force: true });
    rmSync(log, { recursive: true, force: true });
    mkdirSync(cwd);
    mkdirSync(log);
    for (const name of ["a", "b", "b.txt"]) writeFileSync(join(cwd, name), "echo\n");
  };
  return {
    cwd,
    run: (command) => {
      reset();
      const before = readdirSync(cwd);
      // `enable -n` makes the shell look for programs where it has a builtin of the same name, so that their
      // stubs note them.
      const script = 'enable -n echo true; eval "$LINE"; wait';
      spawnSync(BASH ?? "bash", ["-c", script], {
        cwd,
        env: { PATH: bin, HOME: cwd, LINE: command },
        input: "",
        timeout: 5000,
        killSignal: "SIGKILL",
      });
      return { ran: readLog(log), created: readdirSync(cwd).filter((name) => !before.includes(name)) };
    },
  };
}

/**
 * Every stub writes a file of its own, with its name in the file's: a program of the background may not have
 * written its arguments yet.
 */
function readLog(folder: string): readonly (readonly string[])[] {
  return readdirSync(folder).map((name) => [
    name.slice(0, name.indexOf(",")),
    ...readFileSync(join(folder, name), "utf8").split("\0").slice(1, -1),
  ]);
}
