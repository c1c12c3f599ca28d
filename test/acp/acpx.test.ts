import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
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
