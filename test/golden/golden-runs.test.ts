import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { AGENT_SCENARIOS } from "./agent-scenarios.ts";
import { CALL_SCENARIOS } from "./call-scenarios.ts";
import { type GoldenRun, World } from "./world.ts";

/**
 * What is written, shown and asked in scripted runs, as four hexadecimal digits for each line. A change of
 * these is a change for users: `NANO_AGENT_GOLDEN=write npx vitest run test/golden` takes it over.
 */
const FILE = join(import.meta.dirname, "golden-runs.json");
type Digests = { readonly [section in keyof GoldenRun]: string };

const SCENARIOS = Object.entries({ ...CALL_SCENARIOS, ...AGENT_SCENARIOS });
const isWriting = process.env["NANO_AGENT_GOLDEN"] === "write";
const stored: { readonly [name: string]: Digests } = existsSync(FILE)
  ? JSON.parse(readFileSync(FILE, "utf8"))
  : {};
const written: { [name: string]: Digests } = {};

function digest(lines: readonly string[]): string {
  return lines.map((line) => createHash("sha256").update(line).digest("hex").slice(0, 4)).join("");
}

/** The lines around the first one that is not what it was. */
function difference(name: string, section: keyof GoldenRun, lines: readonly string[]): string | undefined {
  const [before, now] = [stored[name]?.[section] ?? "", digest(lines)];
  if (before === now) return undefined;
  let at = 0;
  while (at < lines.length && before.slice(at * 4, at * 4 + 4) === now.slice(at * 4, at * 4 + 4)) at++;
  const around = lines.slice(Math.max(0, at - 3), at + 4).map((line) => line.slice(0, 2_000));
  return [
    `${section}: line ${at + 1} of ${lines.length} (before: ${before.length / 4}) differs`,
    ...around,
  ].join("\n  ");
}

test.each(SCENARIOS)("%s: records, events, lines and requests are what they were", async (name, scenario) => {
  const world = new World(false);
  await scenario(world);
  const run = world.seen;
  expect([run.journal.length > 0, run.events.length > 0]).toEqual([true, true]);
  const sections = Object.keys(run) as (keyof GoldenRun)[];
  written[name] = Object.fromEntries(sections.map((section) => [section, digest(run[section])])) as Digests;
  if (isWriting) return;
  expect(sections.flatMap((section) => difference(name, section, run[section]) ?? []).join("\n")).toBe("");
});

test.each(SCENARIOS)("%s: a journal that stores later holds the same records", async (_name, scenario) => {
  const [atOnce, later] = [new World(false), new World(true)];
  await scenario(atOnce);
  await scenario(later);
  expect([later.seen.journal, later.seen.requests]).toEqual([atOnce.seen.journal, atOnce.seen.requests]);
});

afterAll(() => {
  if (isWriting) writeFileSync(FILE, `${JSON.stringify(written, undefined, 2)}\n`);
});
