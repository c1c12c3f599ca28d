import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withVariables } from "../hermetic-command.ts";
import { type Answer, startLoopback } from "../loopback-server.ts";
import { tempFolder } from "../temp-folder.ts";

const BIN = join(import.meta.dirname, "../../dist/bin.mjs");

interface DemoEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What is left in the folder for temporary files. */
  readonly left: readonly string[];
}

interface DemoOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly onText?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
}

/** Runs the demo of the built program to its end, in an environment that holds nothing but a PATH. */
function runDemo(args: readonly string[], { env = {}, onText }: DemoOptions = {}): Promise<DemoEnd> {
  const home = tempFolder();
  const tmp = tempFolder();
  const child = spawn(process.execPath, [BIN, "demo", ...args], {
    cwd: home,
    env: withVariables({ HOME: home, TMPDIR: tmp, NODE_DISABLE_COMPILE_CACHE: "1", ...env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
      onText?.(said[name], (signal) => child.kill(signal));
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...said, left: readdirSync(tmp) }));
  });
}

/** Answers of a chat model: each a list of tool calls, or a text. */
async function chatServer(
  answers: readonly (string | ReadonlyArray<readonly [name: string, input: unknown]>)[],
) {
  const server = await startLoopback(answers.map((answer) => streamed(answer)));
  onTestFinished(() => server.close());
  return {
    env: { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: "sk-test" },
    requests: server.requests,
  };
}

function streamed(answer: string | ReadonlyArray<readonly [name: string, input: unknown]>): Answer {
  const delta =
    typeof answer === "string"
      ? { content: answer }
      : {
          tool_calls: answer.map(([name, input], index) => ({
            index,
            id: `id_${name}_${index}`,
            type: "function",
            function: { name, arguments: JSON.stringify(input) },
          })),
        };
  const finish = { finish_reason: typeof answer === "string" ? "stop" : "tool_calls" };
  const events = [{ choices: [{ index: 0, delta }] }, { choices: [{ index: 0, delta: {}, ...finish }] }];
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end("data: [DONE]\n\n");
  };
}

test("the demo finds the fault, mends it with real tools, shows the diff and ends with passing tests", async () => {
  const { code, stdout, stderr, left } = await runDemo([]);
  expect({ code, stderr, left }).toEqual({ code: 0, stderr: "", left: [] });
  const order = [
    "The model is scripted",
    "✗ bash node --test  exit code 1",
    "✓ read src/parse-duration.js",
    "✓ grep UNITS",
    "✓ edit src/parse-duration.js",
    "-   const part = /(\\d+(?:\\.\\d+)?)\\s*(d|h|m|s|ms)/g;",
    "+   const part = /(\\d+(?:\\.\\d+)?)\\s*(d|h|ms|m|s)/g;",
    "✓ bash node --test  exit code 0",
    "milliseconds are read as milliseconds",
    "The tests pass.",
  ];
  let at = 0;
  for (const text of order) {
    const next = stdout.indexOf(text, at);
    expect({ text, found: next >= at }).toEqual({ text, found: true });
    at = next + text.length;
  }
  expect(stdout).not.toContain("\u001B");
});

test("colours come with FORCE_COLOR and go with NO_COLOR", async () => {
  const coloured = await runDemo([], { env: { FORCE_COLOR: "1" } });
  const plain = await runDemo([], { env: { FORCE_COLOR: "1", NO_COLOR: "1" } });
  expect([coloured.code, coloured.stdout.includes("\u001B[32mThe tests pass.")]).toEqual([0, true]);
  expect([plain.code, plain.stdout.includes("\u001B")]).toEqual([0, false]);
});

test("--keep leaves the mended project and says where it is", async () => {
  const { code, stdout } = await runDemo(["--keep"]);
  const folder = /The project stays in (.+)/.exec(stdout)?.[1] ?? "";
  expect([code, existsSync(folder)]).toEqual([0, true]);
  expect(readFileSync(join(folder, "src/parse-duration.js"), "utf8")).toContain("(d|h|ms|m|s)");
});

test("a model that mends nothing ends with failing tests, shown, and exit code 1", async () => {
  const server = await chatServer(["All is well."]);
  const { code, stdout, left } = await runDemo(["--model", "openai-chat/some"], { env: server.env });
  expect({ code, left }).toEqual({ code: 1, left: [] });
  expect(stdout).toContain("The model is openai-chat/some");
  expect(stdout).toMatch(/milliseconds are read as milliseconds[\s\S]*The tests do not pass\./);
});

test("a model that bends the tests is not believed", async () => {
  const empty = 'import test from "node:test";\ntest("fine", () => undefined);\n';
  const path = "test/duration.test.js";
  const server = await chatServer([[["read", { path }]], [["write", { path, content: empty }]], "Done."]);
  const { code, stdout } = await runDemo(["--model", "openai-chat/some"], { env: server.env });
  expect(stdout).toContain(
    "The tests pass.\ntest/duration.test.js was changed, so these results prove nothing.",
  );
  expect(code).toBe(1);
});

test("a call outside of the scratch folder is refused, as in any run", async () => {
  const server = await chatServer([[["write", { path: "../x", content: "x" }]], "Well."]);
  const { stdout, left } = await runDemo(["--model", "openai-chat/some"], { env: server.env });
  expect(stdout).toMatch(/✗ write .*\n.*outside the workspace/);
  expect(left).toEqual([]);
});

test.each([
  [["--kep"], 2, "demo: Unknown option --kep. Did you mean --keep?"],
  [["now"], 2, 'demo: "now" is one word too many'],
  [["--model", "nope/x"], 2, 'There is no provider "nope"'],
  [["--model", "openai/gpt-5"], 41, "OPENAI_API_KEY"],
])("%j ends with code %i, one line, and nothing left behind", async (args, code, message) => {
  const end = await runDemo(args);
  expect(end).toMatchObject({ code, stdout: "", left: [] });
  expect(end.stderr).toContain(message);
  expect(end.stderr.trimEnd()).not.toContain("\n");
});

test("a signal ends the demo with its code and leaves nothing behind", async () => {
  const server = await startLoopback([() => undefined]);
  onTestFinished(() => server.close());
  const { code, left } = await runDemo(["--model", "openai-chat/some"], {
    env: { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: "sk-test" },
    onText: (text, kill) => {
      if (text.includes("check that all tests pass")) kill("SIGTERM");
    },
  });
  expect({ code, left }).toEqual({ code: 143, left: [] });
});
