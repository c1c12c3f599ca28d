import { join } from "node:path";
import { calls, finishes, says } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import { refuses, replies } from "../../src/testing/server-step.ts";
import type { RunningCommand } from "../e2e/command.ts";
import type { Fault, FaultRoom } from "./fault.ts";
import { isAlive, pidsIn, until } from "./until.ts";

const SILENT = replies({ answer: says("never"), stall: "before_headers" });
const LONG = "Partial words that never go on, because the line falls silent.";
/** Names its process in the file `pid` and stays, whatever it is asked. */
const STUBBORN = "trap '' TERM INT HUP; echo $BASHPID > pid; while :; do sleep 0.1; done";

const EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGSTOP: 0, SIGKILL: null } as const;

type At = { readonly room: FaultRoom; readonly server: ScriptedServer };
type Moment = (running: RunningCommand, at: At) => Promise<void>;

const asked =
  (times: number): Moment =>
  (running, { server }) =>
    until(() => server.requests.length >= times || running.child.exitCode !== null);
const said =
  (text: string): Moment =>
  (running) =>
    running.says(text);
const begun: Moment = (_running, { room }) => until(() => pidOf(room) > 0);

/** Signals in every state of a run. */
export const FAULTS_OF_SIGNALS: readonly Fault[] = [
  signalled("while the answer is awaited", "SIGINT", asked(1), { steps: () => [SILENT] }),
  signalled("in the middle of the text", "SIGINT", said("content_block_delta"), {
    args: ["--include-partial-messages"],
    steps: () => [replies({ answer: says(LONG), stall: 900 })],
    outcome: "the partial answer is kept",
    says: /^Partial/,
  }),
  signalled("in the middle of the arguments of a call", "SIGINT", said("input_json_delta"), {
    args: ["--include-partial-messages"],
    steps: () => [
      replies({
        answer: calls("bash", { command: `echo ran >> effects; : ${LONG.repeat(3)}` }),
        stall: 1_500,
      }),
    ],
    outcome: "the call does not run",
  }),
  signalled("in a wait before a retry", "SIGINT", said("api_retry"), {
    steps: () => [refuses(429, "Slow down.", { "retry-after": "30" })],
  }),
  signalled("in a command", "SIGINT", begun, {
    steps: () => [calls("bash", { command: "echo $$ > pid; exec sleep 1000" })],
    outcome: "the command has ended; the session records how",
    check: pidIsGone,
    sampled: true,
  }),
  signalled("in a command that ignores signals", "SIGINT", begun, {
    steps: () => [calls("bash", { command: STUBBORN })],
    outcome: "the command is killed",
    check: pidIsGone,
  }),
  signalled("in one of several calls", "SIGINT", begun, {
    steps: () => [
      [
        calls("bash", { command: "echo $$ > pid; exec sleep 1000" }),
        calls("bash", { command: "echo ran >> effects" }),
      ],
    ],
    outcome: "calls that had not started do not run; each call has one result",
    check: pidIsGone,
  }),
  signalled("while a subagent is running", "SIGINT", asked(2), {
    steps: () => [calls("task", { agent: "explore", prompt: "look" }), SILENT],
    requests: 2,
  }),
  signalled("in a command of a subagent", "SIGINT", begun, {
    steps: () => [
      calls("task", { agent: "general", prompt: "look" }),
      calls("bash", { command: "echo $$ > pid; exec sleep 1000" }),
    ],
    requests: 2,
    check: pidIsGone,
  }),
  signalled("in a background job", "SIGINT", asked(2), {
    steps: () => [calls("bash", { command: "echo $$ > pid; exec sleep 1000", background: true }), SILENT],
    requests: 2,
    check: pidIsGone,
  }),
  ...(["SIGTERM", "SIGHUP"] as const).map((name) =>
    signalled("in a command", name, begun, {
      steps: () => [calls("bash", { command: "echo $$ > pid; exec sleep 1000" })],
      check: pidIsGone,
    }),
  ),
  {
    ...signalled("twice, in a command that ignores it", "SIGINT", begun, {
      steps: () => [calls("bash", { command: STUBBORN })],
      outcome: "ends at once; the command is killed",
      check: pidIsGone,
    }),
    meanwhile: async (running, at) => {
      await begun(running, at);
      running.child.kill("SIGINT");
      running.child.kill("SIGINT");
    },
  },
  {
    ...signalled("while the answer is awaited, for a while", "SIGSTOP", asked(1), {}),
    outcome: "the run continues after SIGCONT",
    steps: () => [(_request) => new Promise((resolve) => setTimeout(() => resolve(says("all well")), 300))],
    meanwhile: async (running, at) => {
      await asked(1)(running, at);
      running.child.kill("SIGSTOP");
      setTimeout(() => running.child.kill("SIGCONT"), 600);
    },
    code: 0,
    says: "all well",
    stderr: [],
  },
  {
    ...signalled("in a command", "SIGKILL", begun, {}),
    outcome: "the model is told that the outcome is unknown; resuming ends the command",
    steps: () => [calls("bash", { command: "echo ran >> effects; echo $$ > pid; exec sleep 1000" })],
    afterwards: pidIsGone,
    code: null,
    effects: 1,
    resultLine: false,
    silent: true,
    stderr: [],
  },
  {
    scenario: "a reader that closes standard output",
    outcome: "the run ends quietly",
    steps: () => [(_request, index) => calls("bash", { command: `echo ${index}` })],
    meanwhile: async (running) => {
      await running.says('"init"');
      running.child.stdout?.destroy();
    },
    code: 1,
    requests: "any",
    resultLine: false,
    silent: true,
  },
  {
    scenario: "a closed standard input",
    outcome: "has no effect",
    steps: () => [calls("bash", { command: "cat; echo ran >> effects" }), says("all well")],
    shell: 'exec "$@" <&-',
    code: 0,
    effects: 1,
    requests: 2,
    says: "all well",
  },
  {
    scenario: "a closed standard error",
    outcome: "has no effect",
    steps: () => [calls("bash", { command: "echo ran >> effects" }), says("all well")],
    shell: 'exec "$@" 2>&-',
    code: 0,
    effects: 1,
    requests: 2,
    says: "all well",
  },
];

function signalled(when: string, name: keyof typeof EXITS, moment: Moment, more: Partial<Fault>): Fault {
  return {
    scenario: `${name} ${when}`,
    outcome: "the session can be resumed",
    steps: () => [finishes("stop")],
    meanwhile: async (running, at) => {
      await moment(running, at);
      running.child.kill(name);
    },
    code: EXITS[name],
    requests: 1,
    stderr: ["Interrupted."],
    ...more,
  };
}

function pidOf({ cwd }: FaultRoom): number {
  return pidsIn(join(cwd, "pid"))[0] ?? 0;
}

async function pidIsGone(room: FaultRoom): Promise<void> {
  const pid = pidOf(room);
  if (pid === 0) throw new Error("The command never began.");
  await until(() => !isAlive(pid));
}
