import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { calls, says } from "../../src/testing/script.ts";
import type { Fault, FaultRoom } from "./fault.ts";
import { isAlive, pidsIn, until } from "./until.ts";

const OK = says("all well");
/** Writes its process number to the file `pid` and stays. */
const STAYS = "echo $BASHPID > pid; exec sleep 1000";

/** Commands that do what no command should, and what becomes of their processes. */
export const FAULTS_OF_CHILDREN: readonly Fault[] = [
  child("a command ended by SIGKILL", "the model is told the signal", "kill -KILL $$", { told: ["SIGKILL"] }),
  child("a command ended by SIGSEGV", "the model is told the signal", "kill -SEGV $$", {
    told: ["SIGSEGV"],
    sampled: true,
  }),
  child("a command that calls `exit 3`", "the model is told the code", "echo out; exit 3", {
    told: [/out.*exit code 3/],
  }),
  child("a file that is not executable", "the model gets the shell's message", "echo x > plain; ./plain", {
    told: [/Permission denied.*126/],
  }),
  child("a program that is missing", "the model gets the shell's message", "no_such_program_x", {
    told: [/no_such_program_x: command not found.*127/],
  }),
  child(
    "an interpreter that is missing",
    "the model gets the shell's message",
    "printf '#!/no/such\\n' > s; chmod +x s; ./s",
    {
      told: [/no\/such.*12[67]/],
    },
  ),
  child(
    "a command longer than the system accepts",
    "nothing runs; the model is told what to do",
    `: ${"x".repeat(200_000)}`,
    {
      told: ["too long for the system"],
    },
  ),
  child("a command that closes its outputs", "its end is noticed", "exec >&- 2>&-; exit 4", {
    told: ["exit code 4"],
  }),
  child("a command that reads its input", "it reads nothing and ends", "cat; read -r x; echo end:$x", {
    told: ["end:"],
  }),
  child("a command that opens the terminal", "it finds no terminal", "read -r x < /dev/tty; echo $?", {
    told: ["/dev/tty"],
  }),
  child(
    "output with NUL and bytes that are not UTF-8",
    "replaced; the next request is valid",
    "printf 'a\\0b\\377\\376c\\355\\240\\275d'",
    {
      told: [/a.*b.*c.*d/],
      sampled: true,
    },
  ),
  child(
    "50 MB of output",
    "the model gets head and tail, and the path of the full text",
    "head -c 50000000 /dev/zero | tr '\\0' x; echo END",
    {
      told: [/50000004 bytes left out.*END/],
    },
  ),
  child("output without end", "the command is stopped; the model is told why", "yes", {
    told: [/it wrote more than \d+ bytes/],
  }),
  child(
    "a background child that holds the pipe",
    "the result does not wait for it; it ends with the run",
    `echo begun; (${STAYS}) &`,
    {
      told: [/begun.*still running as job_1/],
      check: pidIsGone,
      sampled: true,
    },
  ),
  child(
    "a child that left its group and holds the pipe",
    "the result does not wait for it; it ends with the run",
    "setsid bash -c 'echo $$ > pid; exec sleep 1000' & until [ -s pid ]; do sleep 0.01; done",
    {
      told: ["still running as job_1"],
      check: pidIsGone,
    },
  ),
  child(
    "a child that left its group and closed its outputs",
    "the result does not wait for it; it ends with the run",
    "setsid bash -c 'echo $$ > pid; exec sleep 1000' > /dev/null 2>&1 < /dev/null & until [ -s pid ]; do sleep 0.01; done",
    {
      told: ["still running as job_1"],
      check: pidIsGone,
    },
  ),
  {
    ...child(
      "a command that takes too long and ignores SIGTERM",
      "killed after the grace period; the model is told",
      "",
    ),
    steps: () => [
      calls("bash", { command: "trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done", timeout_ms: 300 }),
      OK,
    ],
    told: ["timed out after"],
    check: namedIsGone,
  },
  child("a command that stops its own process group", "it ends at its time limit", "", {
    told: ["timed out after"],
    steps: () => [calls("bash", { command: "echo $$ > pid; kill -STOP $$", timeout_ms: 300 }), OK],
    check: namedIsGone,
  }),
  child(
    "a command that pauses nano-agent",
    "the run continues",
    "kill -STOP $PPID; sleep 0.2; kill -CONT $PPID; echo on",
    {
      told: ["on"],
    },
  ),
  {
    ...child("a command that sends SIGTERM to nano-agent", "its processes have ended", ""),
    steps: () => [calls("bash", { command: `kill -TERM $PPID; ${STAYS}` })],
    code: 143,
    requests: 1,
    stderr: ["Interrupted."],
    check: pidIsGone,
  },
  {
    ...child("a command that kills nano-agent", "the session can be resumed; nothing runs twice", ""),
    steps: () => [calls("bash", { command: "echo ran >> effects; kill -KILL $PPID" })],
    code: null,
    requests: 1,
    effects: 1,
    resultLine: false,
    silent: true,
  },
  {
    ...child("a command that kills nano-agent and leaves processes behind", "its processes have ended", ""),
    steps: () => [
      calls("bash", {
        command:
          "setsid bash -c 'echo $$ > pid; exec sleep 1000' & until [ -s pid ]; do sleep 0.01; done; kill -KILL $PPID",
      }),
    ],
    code: null,
    requests: 1,
    resultLine: false,
    silent: true,
    afterwards: pidIsGone,
  },
  {
    ...child(
      "a command that removes the working folder",
      "every tool tells the model; the run continues",
      "",
    ),
    ...goneFolder(),
  },
  {
    ...child(
      "a command that removes the working folder, with undo",
      "every tool tells the model; the run continues",
      "",
    ),
    ...goneFolder(),
    undo: true,
  },
  {
    ...child("the working folder removed before the start", "says so", ""),
    shell: 'rmdir "$PWD"; exec "$@"',
    code: 2,
    requests: 0,
    stderr: ["The working folder was removed."],
    resumes: false,
  },
  {
    ...child("a command that removes the folder for long outputs", "it is created again", ""),
    steps: () => [
      calls("bash", { command: "seq 1 30000" }),
      calls("bash", { command: 'rm -rf "$TMPDIR"/*; seq 1 30000' }),
      calls("bash", { command: "seq 1 30001" }),
      OK,
    ],
    env: (_wire, { room }) => ({ TMPDIR: room.home }),
    told: ["30001"],
    requests: 4,
  },
  ...(["/no/such", "/proc", "/dev/null"] as const).map(
    (folder): Fault => ({
      ...child(
        `an unusable folder for temporary files: \`${folder}\``,
        "commands run; long output is truncated, with the reason",
        "seq 1 30000",
      ),
      env: () => ({ TMPDIR: folder }),
      told: [/left out here; the full text could not be kept/],
    }),
  ),
];

function child(scenario: string, outcome: string, command: string, more: Partial<Fault> = {}): Fault {
  return {
    scenario,
    outcome,
    steps: () => [calls("bash", { command }), OK],
    code: 0,
    requests: 2,
    ...more,
  };
}

function goneFolder(): Partial<Fault> {
  return {
    steps: () => [
      calls("bash", { command: 'rm -rf "$PWD"' }),
      [
        calls("bash", { command: "echo hi" }),
        calls("read", { path: "a" }),
        calls("write", { path: "a", content: "x" }),
        calls("glob", { pattern: "*" }),
        calls("grep", { pattern: "x" }),
      ],
      OK,
    ],
    told: [/working folder \S+ (?:does not exist|was removed)/],
    requests: 3,
    mend: ({ cwd }) => void mkdirSync(cwd, { recursive: true }),
  };
}

async function pidIsGone(room: FaultRoom): Promise<void> {
  if (pidsIn(join(room.cwd, "pid")).length === 0) throw new Error("The command never began.");
  await namedIsGone(room);
}

/** Where time is short: on a busy machine it may be up before the command has named its process. */
function namedIsGone({ cwd }: FaultRoom): Promise<void> {
  return until(() => !pidsIn(join(cwd, "pid")).some(isAlive));
}
