/**
 * Prints how often the statements and loops of the package run while lines of many kinds are judged, as JSON:
 * for each kind the count of a line and of one four times as long. A program of its own, since only what is
 * compiled while it counts is counted.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const times = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length));
const each = (count: number, piece: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join("; ");

/** Long lines of every kind, by about how long they are. */
const SHAPES: Readonly<Record<string, (length: number) => string>> = {
  words: (length) => `echo ${times("word ", length)}`,
  "different commands": (length) => each(length / 12, (index) => `ls x${1e6 + index}`),
  pipes: (length) => `${times("cat x | ", length)}wc`,
  "values of one variable": (length) => each(length / 20, (index) => `A=${1e5 + index}; cat $A`),
  variables: (length) => each(length / 20, (index) => `a${index}=x; echo $a${index}`),
  substitutions: (length) => times("echo $(ls); ", length),
  "programs of find": (length) => `find . ${times("-exec ls {} \\; ", length)}`,
  redirections: (length) => `cat ${times("< x ", length)}`,
  "words for a container": (length) => `docker exec x ${times("ls ", length)}`,
  "time upon time": (length) => `${times("time ", length)}ls`,
  wrappers: (length) => `${times("env ", length)}ls`,
  "folders of one path": (length) => `cat /${times("a/", length)}`,
  "a loop over many files": (length) => `for f in ${times("a.txt ", length)}; do cat $f; done`,
  "a here-document": (length) => `cat <<EOF\n${times("line $A\n", length)}EOF\n`,
  "a script in a string": (length) => `sh -c '${times("ls; ", length)}'`,
  brackets: (length) => times("$(`{[", length),
  stars: (length) => `echo ${"*".repeat(length)}`,
};

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
const { policyIn, shellRules } = await import("./shell-rules.ts");

/** What ran since the last look. */
async function counted(): Promise<number> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const own = result.filter(({ url }) => url.includes("/src/"));
  return own
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0);
}

const cwd = mkdtempSync(join(tmpdir(), "nano-agent-growth-"));
try {
  const policy = policyIn(cwd, { rules: shellRules("ls* ; echo * ; !rm * ; ?git push*") });
  const work: Record<string, readonly number[]> = {};
  for (const [name, shape] of Object.entries(SHAPES)) {
    const counts: number[] = [];
    for (const length of [12_000, 48_000]) {
      const command = shape(length);
      await counted();
      policy.check({ tool: "bash", input: { command } });
      counts.push(await counted());
    }
    work[name] = counts;
  }
  process.stdout.write(JSON.stringify(work));
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
