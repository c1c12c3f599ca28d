/**
 * `node bench/permission.ts`: how long decisions about command lines take, everyday ones and lines of 100 KB,
 * in milliseconds and in bare Node starts of the same run (24 ms on the machine the targets are for: 5 ms for
 * 99 % of everyday lines, 50 ms for 100 KB).
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVERYDAY_LINES } from "../test/permission/everyday-lines.ts";
import { policyIn, shellRules } from "../test/permission/shell-rules.ts";

const ROUNDS = 20;
const LONG_LINES: Readonly<Record<string, string>> = {
  "a plain line": "cat src/a.ts && ".repeat(6_250),
  "many words": `ls ${"src/a.ts ".repeat(11_000)}`,
  "a here-document": `cat > x <<'E'\n${"some text\n".repeat(10_000)}E\n`,
  substitutions: "echo $(cat a); ".repeat(6_600),
  "one long word": `echo "${"x".repeat(100_000)}"`,
};

function main(): void {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "nano-agent-bench-permission-")));
  try {
    const start = median(
      Array.from({ length: 15 }, () => timed(() => spawnSync(process.execPath, ["-e", "0"]))),
    );
    console.log(`Node ${process.version}, a bare start takes ${start.toFixed(0)} ms\n`);
    console.log("| decision | ms | bare starts |\n|---|---:|---:|");
    const policy = policyIn(cwd, { rules: shellRules("npm * ; make* ; !rm *") });
    const decide = (command: string): number =>
      Math.min(
        ...Array.from({ length: ROUNDS }, () =>
          timed(() => policy.check({ tool: "bash", input: { command } })),
        ),
      );
    const say = (what: string, ms: number): void =>
      console.log(`| ${what} | ${ms.toFixed(ms < 10 ? 2 : 0)} | ${(ms / start).toFixed(2)} |`);
    const everyday = EVERYDAY_LINES.map(decide).toSorted((one, other) => one - other);
    say(`${everyday.length} everyday lines: half of them within`, median(everyday));
    say("99 % of them within", everyday[Math.floor(everyday.length * 0.99)] ?? 0);
    for (const [name, line] of Object.entries(LONG_LINES)) say(`100 KB: ${name}`, decide(line));
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

main();
