/**
 * `node bench/undo.ts [files]`: what the checkpoints for undo cost on a generated repository, as ratios to
 * going through the same tree with nothing but `readdir` and `lstat` in the same run. Default: 50,000 files.
 * Everything is made in a temporary folder and removed.
 */
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckpointedCall } from "../src/core/agent/ports.ts";
import { defineTool } from "../src/core/tool/tool.ts";
import { DEFAULT_LIMITS } from "../src/session/undo/checkpoint-store.ts";
import { SessionCheckpoints } from "../src/session/undo/session-checkpoints.ts";

const FILES_A_FOLDER = 50;
const ROUNDS = 5;

async function main(): Promise<void> {
  const count = Number(process.argv[2] ?? 50_000);
  const place = realpathSync(mkdtempSync(join(tmpdir(), "nano-agent-bench-undo-")));
  try {
    const root = join(place, "workspace");
    const folder = join(place, "state", "checkpoints");
    const bytes = generate(root, count);
    console.log(`${count} files, ${(bytes / 1e6).toFixed(0)} MB`);
    const bare = median(times(() => walk(root)));
    console.log(`readdir and lstat alone: ${bare.toFixed(0)} ms`);
    const say = (what: string, ms: number): void =>
      console.log(`${what}: ${ms.toFixed(0)} ms, ${(ms / bare).toFixed(1)}×`);
    const hurried = open(join(place, "hurried", "checkpoints"), root);
    say("first look, as a command waits for it", await look(hurried));
    await hurried.close();
    const first = open(folder, root, Number.MAX_SAFE_INTEGER);
    say("first look, to its end", await look(first));
    const quiet: number[] = [];
    const changed: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      quiet.push(await look(first));
      appendFileSync(join(root, "part-1", "file-1.ts"), "// changed\n");
      changed.push(await look(first));
    }
    say("nothing changed", median(quiet));
    say("one file changed", median(changed));
    await first.close();
    say("first look of a later run", await look(open(folder, root)));
    const stored = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const kept = stored.reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0);
    console.log(`kept: ${(kept / 1e6).toFixed(0)} MB`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function open(folder: string, root: string, maxWaitMs = DEFAULT_LIMITS.maxWaitMs): SessionCheckpoints {
  return new SessionCheckpoints({
    folder,
    roots: [root],
    sessionId: "bench",
    journalPath: join(folder, "none"),
    limits: { maxWaitMs },
  });
}

const TOOL = defineTool({ name: "bash", description: "Runs a command.", execute: () => "" });

/** One look at everything, as it is made before and after a command. */
async function look(checkpoints: SessionCheckpoints): Promise<number> {
  const call: CheckpointedCall = { callId: "call", tool: TOOL, name: "bash", access: "exclusive" };
  const from = performance.now();
  await checkpoints.before(call);
  const ms = performance.now() - from;
  await checkpoints.after(call);
  return ms;
}

function generate(root: string, count: number): number {
  let bytes = 0;
  for (let at = 0; at < count; at++) {
    const folder = join(root, `part-${Math.floor(at / FILES_A_FOLDER)}`);
    if (at % FILES_A_FOLDER === 0) mkdirSync(folder, { recursive: true });
    const lines = Array.from(
      { length: 20 + (at % 160) },
      (_, line) => `export const value${at}_${line} = ${(at * line) % 9973};`,
    );
    const text = `${lines.join("\n")}\n`;
    bytes += text.length;
    writeFileSync(join(folder, `file-${at % FILES_A_FOLDER}.ts`), text);
  }
  return bytes;
}

function walk(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isDirectory()) walk(path);
  }
}

function times(work: () => void): number[] {
  return Array.from({ length: ROUNDS }, () => {
    const from = performance.now();
    work();
    return performance.now() - from;
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

await main();
