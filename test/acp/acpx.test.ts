import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { modelServer, serverEnv } from "../e2e/command.ts";
import { withVariables } from "../hermetic-command.ts";
import { tempFolder } from "../temp-folder.ts";

const BIN = join(import.meta.dirname, "../../dist/bin.mjs");

/** The client `acpx`, which knows nothing of this agent but the protocol. */
function acpx(
  args: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
) {
  const manifest = fileURLToPath(import.meta.resolve("acpx/package.json"));
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly bin: { readonly acpx: string } };
  const home = tempFolder();
  return promisify(execFile)(process.execPath, [join(dirname(manifest), bin.acpx), ...args], {
    cwd: place.cwd,
    env: withVariables({ HOME: home, XDG_STATE_HOME: home, ...place.env }),
  });
}

test("acpx gets an answer, and its approval lets a call run", async () => {
  const server = await modelServer([calls("bash", { command: "touch made" }), says("It is made.")]);
  const cwd = tempFolder();
  const place = { cwd, env: serverEnv(server) };
  const agent = `${process.execPath} ${BIN} acp`;
  const { stdout } = await acpx(["--agent", agent, "--approve-all", "exec", "make it"], place);
  expect(stdout).toContain("It is made.");
  expect(readFileSync(join(cwd, "made"), "utf8")).toBe("");
});

test("acpx that refuses everything lets nothing run, and reads the events as JSON", async () => {
  const server = await modelServer([calls("bash", { command: "touch made" }), says("It was refused.")]);
  const cwd = tempFolder();
  const agent = `${process.execPath} ${BIN} acp`;
  const ended = await acpx(["--agent", agent, "--deny-all", "--format", "json", "exec", "make it"], {
    cwd,
    env: serverEnv(server),
  }).catch((error: { readonly stdout: string }) => error);
  const lines = ended.stdout.trim().split("\n");
  expect([existsSync(join(cwd, "made")), ended.stdout.includes("It was refused."), lines.length > 3]).toEqual(
    [false, true, true],
  );
  for (const line of lines) expect(JSON.parse(line)).toBeTypeOf("object");
});
