/**
 * Measures the interactive screen of the built command, and of others beside it, in terminals of their own
 * with a model server that streams: `node bench/screen.ts [--only nano-agent,pi] [--quick]`. Others are those
 * that `bench/cli/setup.sh pi codex` has installed. Needs Linux.
 */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Contender, contendersIn } from "./screen/contenders.ts";
import {
  type Bench,
  bareStart,
  conversation,
  echo,
  firstPaint,
  longSession,
  newRoom,
  percentile,
  removeRoom,
  streaming,
} from "./screen/measures.ts";
import { StreamingServer } from "./screen/streaming-server.ts";

/** A line of the table: the value, and whether more of it is worse by a budget of ours. */
interface Figure {
  readonly measure: string;
  readonly budget: string;
  readonly values: Map<string, string>;
}

const { values } = parseArgs({
  options: { only: { type: "string" }, quick: { type: "boolean", default: false } },
});
const only = values.only?.split(",");
const folder = process.env["BENCH_DIR"] ?? join(tmpdir(), "bench-cli");
const contenders = contendersIn(folder).filter(
  ({ name, program }) => (only?.includes(name) ?? true) && existsSync(program.at(-1) ?? ""),
);
const figures = new Map<string, Figure>();
let words = 0;

const bare = percentile(Array.from({ length: 7 }, bareStart), 0.5);
console.error(`A start of Node that does nothing takes ${bare.toFixed(0)} ms.`);
await starts();
for (const contender of contenders) await withBench(contender, (bench) => measure(bench));
print();

/** First paints of all in turns, so that what else the machine does hits them alike. */
async function starts(): Promise<void> {
  const paints = new Map<string, { readonly paint: number; readonly usable: number }[]>();
  const rounds = values.quick ? 3 : 7;
  for (let round = 0; round <= rounds; round++)
    for (const contender of contenders)
      await withBench(contender, async (bench) => {
        const took = await firstPaint(bench);
        if (round > 0) paints.set(contender.name, [...(paints.get(contender.name) ?? []), took]);
      });
  for (const [name, took] of paints) {
    const at = (key: "paint" | "usable"): string => {
      const ms = percentile(
        took.map((each) => each[key]),
        0.5,
      );
      return `${(ms / bare).toFixed(1)}× (${ms.toFixed(0)} ms)`;
    };
    note(name, "first paint, in bare starts of Node", at("paint"), "4×");
    note(name, "first key on the screen, in bare starts of Node", at("usable"), "4×");
  }
}

async function measure(bench: Bench): Promise<void> {
  const { name } = bench.contender;
  note(name, "key to screen, nothing else going on", keyText(await echo(bench)), "");
  for (const [text, piece] of [
    ["prose", prose],
    ["a long block of code", code],
  ] as const) {
    const { keys, bytesPerDelta, rowsPerDelta, core } = await streaming(bench, piece);
    note(name, `key to screen, 500 deltas/s of ${text}`, keyText(keys), "p99 16 ms");
    note(name, `bytes a delta, ${text}`, bytesPerDelta.toFixed(0), "200");
    note(name, `rows painted a delta, ${text}`, rowsPerDelta.toFixed(2), "");
    note(name, `processor, 500 deltas/s of ${text}`, share(core), "");
  }
  const turns = values.quick ? 20 : 200;
  const talk = await conversation(bench, turns);
  note(name, `memory, ${turns} turns`, `${talk.mebibytes.toFixed(0)} MiB`, "110 MiB");
  note(name, `processor at rest, ${turns} turns`, share(talk.core), "3 %");
  await withBench(bench.contender, async (fresh) => {
    const { opened, mebibytes, core } = await longSession(fresh, 10_000);
    note(name, "session of 10,000 messages opens", `${opened.toFixed(0)} ms`, "1000 ms");
    note(name, "memory, 10,000 messages", `${mebibytes.toFixed(0)} MiB`, "");
    note(name, "processor at rest, 10,000 messages", share(core), "3 %");
  });
}

async function withBench(contender: Contender, use: (bench: Bench) => Promise<void>): Promise<void> {
  const server = new StreamingServer();
  const room = newRoom(contender, await server.listen());
  try {
    await use({ contender, room, server });
  } finally {
    server.close();
    removeRoom(room);
  }
}

function note(name: string, measure: string, value: string, budget: string): void {
  const figure = figures.get(measure) ?? { measure, budget, values: new Map<string, string>() };
  figure.values.set(name, value);
  figures.set(measure, figure);
  console.error(`${name.padEnd(12)} ${measure.padEnd(52)} ${value}`);
}

function print(): void {
  const names = contenders.map(({ name }) => name);
  console.log(`| measure | ${names.join(" | ")} | budget |`);
  console.log(`|---|${names.map(() => "--:|").join("")}--:|`);
  for (const { measure, values: of, budget } of figures.values())
    console.log(`| ${measure} | ${names.map((name) => of.get(name) ?? "–").join(" | ")} | ${budget} |`);
}

function keyText(keys: readonly number[]): string {
  return `p50 ${percentile(keys, 0.5).toFixed(1)} ms, p99 ${percentile(keys, 0.99).toFixed(1)} ms`;
}

function share(core: number): string {
  return `${(core * 100).toFixed(1)} % of a core`;
}

function prose(): string {
  words++;
  return words % 60 === 0 ? "end of it.\n\n" : `word${words % 97} `;
}

function code(): string {
  words++;
  if (words % 400 === 1) return "\n```ts\n";
  return words % 8 === 0 ? "value);\n" : `const x${words % 97} = `;
}
