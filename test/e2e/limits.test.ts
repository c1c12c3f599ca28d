import { expect, test } from "vitest";
import type { Usage } from "../../src/core/message/message.ts";
import { calls, finishes, type ScriptAnswer, type ScriptPiece, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { checkedLines } from "./event-schema.ts";
import { type SessionPlace, sessionPlace } from "./session-place.ts";

/** An answer that costs $0.006 with the model of these tests. */
const COSTLY: Usage = { inputTokens: 4_000, outputTokens: 100 };

function costing(usage: Usage, piece: ScriptPiece): ScriptAnswer {
  return [piece, finishes(piece.type === "calls" ? "tool_use" : "stop", usage)];
}

async function spentOf(place: SessionPlace): Promise<unknown> {
  const end = await place.run(["sessions", "show", "--stats", "--json"]);
  return (JSON.parse(end.stdout) as { readonly total: { readonly cost_usd: unknown } }).total.cost_usd;
}

test("going back to an earlier step gives no money back", async () => {
  const place = sessionPlace();
  const server = await modelServer([
    costing(COSTLY, says("one")),
    costing(COSTLY, says("two")),
    says("three"),
  ]);
  await place.run(["-p", "first"], server);
  await place.run(["-p", "-c", "second"], server);
  const back = await place.run(["-p", "-c", "--from", "2", "--max-budget-usd", "0.013", "again"], server);
  expect([back.code, server.requests.length]).toEqual([55, 2]);
  expect(back.stderr).toContain("$0.012 of $0.013 is spent in this session");
  expect(await spentOf(place)).toBeCloseTo(0.012, 9);
  expect((await place.run(["-p", "-c", "--max-budget-usd", "1", "again"], server)).stdout).toBe("three\n");
});

test("what a subagent spends counts for the whole, which is overspent by one request at most", async () => {
  const place = sessionPlace();
  const server = await modelServer([
    costing(COSTLY, calls("task", { agent: "explore", prompt: "Look." })),
    costing(COSTLY, calls("read", { path: "." })),
    costing(COSTLY, calls("glob", { pattern: "*" })),
    costing(COSTLY, says("looked")),
  ]);
  const end = await place.run(["-p", "--json", "--max-budget-usd", "0.014", "go"], server);
  const result = checkedLines(end.stdout).at(-1);
  expect([end.code, server.requests.length, result]).toMatchObject([
    55,
    2,
    { subtype: "error_max_budget_usd", is_error: true },
  ]);
  expect(await spentOf(place)).toBeCloseTo(0.012, 9);
  const again = await place.run(["-p", "-c", "--max-budget-usd", "0.014", "go on"], server);
  expect([again.code, server.requests.length]).toEqual([55, 2]);
});

test("tokens from the cache are charged at their own price", async () => {
  const place = sessionPlace();
  const usage = { inputTokens: 10_000, outputTokens: 100, cacheReadTokens: 8_000 };
  const server = await modelServer([costing(usage, says("done"))]);
  const end = await place.run(["-p", "--json", "go"], server);
  const [result] = checkedLines(end.stdout).slice(-1);
  // $1.25, $0.125 and $10 for a million tokens of plain input, cached input and output.
  const cost = (2_000 * 1.25 + 8_000 * 0.125 + 100 * 10) / 1_000_000;
  expect(result?.type === "result" ? result.total_cost_usd : undefined).toBeCloseTo(cost, 9);
});

test("2: a money limit and a model whose price nobody knows, before any request", async () => {
  const server = await modelServer([]);
  const args = ["-p", "-m", "openai/no-such-model-of-ours", "--max-budget-usd", "1", "go"];
  const end = await runCommand(args, { env: serverEnv(server) });
  expect([end.code, server.requests.length]).toEqual([2, 0]);
  expect(end.stderr).toContain("price");
});

test.each([
  ["--max-turns", "0"],
  ["--max-turns", "-1"],
  ["--max-turns", "NaN"],
  ["--max-turns", "1e999"],
  ["--max-budget-usd", "0"],
  ["--max-budget-usd", "-1"],
  ["--max-budget-usd", "NaN"],
  ["--max-budget-usd", "1e999"],
  ["--max-wall-time", "0s"],
  ["--max-wall-time", "-1s"],
  ["--max-wall-time", "99999999h"],
])("2: %s %s, before any request", async (flag, value) => {
  const end = await runCommand(["-p", `${flag}=${value}`, "go"]);
  expect([end.code, end.stdout]).toEqual([2, ""]);
  expect(end.stderr).toMatch(new RegExp(`^nano-agent: ${flag} "${value}": write .*\\n$`));
});

test.each([
  '"maxTurns": 0',
  '"maxTurns": 1.5',
  '"maxBudgetUsd": -1',
  '"maxBudgetUsd": 1e999',
  '"maxWallTime": "99999999h"',
])("52: { %s } in a configuration", async (setting) => {
  const cwd = tempFolder({ "nano-agent.json": `{ ${setting} }` });
  const end = await runCommand(["-p", "go"], { cwd });
  expect([end.code, end.stdout]).toEqual([52, ""]);
});
