/**
 * A worker in a process of its own, which tests kill, stop and end: `node worker-host.ts OPTIONS`, OPTIONS
 * being the JSON of {@link WorkerHostOptions}. It says `ready`, and what its fleet warns of; SIGTERM closes
 * it.
 */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "../../src/agent/agent.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { defineTool, type ToolContext } from "../../src/core/tool/tool.ts";
import { createFleet, type HostOptions, type RunInfo } from "../../src/durable/index.ts";
import { calls, type ScriptAnswer, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";

/** How a {@link file://./worker-host.ts worker} is made. */
export interface WorkerHostOptions {
  readonly databaseUrl: string;
  readonly schema: string;
  /** Where effects are noted: lines of run, call, and `idempotencyKey`. */
  readonly folder: string;
  /** Those of its agents it has. */
  readonly agents: readonly string[];
  /** Turns of one run of `clerk`, of two calls each. */
  readonly turns: number;
  /** Times a run of `poison` ends its worker. */
  readonly deaths: number;
}

const options = JSON.parse(process.argv[2] ?? "") as WorkerHostOptions;

const PARAMETERS = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
} as const;

/** Some milliseconds, different for each call: so that kills meet every moment. */
const aWhile = (): Promise<unknown> => sleep(1 + (Number(process.hrtime.bigint() % 20n) | 0));

const effect = (file: string, { sessionId, callId, idempotencyKey }: ToolContext): void =>
  appendFileSync(join(options.folder, file), `${sessionId} ${callId} ${idempotencyKey}\n`);

const note = defineTool({
  name: "note",
  description: "Does what must not be done twice.",
  parameters: PARAMETERS,
  execute: async ({ n }: { readonly n: number }, context) => {
    await aWhile();
    effect("noted", context);
    await aWhile();
    return `noted ${n}`;
  },
});

const pay = defineTool({
  name: "pay",
  description: "Does what may be done again, by its key.",
  parameters: PARAMETERS,
  idempotent: true,
  execute: async ({ n }: { readonly n: number }, context) => {
    effect("paid", context);
    await aWhile();
    return `paid ${n}`;
  },
});

const die = defineTool({
  name: "die",
  description: "Ends its process, as often as it is told to.",
  parameters: PARAMETERS,
  idempotent: true,
  execute: (_: unknown, { sessionId }) => {
    for (let death = 1; death <= options.deaths; death++) {
      const path = join(options.folder, `${sessionId}-death-${death}`);
      if (existsSync(path)) continue;
      writeFileSync(path, "");
      process.kill(process.pid, "SIGKILL");
    }
    return "alive";
  },
});

const freeze = defineTool({
  name: "freeze",
  description: "Works until somebody lets it.",
  parameters: PARAMETERS,
  execute: async (_: unknown, context) => {
    effect("frozen", context);
    while (!existsSync(join(options.folder, "thaw"))) await sleep(20);
    effect("thawed", context);
    return "thawed";
  },
});

const once =
  (tool: string) =>
  ({ messages }: ModelRequest): ScriptAnswer =>
    messages.some(({ role }) => role === "assistant") ? says("Done.") : calls(tool, { n: 1 }, "only");

async function clerk({ messages }: ModelRequest): Promise<ScriptAnswer> {
  await aWhile();
  const turn = messages.filter(({ role }) => role === "assistant").length;
  if (turn >= options.turns) return says(`Done after ${turn}.`);
  return [calls("note", { n: turn }, `note_${turn}`), calls("pay", { n: turn }, `pay_${turn}`)];
}

const MAKERS: { readonly [name: string]: (host: HostOptions, run: RunInfo) => Agent } = {
  clerk: (host) =>
    new Agent({
      model: new ScriptedModel(clerk),
      tools: [note, pay],
      maxIterations: Number.POSITIVE_INFINITY,
      loopGuard: false,
      ...host,
    }),
  poison: (host) => new Agent({ model: new ScriptedModel(once("die")), tools: [die], ...host }),
  last: (host, run) =>
    new Agent({
      model: new ScriptedModel(({ messages }) => says(`Said to ${messages.length}.`)),
      hooks: { pre_print: (_, { event }) => void (event?.type === "run_end" && dieAtTheEnd(run)) },
      ...host,
    }),
  frozen: (host) => new Agent({ model: new ScriptedModel(once("freeze")), tools: [freeze], ...host }),
};

/** Ends its process once, between the end of its run and the moment its fleet has heard of it. */
function dieAtTheEnd(run: RunInfo): void {
  const path = join(options.folder, `${run.id}-end`);
  if (existsSync(path)) return;
  writeFileSync(path, "");
  process.kill(process.pid, "SIGKILL");
}

const fleet = await createFleet({
  databaseUrl: options.databaseUrl,
  schema: options.schema,
  concurrency: 8,
  agents: Object.fromEntries(Object.entries(MAKERS).filter(([name]) => options.agents.includes(name))),
  onWarning: (message) => void process.stdout.write(`warning: ${message}\n`),
});
process.once("SIGTERM", () => void fleet.close().then(() => process.exit(0)));
process.stdout.write("ready\n");
