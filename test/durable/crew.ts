import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { toolCallsOf } from "../../src/core/message/message.ts";
import { withVariables } from "../hermetic-command.ts";
import { inDatabase } from "./postgres.ts";
import type { WorkerHostOptions } from "./worker-host.ts";

/** A worker in a process of its own. */
export interface CrewMember {
  readonly child: ChildProcess;
  /** What it has said so far. */
  readonly said: () => string;
  /** Resolves when it has said a text; at its end at the latest. */
  readonly says: (text: string) => Promise<void>;
  /** Resolves with how it ended: its exit code, or the signal. */
  readonly end: Promise<number | NodeJS.Signals | null>;
}

/** Starts a worker; resolves when it works. */
export async function startWorker(options: WorkerHostOptions): Promise<CrewMember> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "worker-host.ts"), JSON.stringify(options)],
    {
      env: withVariables({}),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let said = "";
  const watchers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      for (const watch of watchers) watch();
    });
  const end = once(child, "close").then(
    ([code, signal]: readonly (number | NodeJS.Signals | null)[]) => code ?? signal ?? null,
  );
  const says = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (said.includes(text)) resolve();
      };
      watchers.add(look);
      look();
      void end.then(() => resolve());
    });
  await says("ready");
  return { child, said: () => said, says, end };
}

/** Workers of one kind: whoever dies by SIGKILL is replaced. */
export class Crew {
  readonly #options: WorkerHostOptions;
  readonly #members = new Set<CrewMember>();
  #isOver = false;
  /** Workers that were lost. */
  deaths = 0;

  constructor(options: WorkerHostOptions) {
    this.#options = options;
  }

  /** Adds workers. */
  async hire(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#hireOne()));
  }

  async #hireOne(): Promise<void> {
    const member = await startWorker(this.#options);
    if (this.#isOver) return void member.child.kill("SIGKILL");
    this.#members.add(member);
    void member.end.then((how) => {
      this.#members.delete(member);
      if (this.#isOver) return;
      if (how === "SIGKILL") this.deaths += 1;
      void this.#hireOne();
    });
  }

  /** Kills the oldest, or asks it to end; resolves when it is gone. */
  async strike(signal: "SIGKILL" | "SIGTERM"): Promise<number | NodeJS.Signals | null> {
    const [oldest] = this.#members;
    if (oldest === undefined) return null;
    oldest.child.kill(signal);
    return oldest.end;
  }

  /** All of them end, each by closing its fleet; resolves to how. */
  async dismiss(): Promise<readonly (number | NodeJS.Signals | null)[]> {
    this.#isOver = true;
    const all = [...this.#members];
    for (const { child } of all) child.kill("SIGTERM");
    return Promise.all(all.map(({ end }) => end));
  }

  /** Nobody of them is left, however a test ended. */
  killAll(): void {
    this.#isOver = true;
    for (const { child } of this.#members) child.kill("SIGKILL");
  }
}

/** The lines of a file, by words; none where it is not there yet. */
export function linesIn(folder: string, name: string): readonly (readonly string[])[] {
  const path = join(folder, name);
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "));
}

/** What is wrong with the journal of a run; nothing, if all is well. */
export function faultsOf(entries: readonly JournalEntry[]): readonly string[] {
  const faults: string[] = [];
  for (const [at, { id, parent }] of entries.entries())
    if (parent !== (entries[at - 1]?.id ?? null)) faults.push(`${id} does not follow the entry before it`);
  const asked = entries.flatMap((entry) =>
    entry.type === "assistant_message" ? toolCallsOf(entry.message).map(({ id }) => id) : [],
  );
  const results = entries.flatMap((entry) => (entry.type === "tool_result" ? [entry.callId] : []));
  if (new Set(asked).size !== asked.length) faults.push(`an answer was asked for twice: ${asked.join()}`);
  if (asked.toSorted().join() !== results.toSorted().join())
    faults.push(`calls ${asked.join()}, results ${results.join()}`);
  const ends = entries.filter(({ type }) => type === "run_end").length;
  if (ends !== 1 || entries.at(-1)?.type !== "run_end") faults.push(`${ends} ends`);
  const starts = entries.filter(({ type }) => type === "run_start").length;
  if (starts !== 1) faults.push(`${starts} beginnings`);
  return faults;
}

/** Runs whose entries are not numbered from 1 on without holes, or not as many as their row says. */
export async function holesIn(url: string, schema: string): Promise<readonly object[]> {
  return inDatabase(
    url,
    `select r.id, r.seq, count(e.seq), min(e.seq), max(e.seq) from ${schema}.runs r
     left join ${schema}.entries e on e.run = r.id group by r.id, r.seq
     having count(e.seq) <> r.seq or min(e.seq) <> 1 or max(e.seq) <> r.seq`,
  );
}
