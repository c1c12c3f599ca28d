import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ProgramInTerminal, startInTerminal } from "../../test/screen/terminal-program.ts";
import type { BenchRoom, Contender, SessionRecord } from "./contenders.ts";
import { type StreamingServer, steadily } from "./streaming-server.ts";

/** A contender in folders of its own, and the server that answers it. */
export interface Bench {
  readonly contender: Contender;
  readonly room: BenchRoom;
  readonly server: StreamingServer;
}

/** How long keys took to be on the screen, and what was written meanwhile. */
export interface Streaming {
  readonly keys: readonly number[];
  readonly bytesPerDelta: number;
  readonly rowsPerDelta: number;
  /** Share of a core. */
  readonly core: number;
}

/** What a session at rest costs. */
export interface Rest {
  readonly mebibytes: number;
  /** Share of a core. */
  readonly core: number;
}

const DELTAS_PER_SECOND = 500;
const REST_MS = 10_000;
const KEYS = "QZXJVKWYQZXJVKWYQZXJVKWYQZXJVKWYQZXJVKWY";

/** Folders in which nothing was done yet. Remove `home` afterwards. */
export function newRoom(contender: Contender, url: string): BenchRoom {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "bench-screen-")));
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const room = { home, cwd, url };
  for (const [path, text] of Object.entries(contender.files(room))) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  return room;
}

/** Milliseconds from the start to the screen with its input, and to the first key that stands on it. */
export async function firstPaint(bench: Bench): Promise<{ readonly paint: number; readonly usable: number }> {
  const from = performance.now();
  const program = open(bench);
  try {
    await program.shows(bench.contender.ready);
    const paint = performance.now() - from;
    program.type("Q");
    await program.shows((screen) => screen.includes("Q"));
    return { paint, usable: performance.now() - from };
  } finally {
    await end(program);
  }
}

/** Types while nothing else happens. */
export async function echo(bench: Bench): Promise<readonly number[]> {
  const program = await ready(bench);
  try {
    return await typeKeys(program);
  } finally {
    await end(program);
  }
}

/** Types while an answer of these pieces streams. */
export async function streaming(bench: Bench, piece: () => string): Promise<Streaming> {
  const program = await ready(bench);
  const over = new AbortController();
  let deltas = 0;
  bench.server.answer = steadily(piece, {
    perSecond: DELTAS_PER_SECOND,
    signal: over.signal,
    onPiece: () => deltas++,
  });
  try {
    program.type("go");
    await program.shows("go");
    program.type("\r");
    await pause(1_000);
    const before = { deltas, written: program.emulator.written.length, cpu: processorSeconds(program.pid) };
    const from = performance.now();
    await pause(3_000);
    const core = (processorSeconds(program.pid) - before.cpu) / ((performance.now() - from) / 1_000);
    const written = program.emulator.written.slice(before.written);
    const count = deltas - before.deltas;
    const keys = await typeKeys(program);
    return {
      keys,
      bytesPerDelta: Buffer.byteLength(written) / count,
      rowsPerDelta: rowsPainted(written) / count,
      core,
    };
  } finally {
    over.abort();
    await end(program);
  }
}

/** Has a conversation of so many turns, then leaves it alone. */
export async function conversation(bench: Bench, turns: number): Promise<Rest> {
  const program = await ready(bench);
  try {
    for (let turn = 1; turn <= turns; turn++) {
      bench.server.answer = async (write) => {
        for (const word of answerText(turn).split(/(?<= )/)) write(word);
      };
      program.type(`turn ${turn}`);
      await program.shows(`turn ${turn}`);
      program.type("\r");
      await program.shows(
        (screen) => screen.includes(`end of ${turn}.`) && !screen.includes(bench.contender.busy),
      );
    }
    return await rest(program);
  } finally {
    await end(program);
  }
}

/** Goes on with a session of so many messages, which is made here; then leaves it alone. */
export async function longSession(
  bench: Bench,
  messages: number,
): Promise<Rest & { readonly opened: number }> {
  const { contender, room, server } = bench;
  server.answer = async (write) => write(answerText(0));
  const first = await ready(bench);
  first.type("turn 0");
  await first.shows("turn 0");
  first.type("\r");
  await first.shows((screen) => screen.includes("end of 0.") && !screen.includes(contender.busy));
  await pause(1_000);
  first.type("\u0003");
  await pause(200);
  first.type("\u0003\u0004");
  await Promise.race([first.end, pause(3_000)]);
  await end(first);
  lengthen(sessionFile(join(room.home, contender.sessions)), contender, Math.floor(messages / 2));
  const from = performance.now();
  const program = open(bench, contender.resumeArgs);
  try {
    await program.shows("end of 0.");
    program.type("Q");
    await program.shows((screen) => screen.includes("Q"));
    const opened = performance.now() - from;
    program.type("\u007F");
    return { opened, ...(await rest(program)) };
  } finally {
    await end(program);
  }
}

/** Milliseconds of a start of Node that does nothing. */
export function bareStart(): number {
  const from = performance.now();
  execFileSync(process.execPath, ["-e", ""]);
  return performance.now() - from;
}

/** The value below which a share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Rows in which something was written, counted each time the cursor came to one. */
export function rowsPainted(written: string): number {
  let count = 0;
  let isNew = true;
  const visible = written.replaceAll("\u001B", "␛").replaceAll("\u0007", "␇");
  for (const [part] of visible.matchAll(/␛\[[\d;?<>=]*[@-~]|␛[\]P][^␇␛]*(?:␇|␛\\)|␛.|\n|\r|[^␛\r\n]+/g)) {
    if (part === "\n" || /^␛\[[\d;]*[ABEFHfd]$/.test(part)) isNew = true;
    else if (isNew && !part.startsWith("␛") && part !== "\r") {
      isNew = false;
      count++;
    }
  }
  return count;
}

function open({ contender, room }: Bench, args = contender.args): ProgramInTerminal {
  return startInTerminal({
    columns: 120,
    rows: 40,
    cwd: room.cwd,
    home: room.home,
    env: contender.env(room),
    command: [...contender.program, ...args],
  });
}

async function ready(bench: Bench): Promise<ProgramInTerminal> {
  const program = open(bench);
  await program.shows(bench.contender.ready);
  await pause(1_000);
  return program;
}

async function end(program: ProgramInTerminal): Promise<void> {
  program.close();
  await program.end;
}

/** Types letters one by one, and measures how long each takes to stand on the screen. */
async function typeKeys(program: ProgramInTerminal): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    for (let count = 1; count <= KEYS.length; count++) {
      const typed = KEYS.slice(0, count);
      const from = performance.now();
      program.type(typed.at(-1) ?? "");
      await program.shows(typed);
      times.push(performance.now() - from);
      await pause(20 + ((count * 7) % 20));
    }
    program.type("\u0015");
    await program.hides(KEYS.slice(0, 3));
  }
  return times;
}

async function rest(program: ProgramInTerminal): Promise<Rest> {
  await pause(2_000);
  const before = processorSeconds(program.pid);
  const from = performance.now();
  await pause(REST_MS);
  const core = (processorSeconds(program.pid) - before) / ((performance.now() - from) / 1_000);
  return { mebibytes: residentKibibytes(program.pid) / 1_024, core };
}

function answerText(turn: number): string {
  return `## Answer ${turn}\n\nThe parser reads **m** before \`ms\`, see below.\n\n\`\`\`js\nconst part = /(ms|m)/g;\n\`\`\`\n\n- one\n- two\n\nThis is the end of ${turn}.`;
}

function sessionFile(folder: string): string {
  const [path] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((each) =>
    each.endsWith(".jsonl"),
  );
  if (path === undefined) throw new Error(`No session was written below ${folder}.`);
  return join(folder, path);
}

/** Repeats the only turn of a session in its file, until there are so many. */
function lengthen(path: string, contender: Contender, turns: number): void {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const records = lines.map((text) => JSON.parse(text) as SessionRecord);
  const from = records.findIndex(contender.isFirstMessage);
  const turn = records.slice(from);
  let parent = String(records.at(-1)?.["id"]);
  const all = [...lines];
  for (let copy = 1; copy < turns; copy++)
    for (const record of turn) {
      const id = `entry_${(all.length + 0x1000_0000).toString(16)}`;
      all.push(JSON.stringify(contender.copied(record, { id, parent, ordinal: all.length })));
      parent = id;
    }
  writeFileSync(path, `${all.join("\n")}\n`);
}

/** A process and everything it started. */
function tree(pid: number): readonly number[] {
  const tasks = `/proc/${pid}/task/${pid}/children`;
  const children = readFileSync(tasks, "utf8").trim();
  return [pid, ...(children === "" ? [] : children.split(" ").flatMap((child) => tree(Number(child))))];
}

/** Processor time of a process and what it started, on Linux with its usual hundred ticks a second. */
function processorSeconds(pid: number): number {
  const ticks = tree(pid).map((each) => {
    const fields = readFileSync(`/proc/${each}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

function residentKibibytes(pid: number): number {
  const sizes = tree(pid).map((each) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${each}/status`, "utf8"))?.[1] ?? 0),
  );
  return sizes.reduce((sum, each) => sum + each, 0);
}

/** Removes a room. */
export function removeRoom({ home }: BenchRoom): void {
  rmSync(home, { recursive: true, force: true });
}
