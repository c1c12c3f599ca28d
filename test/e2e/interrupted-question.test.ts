import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { withVariables } from "../hermetic-command.ts";
import { modelServer, serverEnv } from "./command.ts";
import { sessionPlace } from "./session-place.ts";

const BIN = join(import.meta.dirname, "../../dist/bin.mjs");
/** `script` of util-linux gives a program a terminal. */
const hasTerminals = spawnSync("script", ["-qec", "exit 7", "/dev/null"]).status === 7;

/** Runs the command in a terminal of its own; `answer` is typed when a question stands there. */
function inTerminal(
  env: Readonly<Record<string, string>>,
  { cwd, answer }: { readonly cwd: string; readonly answer: string },
): Promise<{ readonly code: number | null; readonly text: string }> {
  const line = `'${process.execPath}' '${BIN}' -p go; code=$?; stty -a; exit $code`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd,
    env: withVariables({ TERM: "xterm", ...env }),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  let isAnswered = false;
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    if (isAnswered || !text.includes("Esc stops the run")) return;
    isAnswered = true;
    child.stdin.write(answer);
  });
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, text }));
  });
}

test.runIf(hasTerminals)(
  "Ctrl-C at a question ends the run, runs nothing, and leaves the terminal as it was",
  async () => {
    const place = sessionPlace();
    const server = await modelServer([calls("bash", { command: "echo ran > effects" }), says("on")]);
    const env = { HOME: place.state, XDG_STATE_HOME: place.state, ...serverEnv(server) };
    const { code, text } = await inTerminal(env, { cwd: place.cwd, answer: "\x03" });
    expect(code).toBe(130);
    expect(text).toContain("Interrupted.");
    expect(text).toMatch(/ icanon .* echo /s);
    expect(existsSync(join(place.cwd, "effects"))).toBe(false);
    expect(await place.run(["-p", "-c", "go on"], server)).toMatchObject({ code: 0, stdout: "on\n" });
    expect(JSON.stringify(server.requests[1]?.body)).toContain("interrupted before it ran");
  },
);
