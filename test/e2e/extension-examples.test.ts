import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCodingSession } from "../../src/coding/session/prepare-coding-session.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { until } from "../faults/until.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";

const EXAMPLES = join(import.meta.dirname, "../../examples/extensions");
const PATH = process.env["PATH"] ?? "";

/** A home with one of the examples, or all of them. */
function homeWith(...names: readonly string[]): string {
  const home = tempFolder();
  const folder = join(home, ".config/nano-agent/extensions");
  mkdirSync(folder, { recursive: true });
  for (const name of names) copyFileSync(join(EXAMPLES, name), join(folder, name));
  return home;
}

/** A repository with one commit, and a change since. */
function changedRepository(): string {
  const cwd = tempFolder({ "a.txt": "one\n" });
  const git = (...words: readonly string[]): void => {
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@a.example", ...words], {
      cwd,
      env: { PATH, HOME: cwd },
    });
  };
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  writeFileSync(join(cwd, "a.txt"), "two\n");
  return cwd;
}

test("every example is loaded as it is", async () => {
  const names = readdirSync(EXAMPLES);
  const env = { HOME: homeWith(...names), PATH };
  const { code, stdout, stderr } = await runCommand(["extensions", "list"], { env, cwd: tempFolder({}) });
  expect([code, stderr, names.length, names.filter((name) => !stdout.includes(name))]).toEqual([
    0,
    "",
    5,
    [],
  ]);
});

test("the tool counts lines", async () => {
  const server = await modelServer([calls("count_lines", { ending: ".ts" }), says("done")]);
  const cwd = tempFolder({ "a.ts": "1\n2\n", "src/b.ts": "3\n", "c.js": "4\n" });
  const env = { ...serverEnv(server), HOME: homeWith("count-lines.ts"), PATH };
  await runCommand(["-p", "--allowed-tools", "count_lines", "go"], { env, cwd });
  expect(JSON.stringify(server.requests[1]?.body)).toContain("3 lines in 2 files");
});

test("the formatter runs on what was written", async () => {
  const bin = tempFolder({ npx: '#!/bin/sh\necho "$2 $3" > "$4.log"; echo formatted >> "$4"\n' });
  chmodSync(join(bin, "npx"), 0o755);
  const server = await modelServer([calls("write", { path: "a.json", content: "{}\n" }), says("done")]);
  const cwd = tempFolder({});
  const env = { ...serverEnv(server), HOME: homeWith("format-after-edits.ts"), PATH: `${bin}:${PATH}` };
  await runCommand(["-p", "--permission-mode", "acceptEdits", "go"], { env, cwd });
  expect([readFileSync(join(cwd, "a.json"), "utf8"), readFileSync(join(cwd, "a.json.log"), "utf8")]).toEqual([
    "{}\nformatted\n",
    "prettier --write\n",
  ]);
});

test("the provider is there, and its key is asked for by the name it gives", async () => {
  const env = { HOME: homeWith("company-gateway.ts"), PATH };
  const { code, stderr } = await runCommand(["-p", "-m", "gateway/any", "go"], { env, cwd: tempFolder({}) });
  expect([code, stderr]).toEqual([41, expect.stringContaining("GATEWAY_API_KEY")]);
});

test("the command makes a prompt of what changed, and says so where nothing did", async () => {
  const server = await modelServer([says("Looks fine.")]);
  const env = { ...serverEnv(server), HOME: homeWith("review-command.ts"), PATH };
  const cwd = changedRepository();
  const changed = await runCommand(["-p", "/review a.txt"], { env, cwd });
  const nothing = await runCommand(["-p", "/review b.txt"], { env, cwd });
  const asked = JSON.stringify(server.requests.map(({ body }) => body));
  expect([
    changed.stdout,
    asked.includes("-one"),
    asked.includes("+two"),
    nothing.code,
    server.requests.length,
  ]).toEqual(["Looks fine.\n", true, true, 0, 1]);
  expect(nothing.stderr).toContain("Nothing has changed.");
});

test("the status item shows how many files differ", async () => {
  const cwd = changedRepository();
  await using session = await createCodingSession({
    cwd,
    environment: { HOME: homeWith("git-status.ts"), PATH },
    keep: false,
    model: new ScriptedModel([calls("glob", { pattern: "*" }), says("done")]),
  });
  await session.send("go");
  await until(() => session.status().includes("±1"));
  expect(session.status()).toEqual(["±1"]);
});
