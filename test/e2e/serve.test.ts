import { createServer } from "node:http";
import { expect, test } from "vitest";
import { createReader } from "../../src/server/create-reader.ts";
import { calls, says } from "../../src/testing/script.ts";
import { onLoopback } from "../on-loopback.ts";
import { followUntil, isRunEnd } from "../server/server-room.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv, startCommand } from "./command.ts";

/** Starts `nano-agent serve`, and resolves when it has said where it is. */
async function served(args: readonly string[], options: Parameters<typeof startCommand>[1] = {}) {
  const command = startCommand(["serve", "--port", "0", ...args], options);
  let told = "";
  command.child.stdout?.on("data", (text: string) => (told += text));
  await command.says("#token=");
  const [, origin = "", token = ""] = /^(http:\/\/[^/]+)\/#token=(\S+)\n$/.exec(told) ?? [];
  return { ...command, origin, token, reader: createReader({ baseUrl: origin, token }) };
}

test("serve prints one address, answers there, and ends with its runs and 130 at SIGINT", async () => {
  const cwd = tempFolder();
  const server = await modelServer([says("Hello."), calls("bash", { command: "sleep 1000" })]);
  const { child, end, origin, token, reader } = await served(["--permission-mode", "bypassPermissions"], {
    cwd,
    env: serverEnv(server),
  });
  expect([new URL(origin).hostname, token.length >= 20]).toEqual(["127.0.0.1", true]);
  expect(await reader.health()).toEqual({ ok: true, version: expect.stringMatching(/^\d+\./) });
  const first = await reader.start({ prompt: "Say hello" });
  await followUntil(reader, first.id, isRunEnd);
  expect((await reader.session(first.id)).cwd).toBe(cwd);
  const second = await reader.start({ prompt: "Sleep", cwd });
  await followUntil(reader, second.id, (item) => item.type === "entry" && item.entry.type === "tool_intent");
  child.kill("SIGINT");
  expect((await end).code).toBe(130);
});

test("serve brings the page, with all the files it names", async () => {
  const { origin } = await served([]);
  const page = await (await fetch(`${origin}/`)).text();
  const names = [...page.matchAll(/(?:src|href)="([^":]+)"/g)].map(([, name]) => name);
  expect(names.map((name) => name?.replace(/-[\w-]{8}\./, "-HASH."))).toEqual([
    "page-HASH.js",
    "style-HASH.css",
  ]);
  const answers = await Promise.all(names.map((name) => fetch(`${origin}/${name}`)));
  expect(answers.map(({ status, headers }) => [status, headers.get("content-type")])).toEqual([
    [200, "text/javascript; charset=utf-8"],
    [200, "text/css; charset=utf-8"],
  ]);
});

test("serve --read-only shows and starts nothing", async () => {
  const { reader, child, end } = await served(["--read-only"]);
  await expect(reader.start({ prompt: "x" })).rejects.toMatchObject({ status: 403 });
  expect(await reader.sessions()).toEqual({ sessions: [] });
  child.kill("SIGTERM");
  expect((await end).code).toBe(143);
});

test("serve without any model still shows what there is, and says what is missing to start", async () => {
  const { reader } = await served([]);
  expect((await reader.stats("day")).rows).toEqual([]);
  await expect(reader.start({ prompt: "x" })).rejects.toMatchObject({
    status: 409,
    code: "missing_credentials",
  });
});

test("serve for other machines needs a token, and says what that means", async () => {
  const refused = await runCommand(["serve", "--port", "0", "--host", "0.0.0.0"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("run commands as you")]);
  const short = await runCommand(["serve", "--port", "0", "--token", "short"]);
  expect([short.code, short.stderr]).toEqual([2, expect.stringContaining("20 characters")]);
  const cwd = tempFolder({ token: `${"x".repeat(20)}\n`, short: "short\n" });
  const both = ["--token", "x".repeat(20), "--token-file", "token"];
  const failed = await Promise.all(
    [both, ["--token-file", "none"], ["--token-file", "short"]].map((args) =>
      runCommand(["serve", "--port", "0", ...args], { cwd }),
    ),
  );
  expect(failed.map(({ code, stderr }) => [code, stderr])).toEqual([
    [2, expect.stringContaining("Leave one out")],
    [2, expect.stringContaining("cannot be read")],
    [2, expect.stringContaining("The token in short needs at least 20 characters")],
  ]);
  const fromFile = ["--host", "0.0.0.0", "--token-file", "token"];
  const { origin, token, says: hasSaid } = await served(fromFile, { cwd });
  expect(token).toBe("x".repeat(20));
  await hasSaid("run commands as you");
  const port = new URL(origin).port;
  const status = async (host: string): Promise<number> =>
    (await fetch(`http://${host}:${port}/api/health`)).status;
  expect([await status("127.0.0.1"), await status("127.0.0.2")]).toEqual([200, 200]);
});

test("serve says which port is taken, and what a port is", async () => {
  const { port } = new URL(await onLoopback(createServer()));
  const taken = await runCommand(["serve", "--port", port]);
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining(port)]);
  const wrong = await runCommand(["serve", "--port", "70000"]);
  expect(wrong.code).toBe(2);
});
