/**
 * Measures the interactive screen of the built command in a terminal of its own: `node bench/screen.ts`. Times are medians, in bare starts of
 * Node where the budget is; one model server that streams, one terminal that really draws. Each line names its budget.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ProgramInTerminal, startInTerminal } from "../test/screen/terminal-program.ts";

const READY = "What is to be done?";
const DELTAS_PER_SECOND = 500;

const home = mkdtempSync(join(tmpdir(), "nano-agent-bench-"));
const server = createServer();
let words = 0;
let stream: ((response: ServerResponse) => Promise<void>) | undefined;
server.on("request", (request, response) => {
  request.resume();
  request.once("end", () => void answer(response));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

try {
  const bare = median(Array.from({ length: 7 }, bareStart));
  const paints: number[] = [];
  for (let index = 0; index < 5; index++) paints.push(await firstPaint());
  report(
    "first paint",
    `${(median(paints) / bare).toFixed(1)} bare starts (${median(paints).toFixed(0)} ms)`,
    "4",
  );
  for (const [name, text] of [
    ["prose", prose],
    ["a long block of code", code],
  ] as const) {
    const { keys, bytes } = await streaming(text);
    report(
      `key to screen, ${name}`,
      `p50 ${at(keys, 0.5).toFixed(1)} ms, p99 ${at(keys, 0.99).toFixed(1)} ms`,
      "p99 16 ms",
    );
    report(`bytes a delta, ${name}`, bytes.toFixed(0), "200");
  }
  const { megabytes, idle } = await longSession();
  report("memory, 200 turns", `${megabytes.toFixed(0)} MiB`, "110 MiB");
  report("processor, idle for 10 s", `${idle.toFixed(1)} % of a core`, "3 %");
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(home, { recursive: true, force: true });
}

function open(columns = 120, rows = 40): ProgramInTerminal {
  const env = { OPENAI_API_KEY: "sk-bench", OPENAI_BASE_URL: url, NANO_AGENT_MODEL: "openai/gpt-5" };
  return startInTerminal({ columns, rows, cwd: home, home, env });
}

function bareStart(): number {
  const from = performance.now();
  execFileSync(process.execPath, ["-e", ""]);
  return performance.now() - from;
}

async function firstPaint(): Promise<number> {
  const from = performance.now();
  const program = open();
  await program.shows("❯");
  const took = performance.now() - from;
  program.close();
  await program.end;
  return took;
}

/** Types while an answer streams, one key each 50 ms, and measures how long each takes to be on the screen. */
async function streaming(
  text: () => string,
): Promise<{ readonly keys: readonly number[]; readonly bytes: number }> {
  const program = open();
  await program.shows(READY);
  let deltas = 0;
  const over = new AbortController();
  stream = async (response) => {
    const from = performance.now();
    while (!over.signal.aborted) {
      while (deltas < ((performance.now() - from) / 1_000) * DELTAS_PER_SECOND) {
        deltas++;
        send(response, text());
      }
      await pause(2);
    }
  };
  program.type("go\r");
  await program.shows("esc stops");
  await pause(1_000);
  const [bytesBefore, deltasBefore] = [program.emulator.written.length, deltas];
  const keys: number[] = [];
  let typed = "";
  for (let index = 0; index < 100; index++) {
    typed += "abcdefghij"[index % 10] ?? "";
    const from = performance.now();
    program.type(typed.at(-1) ?? "");
    await program.shows((screen) => screen.includes(`❯ ${typed}`));
    keys.push(performance.now() - from);
    await pause(50);
    if (typed.length === 50) {
      program.type("\u0015");
      typed = "";
      await program.shows((screen) => !screen.includes("abcdefghij"));
    }
  }
  const bytes =
    (Buffer.byteLength(program.emulator.written.slice(bytesBefore)) - keys.length * 40) /
    (deltas - deltasBefore);
  over.abort();
  program.close();
  await program.end;
  return { keys, bytes };
}

async function longSession(): Promise<{ readonly megabytes: number; readonly idle: number }> {
  const program = open();
  await program.shows(READY);
  stream = async (response) => {
    for (let index = 0; index < 20; index++) send(response, prose());
  };
  for (let turn = 1; turn <= 200; turn++) {
    program.type(`turn number ${turn}\r`);
    await program.shows(
      (screen) => screen.includes(`❯ turn number ${turn}`) && !screen.includes("esc stops"),
    );
  }
  const before = processorSeconds(program.pid);
  await pause(10_000);
  const idle = (processorSeconds(program.pid) - before) * 10;
  const megabytes =
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
  program.close();
  await program.end;
  return { megabytes, idle };
}

/** Processor time of a process so far, of Linux with its usual hundred ticks a second. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function answer(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  await stream?.(response);
  response.write(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 10, completion_tokens: 10 } })}\n\n`,
  );
  response.end("data: [DONE]\n\n");
}

function send(response: ServerResponse, content: string): void {
  response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
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

function report(what: string, value: string, budget: string): void {
  console.log(`${what.padEnd(40)} ${value.padEnd(32)} budget ${budget}`);
}

function median(values: readonly number[]): number {
  return at(values, 0.5);
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
