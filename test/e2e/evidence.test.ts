import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

const write = (path: string) => calls("write", { path, content: "x\n" });
const tests = calls("bash", { command: "node --test" });

/** Three runs that all say "Done.": nothing was run, tests passed before the last change, and after it. */
const RUNS = [
  {
    steps: [write("a.txt"), says("Done.")],
    line: "1 file changed · nothing was run since the last change",
    after: [],
  },
  {
    steps: [write("a.txt"), tests, write("b.txt"), says("Done.")],
    line: "2 files changed · nothing was run since the last change; before it node --test passed",
    after: [false],
  },
  {
    steps: [write("a.txt"), write("b.txt"), tests, says("Done.")],
    line: "2 files changed · node --test passed after the last change",
    after: [true],
  },
];

test.each(RUNS)(
  "a run that says that it is done is told apart in text and in JSON: $line",
  async (wanted) => {
    const run = async (...format: readonly string[]) => {
      const server = await modelServer(wanted.steps);
      return runCommand(["-p", "--yolo", ...format, "go"], { env: serverEnv(server), cwd: tempFolder() });
    };
    const { stdout, stderr } = await run();
    const { evidence } = JSON.parse((await run("--output-format", "json")).stdout);
    const after = evidence.checks.map(
      (check: { readonly afterLastChange: boolean }) => check.afterLastChange,
    );
    const line = stderr.trim().replace(/^nano-agent: /, "");
    expect({ stdout, line, after }).toEqual({ stdout: "Done.\n", line: wanted.line, after: wanted.after });
  },
);

test("--until ends a run that still fails with exit 1 and says what is wrong, and refuses what is none", async () => {
  const server = await modelServer([says("Done."), says("Really.")]);
  const args = ["-p", "--yolo", "--until", "echo two tests fail; exit 3", "--until-max", "1", "--json", "go"];
  const { code, stdout, stderr } = await runCommand(args, { env: serverEnv(server), cwd: tempFolder() });
  const last = checkedLines(stdout).at(-1);
  expect({ code, subtype: last?.type === "result" && last.subtype }).toEqual({
    code: 1,
    subtype: "error_until",
  });
  expect(stderr).toContain("still fails after 1 round: exit code 3. It says: two tests fail");
  const empty = await runCommand(["-p", "--until", "", "go"], { env: serverEnv(server) });
  const none = await runCommand(["-p", "--until-max", "0", "go"], { env: serverEnv(server) });
  expect([empty.code, none.code]).toEqual([2, 2]);
});
