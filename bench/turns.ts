import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * `node bench/turns.ts [ROUNDS] [BIN]`: milliseconds from the end of an answer to the next request, for runs
 * of 50 turns with `bash` and with `read`, beside a bare program that does as much as a turn cannot do
 * without, and beside another build, if there is one. All in turns; the first round is not counted. Needs
 * `/bin/bash`.
 */
const TURNS = 50;
const BARE = join(import.meta.dirname, "bare-turns.mjs");
const OWN = join(import.meta.dirname, "../dist/bin.mjs");
const TOOLS = ["bash", "read"] as const;
type ToolName = (typeof TOOLS)[number];

interface Program {
  readonly name: string;
  readonly words: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const rounds = Number(process.argv[2] ?? 15);
const other = process.argv[3];
const bench = mkdtempSync(join(tmpdir(), "nano-agent-bench-"));
const programs: readonly Program[] = [
  { name: "a request and its answer", words: [BARE] },
  { name: "and two records on the disk", words: [BARE], env: { PARTS: "records" } },
  { name: "and the command, or the file: the floor", words: [BARE], env: { PARTS: "records,tools" } },
  ...(other === undefined ? [] : [command("nano-agent, the other build", other)]),
  command("nano-agent", OWN),
];

function command(name: string, bin: string): Program {
  const words = [bin, "-p", "--permission-mode", "bypassPermissions", "go"];
  const env = {
    NANO_AGENT_MODEL: "openai/gpt-5",
    OPENAI_API_KEY: "sk-bench",
    NODE_COMPILE_CACHE: join(bench, name),
  };
  return { name, words, env };
}

/** The median of the turns of one run. */
async function timeTurns({ name, words, env }: Program, tool: ToolName): Promise<number> {
  const times: number[] = [];
  let asked = 0;
  let answeredAt: number | undefined;
  const server = createServer((request, response) => {
    if (answeredAt !== undefined) times.push(performance.now() - answeredAt);
    request.resume().once("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(answer(asked++, tool));
      answeredAt = performance.now();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const home = mkdtempSync(join(bench, "home-"));
  const cwd = join(home, "work");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "text"), "A line of text\n".repeat(200));
  const { port } = server.address() as AddressInfo;
  const child = spawn(process.execPath, words, {
    cwd,
    stdio: "ignore",
    env: { PATH: process.env["PATH"], HOME: home, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, ...env },
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  server.close();
  server.closeAllConnections();
  rmSync(home, { recursive: true });
  if (code !== 0 || asked !== TURNS + 1)
    throw new Error(`${name}: ${asked} requests instead of ${TURNS + 1}, exit code ${String(code)}.`);
  return median(times);
}

function answer(turn: number, tool: ToolName): string {
  const input = tool === "bash" ? { command: `echo ${turn}` } : { path: "text", offset: turn + 1 };
  const call = { name: tool, arguments: JSON.stringify(input) };
  const delta =
    turn === TURNS
      ? { content: "done" }
      : { tool_calls: [{ index: 0, id: `call_${turn}`, type: "function", function: call }] };
  const events = [
    { choices: [{ index: 0, delta, finish_reason: null }] },
    {
      choices: [{ index: 0, delta: {}, finish_reason: turn === TURNS ? "stop" : "tool_calls" }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    },
  ];
  return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, two) => one - two)[values.length >> 1] ?? Number.NaN;
}

/** Times of each program with each tool, one of a round. */
const found = programs.map((program) => ({ program, times: { bash: [] as number[], read: [] as number[] } }));

/** Each program once with each tool, every other time from the last to the first. */
async function measureRound(round: number): Promise<void> {
  for (const { program, times } of round % 2 === 0 ? found : found.toReversed())
    for (const tool of TOOLS) times[tool][round] = await timeTurns(program, tool);
}

try {
  await measureRound(0);
  for (let round = 0; round < rounds; round++) await measureRound(round);
} finally {
  rmSync(bench, { recursive: true });
}

const own = found.at(-1);
console.log(
  `ms a turn, medians of ${rounds} rounds; in brackets nano-agent against it, the median of the pairs`,
);
for (const { program, times } of found) {
  const cells = TOOLS.map((tool) => {
    const ratios = times[tool].map((ms, at) => (own?.times[tool][at] ?? Number.NaN) / ms);
    return `${tool} ${median(times[tool]).toFixed(2)} (${median(ratios).toFixed(2)}×)`;
  });
  console.log(`${program.name.padEnd(40)} ${cells.join("  ")}`);
}
