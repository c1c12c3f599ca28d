import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { openSandbox, Sandbox } from "./sandbox.ts";
import type { SandboxRuntime, SandboxRuntimeConfig } from "./sandbox-runtime.ts";
import { SharedRuntime } from "./shared-runtime.ts";

interface FakeRuntime extends SandboxRuntime {
  readonly log: string[];
  readonly configs: (Partial<SandboxRuntimeConfig> | undefined)[];
}

/** A runtime that confines nothing, or, with `argv`, starts something else. */
function fakeRuntime(changes: Partial<SandboxRuntime> = {}): FakeRuntime {
  const log: string[] = [];
  const configs: (Partial<SandboxRuntimeConfig> | undefined)[] = [];
  return {
    log,
    configs,
    initialize: async () => void log.push("initialize"),
    isSupportedPlatform: () => true,
    checkDependencies: () => ({ errors: [], warnings: [] }),
    wrapWithSandboxArgv: async (command, shell, config) => {
      configs.push(config);
      return { argv: [shell, "-c", command] };
    },
    registerCommandNetworkLists: (_id, { allowedDomains }) =>
      void log.push(`allow ${allowedDomains?.join(",")}`),
    unregisterCommandNetworkLists: () => void log.push("forget"),
    getSandboxViolationStore: () => ({
      getViolationsForCommand: () => [{ line: "deny network-outbound a.example:443 (no)" }],
    }),
    cleanupAfterCommand: () => void log.push("cleanup"),
    reset: async () => void log.push("reset"),
    ...changes,
  };
}

function place() {
  const workspace = tempFolder();
  return { workspace: [workspace], home: tempFolder(), temporary: tempFolder(), probeFolder: tempFolder() };
}

test("a sandbox that confines nothing is found out, and closed again", async () => {
  const runtime = fakeRuntime();
  const where = place();
  expect(await openSandbox({ runtime, ...where })).toEqual({
    problem: `The sandbox does not hold: a command wrote to ${where.probeFolder}.`,
  });
  expect(runtime.log).toEqual(["initialize", "cleanup", "reset"]);
});

test("one that holds files back and not the network is found out too", async () => {
  const runtime = fakeRuntime({
    wrapWithSandboxArgv: async (command) => ({
      argv: ["/bin/bash", "-c", command.replace(/\(: > .*?\) 2>\/dev\/null; /, "")],
    }),
  });
  expect(await openSandbox({ runtime, ...place() })).toEqual({
    problem: "The sandbox does not hold: a command reached a port of this machine.",
  });
});

test("one that lets a command change settings of the kernel is found out", async () => {
  const runtime = fakeRuntime({
    wrapWithSandboxArgv: async (command) => ({
      argv: ["/bin/bash", "-c", command.replace(/^(export [^;]*; ).*?(\[ -w \S+ \]) /, "$1true ")],
    }),
  });
  expect(await openSandbox({ runtime, ...place() })).toEqual({
    problem:
      "The sandbox does not hold: a command can change settings of the system (/proc/sys/kernel/core_pattern).",
  });
});

test("a command that does not run is told with its reason and what to do about it", async () => {
  const fails = (text: string): FakeRuntime =>
    fakeRuntime({
      wrapWithSandboxArgv: async () => ({ argv: ["/bin/sh", "-c", `echo '${text}' >&2; exit 1`] }),
    });
  const plain = await openSandbox({ runtime: fails("no luck"), ...place() });
  const spaces = await openSandbox({
    runtime: fails("bwrap: No permissions to create new namespace"),
    ...place(),
  });
  expect(plain).toEqual({ problem: "No command runs in the sandbox: no luck." });
  expect(spaces).toEqual({
    problem: expect.stringMatching(/^No command runs .* This system lets you make no user namespaces: /),
  });
});

test("a system, a program or a start that fails is a problem, never a throw", async () => {
  const problems = await Promise.all(
    [
      fakeRuntime({ isSupportedPlatform: () => false }),
      fakeRuntime({ checkDependencies: () => ({ errors: ["socat not installed"], warnings: [] }) }),
      fakeRuntime({
        checkDependencies: () => ({ errors: [], warnings: ["bwrap is old", "seccomp not available"] }),
      }),
      fakeRuntime({ initialize: () => Promise.reject(new Error("port taken")) }),
    ].map((runtime) => openSandbox({ runtime, ...place() })),
  );
  expect(problems).toEqual([
    { problem: expect.stringContaining("does not know this system") },
    { problem: expect.stringContaining("needs what is not there: socat not installed.") },
    { problem: expect.stringContaining("needs what is not there: seccomp not available.") },
    { problem: "The sandbox cannot be started: port taken." },
  ]);
});

test.each([
  { ms: 500, looks: 9, problem: "The sandbox cannot be started: it came to the start." },
  { ms: 499, looks: 1, problem: expect.stringContaining("ripgrep (rg) not found") },
])("a program is looked for again where a look takes $ms ms: a busy machine answers late", async (row) => {
  let looks = 0;
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const runtime = fakeRuntime({
    checkDependencies: () => {
      now += row.ms;
      return { errors: ++looks < 9 ? ["ripgrep (rg) not found"] : [], warnings: [] };
    },
    initialize: () => Promise.reject(new Error("it came to the start")),
  });
  expect(await openSandbox({ runtime, ...place() })).toEqual({ problem: row.problem });
  expect(looks).toBe(row.looks);
});

test.each([
  { ms: 500, outcome: "/bin/sh" },
  { ms: 499, outcome: "Shell '/bin/sh' not found in PATH" },
])("so is the shell of a command, where that takes $ms ms", async ({ ms, outcome }) => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const runtime = fakeRuntime({
    wrapWithSandboxArgv: async (command, shell) => {
      now += ms;
      if (now < 3 * ms) throw new Error(`Shell '${shell}' not found in PATH`);
      return { argv: [shell, "-c", command] };
    },
  });
  const wrapped = new Sandbox(runtime, place(), tempFolder()).wrap({
    command: "true",
    shell: "/bin/sh",
    cwd: "/",
  });
  expect(await wrapped.then(({ file }) => file, errorMessage)).toBe(outcome);
});

test.each([
  { ms: 500, starts: 3 },
  { ms: 499, starts: 1 },
])("so is what it starts beside them, where its start fails after $ms ms", async ({ ms, starts }) => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const runtime = fakeRuntime({
    initialize: async () => {
      runtime.log.push("initialize");
      now += ms;
      if (now < 3 * ms) throw new Error("Failed to create bridge sockets after 5 attempts");
    },
  });
  await openSandbox({ runtime, ...place() });
  const begun = Array.from({ length: starts }, () => ["initialize", "reset"]).flat();
  expect(runtime.log.filter((each) => each !== "cleanup")).toEqual(begun);
});

test("each command gets the limits as they are then, its domains and its own cleaning up", async () => {
  const runtime = fakeRuntime();
  const where = place();
  const [workspace = ""] = where.workspace;
  const sandbox = new Sandbox(runtime, { ...where, allowDomains: ["a.example"] }, tempFolder());
  const start = await sandbox.wrap({ command: "echo hi", shell: "/bin/sh", cwd: workspace });
  start.release();
  const literal = (path: string) => ({ path, literal: true });
  expect({ ...start, log: runtime.log, config: runtime.configs[0] }).toMatchObject({
    file: "/bin/sh",
    args: ["-c", `export TMPDIR='${where.temporary}'; echo hi`],
    log: ["allow a.example", "forget", "cleanup"],
    config: {
      network: { allowedDomains: ["a.example"], deniedDomains: [] },
      filesystem: {
        denyRead: [],
        allowWrite: [workspace, where.temporary].map(literal),
        denyWrite: [".git", "HEAD"].map((name) => literal(join(workspace, name))),
      },
    },
  });
  expect(start.notes({ output: "", failed: true })).toEqual([
    expect.stringContaining("no network to a.example:443"),
  ]);
});

test("things put in the place of absent files are taken out, in front of what is guarded they stay", async () => {
  const where = place();
  const [workspace = ""] = where.workspace;
  const absent = join(workspace, ".gitconfig");
  const guarded = join(workspace, "state");
  const tail = `--dev /dev -- /bin/bash -c 'echo --ro-bind /dev/null ${absent}'`;
  const bind = (path: string) => `--ro-bind /dev/null ${path}`;
  const runtime = fakeRuntime({
    wrapWithSandboxArgv: async () => ({
      argv: ["/bin/bash", "-c", `bwrap --x ${bind(absent)} ${bind(guarded)} ${bind(workspace)} ${tail}`],
    }),
  });
  const sandbox = new Sandbox(runtime, { ...where, protect: [guarded] }, tempFolder());
  const { args } = await sandbox.wrap({ command: "true", shell: "/bin/bash", cwd: workspace });
  expect(args).toEqual(["-c", `bwrap --x ${bind(guarded)} ${bind(workspace)} ${tail}`]);
});

test("settings of the kernel are mounted to be read only, behind the processes", async () => {
  const line = (more: string) =>
    `bwrap --bind '/a --proc /proc b' --dev /dev --proc /proc ${more}-- /bin/bash -c 'echo --proc /proc '`;
  const runtime = fakeRuntime({ wrapWithSandboxArgv: async () => ({ argv: ["/bin/bash", "-c", line("")] }) });
  const sandbox = new Sandbox(runtime, place(), tempFolder());
  const { args } = await sandbox.wrap({ command: "true", shell: "/bin/bash", cwd: "/" });
  const folders = ["/proc/sys", "/proc/fs", "/proc/scsi", "/proc/acpi"];
  expect(args).toEqual(["-c", line(folders.map((path) => `--ro-bind-try ${path} ${path} `).join(""))]);
});

test("a guarded folder inside the workspace is made, so that no command can make it", async () => {
  const where = place();
  const folder = join(where.workspace[0] ?? "", ".config", "nano-agent");
  await openSandbox({ runtime: fakeRuntime(), ...where, protect: [folder] });
  expect(existsSync(folder)).toBe(true);
});

test("a description does not grow with what is hidden", () => {
  const denyRead = Array.from({ length: 100 }, (_none, at) => `/hidden-${at}`);
  const describe = (hidden: readonly string[]): string =>
    new Sandbox(fakeRuntime(), { ...place(), denyRead: hidden }, tempFolder()).describe();
  expect([describe(denyRead.slice(0, 2)), describe(denyRead)]).toEqual([
    expect.stringMatching(/, without reading \/hidden-0, \/hidden-1$/),
    expect.stringMatching(/, \/hidden-7 and more$/),
  ]);
});

test("a closed sandbox takes no command", async () => {
  const runtime = fakeRuntime();
  await SharedRuntime.of(runtime).join();
  const sandbox = new Sandbox(runtime, place(), tempFolder());
  await sandbox.dispose();
  await sandbox.dispose();
  await expect(sandbox.wrap({ command: "true", shell: "/bin/sh", cwd: "/" })).rejects.toThrow("closed");
  expect(runtime.log).toEqual(["initialize", "reset"]);
});
