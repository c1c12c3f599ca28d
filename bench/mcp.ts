import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { estimateTokens } from "../src/core/model/estimate.ts";
import { TOOL_COUNT } from "../test/mcp/faulty-server.ts";

/**
 * What MCP servers cost a run: `node bench/mcp.ts [PAIRS]`. The time from the start of the command to its
 * first request, with five servers that never answer and with none, in turns; and the tokens of the tools in
 * the first request, with three servers of 40 tools each.
 */
const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "dist/bin.mjs");
const SERVER = join(ROOT, "test/mcp/faulty-stdio.ts");
const pairs = Number(process.argv[2] ?? 25);
const home = mkdtempSync(join(tmpdir(), "nano-agent-bench-"));

interface FirstRequest {
  readonly ms: number;
  /** Processor time of the main thread until then; NaN where the system does not tell. */
  readonly busyMs: number;
  readonly body: { readonly tools?: readonly object[] };
}

/** Runs the command once and resolves to its first request. */
async function firstRequest(flags: readonly string[], settings: object = {}): Promise<FirstRequest> {
  const arrived = Promise.withResolvers<FirstRequest>();
  let startedAt = 0;
  let pid = 0;
  const server = createServer((request, response) => {
    const ms = performance.now() - startedAt;
    const busyMs = busyMsOf(pid);
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => {
      arrived.resolve({ ms, busyMs, body: JSON.parse(text) as FirstRequest["body"] });
      response.writeHead(200, { "content-type": "text/event-stream" });
      const choice = { index: 0, delta: { content: "done" }, finish_reason: "stop" };
      // Long enough for servers that work to be heard.
      setTimeout(
        () => response.end(`data: ${JSON.stringify({ id: "1", choices: [choice] })}\n\ndata: [DONE]\n\n`),
        settings === WARM ? 3_000 : 0,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const cwd = mkdtempSync(join(home, "cwd-"));
  mkdirSync(join(home, ".config/nano-agent"), { recursive: true });
  writeFileSync(join(home, ".config/nano-agent/config.json"), JSON.stringify(settings));
  startedAt = performance.now();
  const child = spawn(process.execPath, [BIN, "-p", "--no-session", ...flags, "go"], {
    cwd,
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      NANO_AGENT_MODEL: "openai/gpt-5",
      OPENAI_API_KEY: "sk-bench",
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    },
  });
  pid = child.pid ?? 0;
  const first = await arrived.promise;
  await new Promise((resolve) => child.once("exit", resolve));
  server.close();
  server.closeAllConnections();
  return first;
}

const WARM = {};

function busyMsOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

function configOf(count: number, plan: (number: number) => object): readonly string[] {
  const servers = Array.from({ length: count }, (_, number) => [
    `server${number}`,
    { command: process.execPath, args: [SERVER, JSON.stringify(plan(number))] },
  ]);
  return ["--mcp-config", JSON.stringify({ mcpServers: Object.fromEntries(servers) })];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function tokensOf({ body }: FirstRequest): { readonly tools: number; readonly tokens: number } {
  const own = (body.tools ?? []).filter((tool) => /"name":"(?:mcp__|find_tools)/.test(JSON.stringify(tool)));
  return {
    tools: own.length,
    tokens: own.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0),
  };
}

const slow = configOf(5, () => ({ start: "hangs" }));
const known = configOf(5, (number) => ({ name: `known${number}` }));
await firstRequest(known, WARM);
const none: FirstRequest[] = [];
const runs = [
  { what: "no server, again", flags: [], found: [] as FirstRequest[] },
  { what: "five that never answer", flags: slow, found: [] as FirstRequest[] },
  { what: "five whose tools are remembered", flags: known, found: [] as FirstRequest[] },
];
for (let pair = 0; pair < pairs; pair++) {
  none.push(await firstRequest([]));
  for (const { flags, found } of runs) found.push(await firstRequest(flags));
}
console.log(`start to first request, ${pairs} rounds in turns, medians:`);
console.log(
  `  no server: ${of(none, "ms").toFixed(1)} ms, ${of(none, "busyMs").toFixed(1)} ms of the processor`,
);
for (const { what, found } of runs)
  console.log(`  ${what}: paired ${ratio(found, "ms")}, of the processor ${ratio(found, "busyMs")}`);

function of(requests: readonly FirstRequest[], field: "ms" | "busyMs"): number {
  return median(requests.map((each) => each[field]));
}

function ratio(found: readonly FirstRequest[], field: "ms" | "busyMs"): string {
  return median(found.map((each, at) => each[field] / (none[at]?.[field] ?? Number.NaN))).toFixed(3);
}

const tools = Array.from({ length: 40 - TOOL_COUNT }, (_, number) => ({
  name: `do_something_useful_${number}`,
  description: `Does something useful with records of kind ${number}, and says what came of it.`,
  inputSchema: {
    type: "object",
    properties: {
      id: { type: "string", description: "Id of the record" },
      fields: { type: "array", items: { type: "string" }, description: "Fields to return" },
      limit: { type: "integer", minimum: 1, maximum: 100 },
    },
    required: ["id"],
  },
}));
const many = configOf(3, (number) => ({ tools, name: `many${number}` }));
await firstRequest(many, WARM);
const [offered, deferred] = [
  tokensOf(await firstRequest(many, { mcp: { defer: false } })),
  tokensOf(await firstRequest(many)),
];
console.log("first request with 3 servers of 40 tools each:");
console.log(`  all offered       ${offered.tools} tools, ${offered.tokens} tokens`);
console.log(`  behind find_tools ${deferred.tools} tool, ${deferred.tokens} tokens`);
rmSync(home, { recursive: true, force: true });
