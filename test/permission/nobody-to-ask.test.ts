import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { Approver, Gate } from "../../src/core/agent/ports.ts";
import { createApprover } from "../../src/permission/approver.ts";
import { PolicyGate } from "../../src/permission/policy.ts";
import { SessionRules } from "../../src/permission/rule.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { type CommandOptions, modelServer, runCommand, serverEnv } from "../e2e/command.ts";
import { withVariables } from "../hermetic-command.ts";
import { tool } from "../scenarios/conversation.ts";
import { tempFolder } from "../temp-folder.ts";

const ASK: Gate = { check: () => ({ action: "ask", reason: "it needs approval" }) };

interface Way {
  readonly approve?: unknown;
  readonly permission?: Gate;
  readonly budget?: AgentOptions["budget"];
  /** Aborts the run while the question is open. */
  readonly abort?: boolean;
}

const never = (): Promise<never> => new Promise(() => undefined);

const CALLBACKS: readonly (readonly [string, Way])[] = [
  ["no callback", {}],
  ["a callback that returns nothing", { approve: () => undefined }],
  ["a callback that returns null", { approve: () => null }],
  ['a callback that returns "yes"', { approve: () => "yes" }],
  ["a callback that returns 1", { approve: () => 1 }],
  ["a callback that returns an empty object", { approve: () => ({}) }],
  ["a callback that returns a list", { approve: () => [true] }],
  ['a callback that returns approved: "true"', { approve: async () => ({ approved: "true" }) }],
  [
    "a callback that throws",
    {
      approve: () => {
        throw new Error("no screen");
      },
    },
  ],
  ["a callback that rejects", { approve: () => Promise.reject(new Error("closed")) }],
  ["a callback that never answers, and a run that is aborted", { approve: never, abort: true }],
  ["a callback that never answers, and a wall time", { approve: never, budget: { wallTimeMs: 50 } }],
  [
    "a prompt that answers something unknown",
    { approve: throughPrompt({ choice: "sure" }), permission: policy() },
  ],
  ["a prompt that answers nothing", { approve: throughPrompt(undefined), permission: policy() }],
  ["a mode in which nothing is asked", { approve: () => true, permission: policy("dontAsk") }],
];

function policy(mode: "default" | "dontAsk" = "default"): Gate {
  return new PolicyGate({ cwd: "/", home: "/", workspace: ["/"], mode });
}

function throughPrompt(reply: unknown): Approver {
  return createApprover({
    prompt: { ask: async () => reply as never, tell: () => undefined },
    session: new SessionRules(),
    recheck: () => ({ action: "ask" }),
  });
}

test.each(CALLBACKS)("nothing runs with %s", async (_, way) => {
  let ran = 0;
  const controller = new AbortController();
  const { approve, permission = ASK, budget, abort } = way;
  const asking = abort === true ? () => (queueMicrotask(() => controller.abort()), never()) : approve;
  const agent = new Agent({
    model: new ScriptedModel([calls("bash", { command: "make" }), says("end")]),
    tools: [tool("bash", { execute: () => void ran++ })],
    permission,
    ...(budget === undefined ? {} : { budget }),
    ...(asking === undefined ? {} : { approve: asking as Approver }),
  });
  await agent.run("go", { signal: controller.signal });
  expect(ran).toBe(0);
});

const COMMANDS: readonly (readonly [string, readonly string[], CommandOptions])[] = [
  ["no terminal", ["-p", "go"], {}],
  ["a pipe on standard input", ["-p", "go"], { stdin: "y\ny\ny\n" }],
  ["JSON as the output", ["-p", "--output-format", "json", "go"], {}],
  ["JSON lines as the output", ["-p", "--json", "go"], { stdin: "y\n" }],
  [
    "JSON lines as the input",
    ["-p", "--json", "--input-format", "stream-json"],
    { stdin: '{"type":"user","message":{"role":"user","content":"go"}}\n' },
  ],
];

test.each(COMMANDS)("the command runs nothing with %s, and ends with 3", async (_, args, options) => {
  const cwd = tempFolder();
  const server = await modelServer([calls("bash", { command: "touch made" }), says("end")]);
  const { code } = await runCommand(args, { ...options, cwd, env: serverEnv(server) });
  expect({ code, made: existsSync(join(cwd, "made")) }).toEqual({ code: 3, made: false });
});

const SCRIPT = spawnSync("script", ["--version"]).status === 0 && process.platform === "linux";
const BIN = join(import.meta.dirname, "../../dist/bin.mjs");

/**
 * The command on a terminal of its own; `act` gets what the terminal shows so far and types, or ends the
 * terminal.
 */
async function onTerminal(command: string, act: (shown: string, terminal: Terminal) => void, typed = "") {
  const cwd = tempFolder();
  const server = await modelServer([calls("bash", { command: "touch made" }), says("end")]);
  const child = spawn("script", ["-qec", `'${process.execPath}' '${BIN}' ${command}`, "/dev/null"], {
    cwd,
    env: withVariables({ TERM: "dumb", ...serverEnv(server) }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdin.on("error", () => undefined);
  child.stdin.write(typed);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    act(shown, { type: (keys) => child.stdin.write(keys), hangUp: () => child.kill("SIGKILL") });
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  return { code, shown, made: () => existsSync(join(cwd, "made")) };
}

interface Terminal {
  readonly type: (keys: string) => void;
  readonly hangUp: () => void;
}

/** Acts once, a moment after the question stands there: keys that come at once do not count. */
function onceAsked(act: (terminal: Terminal) => void): (shown: string, terminal: Terminal) => void {
  let again: NodeJS.Timeout | undefined;
  return (shown, terminal) => {
    if (!shown.includes("1  Run once") || again !== undefined) return;
    again = setInterval(() => act(terminal), 400);
    onTestFinished(() => clearInterval(again));
  };
}

test.skipIf(!SCRIPT)(
  "on a terminal a number answers, and Ctrl-D, Ctrl-C and Escape do not allow (needs script)",
  async () => {
    const press = (key: string) =>
      onTerminal(
        "-p go",
        onceAsked(({ type }) => type(key)),
      );
    const yes = await press("1\r");
    expect({ code: yes.code, made: yes.made() }).toEqual({ code: 0, made: true });
    for (const [key, code] of [
      ["\u001B", 3],
      ["\u0004", 3],
      ["\u0003", 130],
    ] as const) {
      const no = await press(key);
      expect({ key, code: no.code, made: no.made() }).toEqual({ key, code, made: false });
    }
  },
);

test.skipIf(!SCRIPT)("what was typed before the question is not an answer (needs script)", async () => {
  const refuse = onceAsked(({ type }) => type("\u001B"));
  const { code, made } = await onTerminal("-p go", refuse, "11111111\n1\n");
  expect({ code, made: made() }).toEqual({ code: 3, made: false });
});

test.skipIf(!SCRIPT)(
  "a terminal that is closed in the middle of a question allows nothing (needs script)",
  async () => {
    const { made } = await onTerminal(
      "-p go",
      onceAsked(({ hangUp }) => hangUp()),
    );
    expect(made()).toBe(false);
  },
);

test.skipIf(!SCRIPT)("a terminal whose input is closed is nobody to ask (needs script)", async () => {
  const { code, shown, made } = await onTerminal("-p go <&-", () => undefined);
  expect({ code, asked: shown.includes("1  Run once"), made: made() }).toEqual({
    code: 3,
    asked: false,
    made: false,
  });
});
