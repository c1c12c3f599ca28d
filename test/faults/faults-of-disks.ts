import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calls, says } from "../../src/testing/script.ts";
import { refuses, replies } from "../../src/testing/server-step.ts";
import type { Fault } from "./fault.ts";

const OK = says("all well");
const PAGE = Array.from({ length: 2_000 }, (_, line) => `line ${line} of a page\n`).join("");
/** From so many blocks of 1,024 bytes on no file takes more. */
const fullAt = (blocks: number): string => `ulimit -f ${blocks}; trap "" XFSZ; exec "$@"`;
/** Starts the command where a file system of its own is mounted. */
const mounted = (options: string, place: string): Pick<Fault, "shell" | "mounts" | "resumes"> => ({
  shell: `mkdir -p "${place}"; exec unshare -rm bash -c 'mount -t tmpfs -o ${options} none "${place}" && exec "$@"' bash "$@"`,
  mounts: true,
  resumes: false,
});

/** Disks that are full, read-only or gone. */
export const FAULTS_OF_DISKS: readonly Fault[] = [
  disk("no space for the first record of the session", "ends before any request; names `--no-session`", {
    shell: fullAt(0),
    code: 60,
    requests: 0,
    stderr: ["--no-session"],
    resumes: false,
    sampled: true,
  }),
  disk("no space for a tool result", "ends before the next request; says what is stored", {
    prepare: ({ cwd }) => writeFileSync(join(cwd, "page"), PAGE),
    steps: () => [calls("read", { path: "page" }), OK],
    shell: fullAt(16),
    code: 60,
    stderr: [/\d+ records are stored and kept/],
  }),
  disk("no space for the answer", "says what is stored", {
    steps: () => [says(PAGE)],
    shell: fullAt(16),
    code: 60,
    stderr: [/\d+ records are stored and kept/],
  }),
  disk("a file system that fills up under the session", "ends before the next request; gives the reason", {
    ...mounted("size=256k", "$XDG_STATE_HOME"),
    steps: () => [(_request, index) => calls("bash", { command: `seq ${index} 9000` })],
    code: 60,
    requests: "any",
    stderr: ["no space left on the device (ENOSPC)"],
  }),
  disk("a read-only file system under the session", "ends before any request; names `--no-session`", {
    ...mounted("ro", "$XDG_STATE_HOME"),
    code: 60,
    requests: 0,
    stderr: ["read-only", "--no-session"],
  }),
  disk(
    "a read-only file system under the session, with `--no-session`",
    "the run completes; nothing is stored",
    {
      ...mounted("ro", "$XDG_STATE_HOME"),
      args: ["--no-session"],
    },
  ),
  disk(
    "no space for the contents undo must store",
    "the call does not run; the model is told why; read-only calls run",
    {
      ...mounted("size=256k", "$XDG_STATE_HOME"),
      undo: true,
      prepare: ({ cwd }) => writeFileSync(join(cwd, "big"), randomText(2_000_000)),
      steps: () => [[calls("bash", { command: "echo ran >> effects" }), calls("read", { path: "." })], OK],
      told: [/Not run: its changes could not be undone.*no space left on the device/, "big"],
      requests: 2,
    },
  ),
  disk("no space for the long-term memory", "the run continues without it and says so", {
    ...mounted("size=32k", "$XDG_STATE_HOME"),
    ...remembering("both"),
    stderr: [/the run continues without it: .*full/],
  }),
  disk("a long-term memory that is not a database", "it is set aside; the run continues and says so", {
    ...remembering("static"),
    stderr: ["It was set aside as"],
    prepare: ({ state }) => {
      mkdirSync(join(state, "nano-agent"));
      writeFileSync(join(state, "nano-agent", "memory.db"), PAGE);
    },
  }),
  disk("a folder in place of the long-term memory", "the run continues without it and says so", {
    ...remembering("static"),
    stderr: ["the run continues without it"],
    prepare: ({ state }) => void mkdirSync(join(state, "nano-agent", "memory.db"), { recursive: true }),
  }),
  disk("no space for long output", "commands run; long output is truncated, with the reason", {
    ...mounted("size=64k", "$TMPDIR"),
    env: (_wire, { room }) => ({ TMPDIR: room.home }),
    steps: () => [calls("bash", { command: "seq 1 200000" }), OK],
    told: [/left out here; the full text could not be kept: .*ENOSPC/],
    requests: 2,
    resumes: false,
  }),
  disk("a read-only working folder", "every tool tells the model; the run continues", {
    prepare: ({ cwd }) => writeFileSync(join(cwd, "old"), "text\n"),
    shell:
      'exec unshare -rm bash -c \'mount --bind . . && mount -o remount,ro,bind "$PWD" && cd "$PWD" && exec "$@"\' bash "$@"',
    mounts: true,
    steps: () => [
      calls("read", { path: "old" }),
      [
        calls("write", { path: "new", content: "x" }),
        calls("edit", { path: "old", edits: [{ old_string: "text", new_string: "next" }] }),
        calls("bash", { command: "echo x > new" }),
      ],
      OK,
    ],
    told: [/read-only|Read-only|EROFS/],
    requests: 3,
  }),
  disk("standard output on a full disk", "fails and says so", {
    shell: 'exec "$@" > /dev/full',
    code: 1,
    requests: "any",
    resultLine: false,
    stderr: ["standard output"],
  }),
  disk(
    "a file that changed since the model read it",
    "the edit is refused; the model is told to read it again",
    {
      prepare: ({ cwd }) => writeFileSync(join(cwd, "old"), "text\n"),
      steps: (_wire, { room }) => [
        calls("read", { path: "old" }),
        () => {
          writeFileSync(join(room.cwd, "old"), "text of another agent\n");
          return calls("edit", { path: "old", edits: [{ old_string: "text", new_string: "next" }] });
        },
        OK,
      ],
      told: [/old.* changed/],
      requests: 3,
    },
  ),
];

/** Homes that are none. */
export const FAULTS_OF_HOMES: readonly Fault[] = [
  ...["/proc", "/dev/null"].map((home) =>
    disk(`the home folder \`${home}\``, "ends before any request; names `--no-session`", {
      env: () => ({ HOME: home, XDG_STATE_HOME: "" }),
      code: 60,
      requests: 0,
      stderr: ["--no-session"],
      resumes: false,
      ...(home === "/proc" ? { sampled: true } : {}),
    }),
  ),
  ...["/proc", "/dev/null"].map((home) =>
    disk(`the home folder \`${home}\`, with \`--no-session\``, "the run completes; commands and edits work", {
      env: () => ({ HOME: home, XDG_STATE_HOME: "" }),
      args: ["--no-session"],
      steps: () => [calls("bash", { command: "echo ran >> effects" }), OK],
      effects: 1,
      requests: 2,
      resumes: false,
    }),
  ),
  disk("`HOME` not set", "the session is stored below `XDG_STATE_HOME`", {
    shell: 'unset HOME; exec "$@"',
    steps: () => [calls("bash", { command: "echo ran >> effects" }), OK],
    effects: 1,
    requests: 2,
  }),
  disk(
    "`XDG_CONFIG_HOME` and `XDG_STATE_HOME` below a file",
    "ends before any request; names `--no-session`",
    {
      env: () => ({ XDG_CONFIG_HOME: "/dev/null/x", XDG_STATE_HOME: "/dev/null/x" }),
      code: 60,
      requests: 0,
      stderr: ["--no-session"],
      resumes: false,
    },
  ),
  disk("the home removed by a command", "ends before the next request", {
    env: () => ({ XDG_STATE_HOME: "" }),
    steps: () => [calls("bash", { command: 'rm -rf "$HOME"; echo ran >> effects' }), OK],
    code: 60,
    effects: 1,
    stderr: ["removed while it was in use. Nothing of the session is left."],
    resumes: false,
  }),
  disk("the home removed by a command, with undo", "ends before the next request", {
    env: () => ({ XDG_STATE_HOME: "" }),
    undo: true,
    steps: () => [calls("bash", { command: 'rm -rf "$HOME"; echo ran >> effects' }), OK],
    code: 60,
    effects: 1,
    stderr: ["removed while it was in use. Nothing of the session is left."],
    resumes: false,
  }),
  disk("a clock ten years ahead, then corrected", "order and the choice of `-c` do not change", {
    prepare: ({ home }) => clock(home, "real() + 315_360_000_000"),
    env: (_wire, { room }) => ({ NODE_OPTIONS: `--import=${join(room.home, "clock.mjs")}` }),
    steps: () => [calls("bash", { command: "echo ran >> effects" }), OK],
    effects: 1,
    requests: 2,
  }),
  disk("a clock set back while the provider is silent", "ends at `NANO_AGENT_IDLE_TIMEOUT_MS` all the same", {
    prepare: ({ home }) => clock(home, "1_700_000_000_000 - 1_000_000 * looks++"),
    env: (_wire, { room }) => ({
      NODE_OPTIONS: `--import=${join(room.home, "clock.mjs")}`,
      NANO_AGENT_IDLE_TIMEOUT_MS: "300",
      NANO_AGENT_MAX_RETRIES: "0",
    }),
    steps: () => [replies({ answer: says("Words that never go on."), stall: 400 })],
    code: 1,
    stderr: ["network.idleTimeoutMs"],
  }),
  disk("a clock that jumps ahead at every reading", "no limit counts as reached", {
    prepare: ({ home }) => clock(home, "real() + 86_400_000 * looks++"),
    env: (_wire, { room }) => ({ NODE_OPTIONS: `--import=${join(room.home, "clock.mjs")}` }),
    steps: () => [refuses(429, "Slow down.", { "retry-after": "1" }), OK],
    args: ["--max-wall-time", "1h"],
    requests: 2,
  }),
  disk("a clock that goes back at every reading", "records keep their order; nothing hangs", {
    prepare: ({ home }) => clock(home, "1_700_000_000_000 - 1_000_000 * looks++"),
    env: (_wire, { room }) => ({ NODE_OPTIONS: `--import=${join(room.home, "clock.mjs")}` }),
    steps: () => [calls("bash", { command: "echo ran >> effects; sleep 0.1" }), OK],
    effects: 1,
    requests: 2,
  }),
];

function disk(scenario: string, outcome: string, more: Partial<Fault>): Fault {
  return { scenario, outcome, steps: () => [OK], code: 0, requests: 1, ...more };
}

function remembering(mode: string): Pick<Fault, "env"> {
  return {
    env: (_wire, { room }) => {
      mkdirSync(join(room.home, "nano-agent"));
      writeFileSync(
        join(room.home, "nano-agent", "config.json"),
        JSON.stringify({ memory: { longTerm: mode } }),
      );
      return { XDG_CONFIG_HOME: room.home };
    },
  };
}

function clock(home: string, now: string): void {
  writeFileSync(
    join(home, "clock.mjs"),
    `const Real = Date;
const real = () => Real.now();
let looks = 0;
const now = () => ${now};
globalThis.Date = class extends Real {
  constructor(...args) {
    super(...(args.length === 0 ? [now()] : args));
  }
  static now() {
    return now();
  }
};
`,
  );
}

/** Text that no compression makes small. */
function randomText(bytes: number): string {
  let seed = 1;
  let text = "";
  while (text.length < bytes) {
    seed = (seed * 16_807) % 2_147_483_647;
    text += seed.toString(36);
  }
  return text;
}
