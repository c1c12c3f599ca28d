/**
 * `node bench/permission.ts`: how long decisions about command lines take, everyday ones and lines of 100 KB,
 * in milliseconds and in bare Node starts of the same run. A bare start is 24 ms on the machine the targets
 * are for (5 ms for 99 % of everyday lines, 50 ms for 100 KB).
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Policy } from "../src/permission/policy.ts";
import { EFFECT_CASES } from "../test/permission/effect-cases.ts";
import { LONG_LINES } from "../test/permission/long-lines.ts";
import { COMMAND_CASES } from "../test/permission/shell-cases.ts";
import { policyIn, shellRules } from "../test/permission/shell-rules.ts";

const LENGTH = 100_000;
/** Decisions about each long line; the first two are not counted. */
const ROUNDS = 9;
const EVERYDAY_ROUNDS = 40;

function main(): void {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "nano-agent-bench-permission-")));
  try {
    const start = median(
      Array.from({ length: 15 }, () => timed(() => spawnSync(process.execPath, ["-e", "0"]))),
    );
    console.log(`Node ${process.version}, a bare start takes ${start.toFixed(0)} ms\n`);
    console.log("| decision | ms | bare starts |\n|---|---:|---:|");
    const say = (what: string, ms: number): void =>
      console.log(`| ${what} | ${ms.toFixed(ms < 10 ? 2 : 0)} | ${(ms / start).toFixed(2)} |`);
    everyday(policyIn(cwd, { rules: shellRules("ls* ; cat * ; !rm *") }), say);
    long("the built-in rules and two of one's own", policyIn(cwd, { rules: shellRules("ls* ; cat *") }), say);
    const many = Array.from({ length: 500 }, (_, at) => `tool${at} *`).join(" ; ");
    long("500 rules", policyIn(cwd, { rules: shellRules(many) }), say);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

type Say = (what: string, ms: number) => void;

function everyday(policy: Policy, say: Say): void {
  const lines = [...COMMAND_CASES, ...EFFECT_CASES].map(([, command]) => command);
  const best = lines.map((line) =>
    Math.min(...Array.from({ length: EVERYDAY_ROUNDS }, () => timed(() => decide(policy, line)))),
  );
  say(`${lines.length} everyday lines: half of them within`, quantile(best, 0.5));
  say("99 % of them within", quantile(best, 0.99));
}

function long(rules: string, policy: Policy, say: Say): void {
  const shapes = Object.entries(LONG_LINES).map(([name, shape]) => {
    const line = shape(LENGTH);
    const times = Array.from({ length: ROUNDS }, () => timed(() => decide(policy, line)));
    return { name, first: times[0] ?? 0, usual: median(times.slice(2)) };
  });
  const usual = shapes.map((shape) => shape.usual);
  const slowest = shapes.reduce((one, other) => (other.usual > one.usual ? other : one));
  say(`100 KB of ${shapes.length} shapes under ${rules}: half of them within`, median(usual));
  say("nine in ten within", quantile(usual, 0.9));
  say(`the slowest (${slowest.name})`, slowest.usual);
  say("the slowest first decision about a shape", Math.max(...shapes.map(({ first }) => first)));
}

function decide(policy: Policy, command: string): void {
  policy.check({ tool: "bash", input: { command } });
}

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

main();
