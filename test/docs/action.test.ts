import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { tempFolder } from "../temp-folder.ts";

interface Step {
  readonly id?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const action = parse(readFileSync("action.yml", "utf8")) as { runs: { steps: readonly Step[] } };
const steps = action.runs.steps;

/** Prints its arguments and standard input, and writes the answer where `-o` says. */
const STAND_IN = `#!/bin/bash
printf '%s\\n' "$@" > "$SEEN.args"; cat > "$SEEN.stdin"
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then echo 'Looks fine.' > "$2"; fi; shift; done
exit "$CODE"
`;

function runStep(given: Readonly<Record<string, string>>) {
  const cwd = tempFolder({ "a.txt": "one\n", "bin/nano-agent": STAND_IN });
  execFileSync("chmod", ["+x", join(cwd, "bin/nano-agent")]);
  const git = (...words: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...words], { cwd, encoding: "utf8" });
  git("init", "-q");
  git("add", "a.txt");
  git("commit", "-qm", "one");
  const base = git("rev-parse", "HEAD").trim();
  writeFileSync(join(cwd, "a.txt"), "two\n");
  git("commit", "-qam", "two");
  const output = join(cwd, "output");
  const env = {
    PATH: `${join(cwd, "bin")}:/usr/local/bin:/usr/bin:/bin`,
    GITHUB_OUTPUT: output,
    GITHUB_STEP_SUMMARY: join(cwd, "summary"),
    RUNNER_TEMP: cwd,
    SEEN: join(cwd, "seen"),
    CODE: "0",
    MODE: "plan",
    BUDGET: "1",
    WALL_TIME: "10m",
    MODEL: "",
    PROMPT: "review",
    BASE: base,
    HEAD: git("rev-parse", "HEAD").trim(),
    ...given,
  };
  const script = steps.find(({ id }) => id === "run")?.run ?? "";
  const { status } = spawnSync("bash", ["-e", "-o", "pipefail", "-c", script], { cwd, env });
  const read = (name: string): string => {
    try {
      return readFileSync(join(cwd, name), "utf8");
    } catch {
      return "";
    }
  };
  return { status, args: read("seen.args").split("\n"), stdin: read("seen.stdin"), output: read("output") };
}

test("the action gives the change of a pull request to one read-only run with bounds", () => {
  const { status, args, stdin, output } = runStep({ MODEL: "openai/gpt-5", PROMPT: "$(touch x) `y` \"z'" });
  expect(args.slice(0, 7)).toEqual([
    "-p",
    "--permission-mode",
    "plan",
    "--max-budget-usd",
    "1",
    "--max-wall-time",
    "10m",
  ]);
  expect(args.slice(9, 13)).toEqual(["--model", "openai/gpt-5", "--", "$(touch x) `y` \"z'"]);
  expect([status, stdin.includes("-one\n+two"), output.includes("exit-code=0")]).toEqual([0, true, true]);
});

test("it ends with the exit code of the run, and refuses a mode that bypasses permission", () => {
  expect(runStep({ CODE: "3" })).toMatchObject({ status: 3, output: expect.stringContaining("exit-code=3") });
  expect(runStep({ MODE: "bypassPermissions" })).toMatchObject({ status: 2, args: [""] });
  expect(runStep({ BASE: "" })).toMatchObject({ status: 0, stdin: "" });
});

test("no text of others becomes part of a script", () => {
  expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
});
