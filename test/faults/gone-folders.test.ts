import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { modelServer, runCommand, serverEnv } from "../e2e/command.ts";
import { checkedLines } from "../e2e/event-schema.ts";
import { sessionPlace } from "../e2e/session-place.ts";
import { tempFolder } from "../temp-folder.ts";

const BIN = join(import.meta.dirname, "../../dist/bin.mjs");

it("says that the working folder was removed before the start", async () => {
  const cwd = tempFolder();
  const said = await new Promise<string>((resolve) => {
    execFile(
      "bash",
      ["-c", 'rmdir "$PWD"; "$0" "$1" -p go 2>&1; echo "exit $?"', process.execPath, BIN],
      { cwd, env: { PATH: process.env["PATH"] ?? "", HOME: tempFolder() } },
      (_error, stdout) => resolve(stdout),
    );
  });
  expect(said).toMatch(/^nano-agent: The working folder was removed\. .*\nexit 2\n$/);
});

it("goes on to an end when a command removes the working folder, and can be gone on with", async () => {
  const place = sessionPlace();
  const server = await modelServer([
    calls("bash", { command: 'rm -rf "$PWD"' }),
    calls("bash", { command: "echo hi" }),
    says("It is gone."),
  ]);
  const end = await place.run(["-p", "--yolo", "--json", "--no-undo", "go"], server);
  expect([end.code, checkedLines(end.stdout).at(-1)]).toMatchObject([0, { result: "It is gone." }]);
  expect(JSON.stringify(server.requests[2]?.body)).toContain(place.cwd);
});

it.each(["/proc", "/dev/null"])("ends with a clear message or works with the home %s", async (home) => {
  const server = await modelServer([says("hi"), says("hi")]);
  const env = { ...serverEnv(server), HOME: home };
  const end = await runCommand(["-p", "go"], { env });
  expect([0, 60]).toContain(end.code);
  expect(end.code === 60 ? end.stderr : "--no-session").toContain("--no-session");
  expect((await runCommand(["-p", "--no-session", "go"], { env })).code).toBe(0);
});

it("names the signal that ended a command, the program that is missing, the file that cannot be run", async () => {
  const place = sessionPlace({ "plain.txt": "x" });
  const server = await modelServer([
    [
      calls("bash", { command: "kill -SEGV $$" }),
      calls("bash", { command: "no_such_program_x" }),
      calls("bash", { command: "./plain.txt" }),
    ],
    says("I see."),
  ]);
  expect((await place.run(["-p", "--yolo", "go"], server)).code).toBe(0);
  const told = JSON.stringify(server.requests[1]?.body);
  expect([
    told.includes("SIGSEGV"),
    told.includes("no_such_program_x: command not found"),
    told.includes("Permission denied"),
  ]).toEqual([true, true, true]);
});
