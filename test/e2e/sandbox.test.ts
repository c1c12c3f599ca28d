import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { until } from "../faults/until.ts";
import { missingForSandbox } from "../sandbox-room.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv, startCommand } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

const missing = missingForSandbox();

function sandboxOf(line: object | undefined): unknown {
  return line !== undefined && "sandbox" in line ? line.sandbox : undefined;
}

/** A working folder and a home, apart from each other. */
function places() {
  return { cwd: tempFolder(), home: tempFolder() };
}

/**
 * An environment in which the temporary folder lies elsewhere, so that the test's own folders are outside.
 */
function outsideEnv(home: string): Readonly<Record<string, string>> {
  return { HOME: home, TMPDIR: tempFolder() };
}

test("on runs no command without its programs, and the result says what to install", async () => {
  const server = await modelServer([calls("bash", { command: "/bin/echo made > x" }), says("done")]);
  const { cwd, home } = places();
  const env = { ...serverEnv(server), HOME: home, PATH: tempFolder() };
  const end = await runCommand(["-p", "--yolo", "--sandbox", "on", "go"], { cwd, env });
  const sent = JSON.stringify(server.requests.at(-1)?.body);
  expect({
    code: end.code,
    names: readdirSync(cwd),
    said: sent.includes("nothing was run: no sandbox ("),
  }).toEqual({
    code: 0,
    names: [],
    said: true,
  });
});

test("auto says once that there is none, and goes on; a start without commands asks nothing of it", async () => {
  const command = { command: "/bin/echo ran" };
  const server = await modelServer([
    calls("bash", command),
    calls("bash", command),
    says("done"),
    says("hello"),
  ]);
  const { cwd, home } = places();
  const env = { ...serverEnv(server), HOME: home, PATH: tempFolder() };
  const end = await runCommand(["-p", "--yolo", "go"], { cwd, env });
  const quiet = await runCommand(["-p", "go"], { cwd, env });
  expect({
    code: end.code,
    said: end.stderr.split("no sandbox (").length - 1,
    ran: JSON.stringify(server.requests.at(2)?.body).includes("ran\\n[exit code 0"),
    quiet: quiet.stderr.includes("sandbox"),
  }).toEqual({ code: 0, said: 1, ran: true, quiet: false });
});

test("an unknown word is refused, and a project cannot switch the sandbox off", async () => {
  const { home } = places();
  const wrong = await runCommand(["-p", "--sandbox", "yes", "go"], { env: { HOME: home } });
  expect({ code: wrong.code, stderr: wrong.stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('--sandbox "yes": unknown. One of: on, auto, off.'),
  });
  const cwd = tempFolder({ "nano-agent.json": '{ "sandbox": { "mode": "off", "allowWrite": ["/"] } }' });
  const { stdout, stderr } = await runCommand(["config"], { cwd, env: { HOME: home } });
  expect(stdout).not.toContain("sandbox");
  expect(stderr).toContain("left out sandbox.");
});

describe.skipIf(missing !== "")(`with the real sandbox${missing === "" ? "" : `: ${missing}`}`, () => {
  test("on confines commands, tells the model, and names what was blocked", async () => {
    const { cwd, home } = places();
    const target = join(home, "made");
    const command = `echo x > ${target}; echo y > inside; cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep OPENAI_API_KEY`;
    const server = await modelServer([calls("bash", { command }), says("done")]);
    const env = { ...serverEnv(server), ...outsideEnv(home) };
    const end = await runCommand(["-p", "--json", "--yolo", "--sandbox", "on", "go"], { cwd, env });
    const [init] = checkedLines(end.stdout);
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect({
      code: end.code,
      stderr: end.stderr.includes("sandbox"),
      sandbox: sandboxOf(init),
      told: sent.includes(
        "Commands run in a sandbox where the system has one: they write only in the working folder",
      ),
      named: sent.includes(`[sandbox: commands write below ${cwd} and $TMPDIR only`),
      sees: sent.includes("OPENAI_API_KEY="),
      made: existsSync(target),
      inside: readFileSync(join(cwd, "inside"), "utf8"),
      names: readdirSync(cwd),
    }).toEqual({
      code: 0,
      stderr: false,
      sandbox: "on",
      told: true,
      named: true,
      sees: false,
      made: false,
      inside: "y\n",
      names: ["inside"],
    });
  });

  test("auto lets out what --yolo allows to leave, and confines the rest", async () => {
    const { cwd, home } = places();
    const command = `echo x > ${home}/made`;
    const run = async (...args: readonly string[]) => {
      const server = await modelServer([calls("bash", { command }), says("done")]);
      const env = { ...serverEnv(server), ...outsideEnv(home) };
      await runCommand(["-p", ...args, "go"], { cwd, env });
      return existsSync(join(home, "made"));
    };
    expect([await run("--allowed-tools", "bash"), await run("--yolo")]).toEqual([false, true]);
  });

  test("permission rules hold inside all the same", async () => {
    const { cwd, home } = places();
    const server = await modelServer([calls("bash", { command: "touch made" }), says("done")]);
    const env = { ...serverEnv(server), ...outsideEnv(home) };
    const end = await runCommand(
      ["-p", "--sandbox", "on", "--yolo", "--disallowed-tools", "bash(touch *)", "go"],
      { cwd, env },
    );
    expect({ code: end.code, made: existsSync(join(cwd, "made")) }).toEqual({ code: 3, made: false });
  });

  test("a signal ends the confined command and the run, and leaves nothing", async () => {
    const { cwd, home } = places();
    const server = await modelServer([
      calls("bash", { command: "echo on > started; sleep 1000" }),
      says("never"),
    ]);
    const env = { ...serverEnv(server), ...outsideEnv(home) };
    const running = startCommand(["-p", "--json", "--yolo", "--sandbox", "on", "go"], { cwd, env });
    await until(() => existsSync(join(cwd, "started")));
    running.child.kill("SIGTERM");
    expect((await running.end).code).toBe(143);
    const isLeft = (pid: string): boolean => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`).includes(home);
      } catch {
        return false;
      }
    };
    await until(() => !readdirSync("/proc").some(isLeft));
  });

  test("doctor tries it and says what it does", async () => {
    const { cwd, home } = places();
    const { stdout } = await runCommand(["doctor"], { cwd, env: outsideEnv(home) });
    expect(stdout).toContain("Sandbox: auto, and it works: commands write below");
  });
});
