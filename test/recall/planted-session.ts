import { type Message, userMessage } from "../../src/core/message/message.ts";

/** Who said a fact, and how. */
export type FactKind = "said by the user" | "decided" | "found by a tool" | "failed" | "noted in passing";

/** A fact planted in a session; it survives when `needle` can still be read. */
export interface Fact {
  readonly kind: FactKind;
  readonly needle: string;
  readonly text: string;
}

const USER: readonly (readonly [string, string])[] = [
  ["port 48213", "The staging server listens on port 48213."],
  ["Priya Raman", "Ask Priya Raman before anything goes to production."],
  ["发布前必须通知运维组", "发布前必须通知运维组，不要忘记。"],
  ["never touch src/legacy/billing.ts", "Please never touch src/legacy/billing.ts."],
  ["npm run verify:all", "The checks are run with npm run verify:all."],
  ["2026-12-04", "The release is planned for 2026-12-04."],
  ["DATABASE_URL_RO", "Reports read through DATABASE_URL_RO."],
  ["数据库在上海机房", "注意：数据库在上海机房，延迟大约 38 毫秒。"],
  ["at most 250 ms", "The search may take at most 250 ms."],
  ["ticket OPS-7712", "Everything belongs to ticket OPS-7712."],
  ["British spelling", "Use British spelling in all messages."],
  ["feature/ledger-v3", "Work on the branch feature/ledger-v3."],
];
const DECIDED: readonly (readonly [string, string])[] = [
  [
    "append-only table ledger_events",
    "I decided to use an append-only table ledger_events, because updates lost history.",
  ],
  ["retry three times", "Decision: the client will retry three times with 200 ms between."],
  ["keep zod 4.6.7", "We keep zod 4.6.7 since the newer one breaks the parser."],
  ["UTC in storage", "Decision: times are UTC in storage and local on the screen."],
  ["改用流式读取", "决定：改用流式读取，因为一次读入会超出内存。"],
  ["port the parser first", "I will port the parser first and the printer afterwards."],
  ["idempotency key order_id", "Decision: the idempotency key order_id goes into every message."],
  ["feature flag ledger.read", "Decision: reading is switched by the feature flag ledger.read."],
  ["limit of 500 rows", "Decision: pages have a limit of 500 rows."],
  ["drop Node 20", "Decision: we drop Node 20 because of the test runner."],
  ["SHA-256 over the row", "Decision: the checksum is SHA-256 over the row."],
  ["one queue per region", "Decision: one queue per region, not one for all."],
];
const FOUND: readonly (readonly [string, string])[] = [
  ["src/ledger/post-entry.ts:142", "match: src/ledger/post-entry.ts:142 calls commit() twice"],
  ["ECONNRESET after 30017 ms", "error: ECONNRESET after 30017 ms"],
  ["migration 0042_split", "pending: migration 0042_split"],
  ["17 of 412 tests failed", "summary: 17 of 412 tests failed"],
  ["heap 1893 MB", "peak: heap 1893 MB"],
  ["commit 9f3c21ab", "blame: commit 9f3c21ab by Tomas"],
  ["缺少索引 idx_customer", "错误：缺少索引 idx_customer"],
  ["queue depth 90211", "warning: queue depth 90211"],
  ["openssl 3.0.13", "version: openssl 3.0.13"],
  ["TZ=Asia/Tokyo", "environment: TZ=Asia/Tokyo"],
  ["config/limits.yaml", "loaded from config/limits.yaml"],
  ["exit code 137", "worker 3: exit code 137"],
];
const FAILED: readonly (readonly [string, string])[] = [
  ["npm ci --offline fails", "npm ci --offline fails here: the cache misses esbuild."],
  ["sed -i broke the file", "Tried: sed -i broke the file because of CRLF."],
  ["vacuum did not help", "Failed: a vacuum did not help, the table grew again."],
  ["raising the pool to 64", "Failed: raising the pool to 64 made it slower."],
  ["--max-old-space-size=4096", "Failed: --max-old-space-size=4096 only delays the crash."],
  ["降级到 v2 无效", "失败：降级到 v2 无效，错误相同。"],
  ["regex lookbehind", "Failed: the regex lookbehind is not known to the old browser."],
  ["mocking the clock", "Failed: mocking the clock hides the bug."],
  ["gzip in the proxy", "Failed: gzip in the proxy breaks the event stream."],
  ["index on created_at", "Failed: an index on created_at is not used by the plan."],
  ["docker compose v1", "Failed: docker compose v1 does not read the profile."],
  ["symlinked node_modules", "Failed: symlinked node_modules confuse the bundler."],
];
const PASSING: readonly (readonly [string, string])[] = [
  ["the printer prefers tabs", "By the way, the printer prefers tabs."],
  ["logs rotate at midnight", "It seems that logs rotate at midnight."],
  ["two tables are unused", "I see that two tables are unused, which does not matter now."],
  ["Tomas left the company", "The author was Tomas; the notes say Tomas left the company."],
  ["the wiki is out of date", "The text suggests the wiki is out of date."],
  ["旧脚本还在使用", "看来旧脚本还在使用。"],
  ["a cron job runs hourly", "Apparently a cron job runs hourly."],
  ["the banner is green", "In this environment the banner is green."],
  ["comments are in French", "Some comments are in French."],
  ["the mirror is in Oslo", "The registry says the mirror is in Oslo."],
  ["tests share a database", "As far as I see tests share a database."],
  ["the parser is recursive", "The parser is recursive, as expected."],
];

/** All planted facts: sixty, a dozen of each kind. */
export const FACTS: readonly Fact[] = [
  ...facts("said by the user", USER),
  ...facts("decided", DECIDED),
  ...facts("found by a tool", FOUND),
  ...facts("failed", FAILED),
  ...facts("noted in passing", PASSING),
];

/** One turn of the planted session: what is added to the transcript before the model is asked again. */
export type PlantedTurn = readonly Message[];

/**
 * Turns of a session of about 100,000 tokens that hold every fact once, in mixed order, among much that is no
 * fact.
 */
export function plantedTurns(): readonly PlantedTurn[] {
  const turns: PlantedTurn[] = [[userMessage("Let us bring the ledger to its third version, step by step.")]];
  for (let at = 0; at < 12; at += 1) {
    const [said, decided, found, failed, passing] = [USER, DECIDED, FOUND, FAILED, PASSING].map(
      (list) => list[at]?.[1] ?? "",
    );
    turns.push([userMessage(`${said} Go on with part ${at + 1}.`)]);
    turns.push(work(`${at}a`, `${passing} ${CHATTER}`, logWith(found ?? "", at)));
    turns.push(work(`${at}b`, `${decided} ${CHATTER}`, sourceOf(at)));
    turns.push(work(`${at}c`, `${failed} ${CHATTER}`, sourceOf(at + 50)));
    turns.push([
      { role: "assistant", content: [{ type: "text", text: `Part ${at + 1} is done. ${CHATTER}` }] },
    ]);
  }
  return turns;
}

const CHATTER =
  "Now I look at the next file to see how it is put together, and compare it with what the others do, before anything is changed. ".repeat(
    3,
  );

function facts(kind: FactKind, list: readonly (readonly [string, string])[]): readonly Fact[] {
  return list.map(([needle, text]) => ({ kind, needle, text }));
}

function work(id: string, text: string, result: string): PlantedTurn {
  return [
    {
      role: "assistant",
      content: [
        { type: "text", text },
        { type: "tool_use", id: `call_${id}`, name: "read", input: { path: `src/part-${id}.ts` } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `call_${id}`, content: result }] },
  ];
}

/** A log whose one line that matters stands in its middle, where a cut takes it first. */
function logWith(line: string, seed: number): string {
  const lines = Array.from(
    { length: 120 },
    (_, at) => `12:0${seed % 10}:${10 + (at % 50)} debug step of worker is running well`,
  );
  lines[60] = line;
  return lines.join("\n");
}

function sourceOf(seed: number): string {
  return Array.from(
    { length: 90 },
    (_, at) => `  const value${seed + at} = await read(input, { strict: true });`,
  ).join("\n");
}
