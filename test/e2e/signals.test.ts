import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { replies } from "../../src/testing/server-step.ts";
import { isAlive } from "../faults/until.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, type RunningCommand, runCommand, serverEnv, startCommand } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

/** A server whose answer stops after its first words. */
function stalling(): ReturnType<typeof modelServer> {
  return modelServer(
    [
      replies({
        answer: says("Partial words that never go on, because the line falls silent."),
        stall: 1500,
      }),
    ],
    {
      chunkSize: 4,
    },
  );
}

async function stalled(args: readonly string[]): Promise<RunningCommand> {
  const server = await stalling();
  const command = startCommand([...args, "--json", "--include-partial-messages", "go"], {
    env: serverEnv(server),
  });
  await command.says("content_block_delta");
  return command;
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s ends a run with %i, its partial text and one last line", async (signal, code) => {
  const command = await stalled(["-p"]);
  command.child.kill(signal);
  const end = await command.end;
  const result = checkedLines(end.stdout).at(-1);
  expect({ code: end.code, result }).toMatchObject({
    code,
    result: { subtype: "error_interrupted", is_error: true, result: expect.stringMatching(/^Part/) },
  });
  expect(end.stderr).toContain("Interrupted.");
});

test("a signal between two messages of standard input is the end with its code, after what was answered", async () => {
  const server = await modelServer([says("one")]);
  const format = ["--input-format", "stream-json", "--output-format", "stream-json"];
  const message = { type: "user", message: { role: "user", content: "first" } };
  const stdin = `${JSON.stringify(message)}\n`;
  const command = startCommand(["-p", ...format], { env: serverEnv(server), stdin, holdStdin: true });
  await command.says('"type":"result"');
  command.child.kill("SIGTERM");
  const { code, stdout } = await command.end;
  const results = checkedLines(stdout).filter(({ type }) => type === "result");
  expect({ code, results }).toMatchObject({ code: 143, results: [{ subtype: "success", result: "one" }] });
});

test("a second SIGINT ends a run at once, still with its last line", async () => {
  const command = await stalled(["-p"]);
  command.child.kill("SIGINT");
  command.child.kill("SIGINT");
  const end = await command.end;
  expect({ code: end.code, last: checkedLines(end.stdout).at(-1)?.type }).toEqual({
    code: 130,
    last: "result",
  });
});

test("a signal ends running commands and what they started", async () => {
  const cwd = tempFolder();
  const server = await modelServer([
    calls("bash", {
      command: "sh -c 'echo $$ > child.pid; trap \"\" TERM; while :; do sleep 0.05; done' & wait",
    }),
  ]);
  const command = startCommand(["-p", "--yolo", "--json", "go"], { env: serverEnv(server), cwd });
  await command.says('"tool_use"');
  const pidFile = join(cwd, "child.pid");
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").trim() !== "").toBe(true);
  command.child.kill("SIGTERM");
  const end = await command.end;
  expect(end.code).toBe(143);
  checkedLines(end.stdout);
  const pid = Number(readFileSync(pidFile, "utf8"));
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test.runIf(process.platform === "linux")(
  "a signal that comes while the prompt is awaited ends the program",
  async () => {
    const command = startCommand(["-p", "--json", "--add-dir", "/", "-"], {
      stdin: "half a pro",
      holdStdin: true,
    });
    // Listening for signals is among the first things a run does; standard input is read after it.
    await expect.poll(() => readsPipe(command.child.pid)).toBe(true);
    command.child.kill("SIGINT");
    const end = await command.end;
    expect({ code: end.code, lines: checkedLines(end.stdout).length }).toEqual({ code: 130, lines: 2 });
  },
);

test("a reader that closes standard output ends the run quietly", async () => {
  const server = await modelServer(
    Array.from({ length: 40 }, () => [says("Another turn."), calls("read", { path: "." })]),
  );
  const command = startCommand(["-p", "--json", "go"], { env: serverEnv(server) });
  await command.says('"init"');
  command.child.stdout?.destroy();
  const end = await command.end;
  expect(end.code).toBe(1);
  expect(end.stderr).toBe("");
});

test("a closed standard error changes nothing", async () => {
  const server = await modelServer([calls("write", { path: "x", content: "" }), says("done")]);
  const command = startCommand(["-p", "go"], { env: serverEnv(server) });
  command.child.stderr?.destroy();
  expect(await command.end).toMatchObject({ code: 3, stdout: "done\n" });
});

test("a large answer arrives whole through a pipe", async () => {
  const text = "0123456789".repeat(100_000);
  const server = await modelServer([says(text)], { chunkSize: 50_000 });
  const end = await runCommand(["-p", "go"], { env: serverEnv(server) });
  expect({ code: end.code, length: end.stdout.length }).toEqual({ code: 0, length: text.length + 1 });
});

/** Whether the process has taken what stands in its standard input: it watches the pipe then. */
function readsPipe(pid: number | undefined): boolean {
  const watched = readdirSync(`/proc/${pid}/fdinfo`).map((fd) =>
    readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"),
  );
  return watched.some((text) => /^tfd:\s+0 /m.test(text));
}
