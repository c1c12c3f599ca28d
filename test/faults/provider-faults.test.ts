import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FAULT_TABLE_FILE, withFaultTable } from "../../scripts/gen-fault-table.ts";
import { says } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import type { RecordedRequest, ServerAnswer, ServerStep, WireName } from "../../src/testing/server-step.ts";
import { type CommandEnd, modelServer, runCommand, TEST_KEY } from "../e2e/command.ts";
import { checkedLines } from "../e2e/event-schema.ts";
import { tempFolder } from "../temp-folder.ts";
import { type Fault, WIRES } from "./fault.ts";
import { PROVIDER_FAULTS } from "./provider-faults.ts";
import { isFullSweep } from "./sweep.ts";

const CASES = PROVIDER_FAULTS.flatMap((fault) => {
  const wires = fault.wires ?? WIRES;
  return isFullSweep
    ? wires.map((wire) => ({ fault, wire, scenario: fault.scenario }))
    : fault.sampled === true
      ? wires.slice(0, 1).map((wire) => ({ fault, wire, scenario: fault.scenario }))
      : [];
});

it("stands in the document as it is tried", () => {
  const document = readFileSync(FAULT_TABLE_FILE, "utf8");
  expect(document, "run node scripts/gen-fault-table.ts").toBe(withFaultTable(document));
});

it.each(CASES)("$wire: $scenario", { timeout: 120_000 }, async ({ fault, wire }) => {
  const other = await modelServer([]);
  const room = { cwd: tempFolder(), state: tempFolder(), home: tempFolder() };
  const play: { steps: readonly ServerStep[]; resumed: boolean } = { steps: [], resumed: false };
  const server = await modelServer((request, index) =>
    play.resumed ? says("resumed") : answerOf(play.steps, { request, index }),
  );
  const place = { url: server.url, otherUrl: other.url };
  play.steps = fault.steps(wire, place);
  const env = { HOME: room.home, XDG_STATE_HOME: room.state, ...wireEnv(wire, server) };
  const first = await runCommand(["-p", "--yolo", "--json", "--no-undo", ...(fault.args ?? []), "go"], {
    cwd: room.cwd,
    env: { ...env, ...fault.env?.(wire, place) },
  });
  const result = checkedLines(first.stdout).at(-1);
  const asked = server.requests.length;
  const effects = join(room.cwd, "effects");
  expect({
    code: first.code,
    requests: fault.requests === "any" ? "any" : asked,
    effects: existsSync(effects) ? readFileSync(effects, "utf8").split("\n").length - 1 : 0,
    isError: result?.type === "result" && result.is_error,
    stderr: fault.code === 0 ? "" : first.stderr.slice(0, 2_000),
    other: other.requests,
  }).toEqual({
    code: fault.code,
    requests: fault.requests,
    effects: fault.effects ?? 0,
    isError: fault.code !== 0,
    stderr:
      fault.code === 0
        ? ""
        : expect.stringMatching(new RegExp(`^(?:nano-agent: .*\\n){${(fault.notes ?? 0) + 1}}$`)),
    other: [],
  });
  expectAllWords(fault, { stderr: first.stderr, requests: server.requests, text: textOf(result) });

  play.resumed = true;
  const second = await runCommand(["-p", "-c", "go on"], { cwd: room.cwd, env });
  expect({ code: second.code, stdout: second.stdout, stderr: second.stderr }).toMatchObject({
    code: 0,
    stdout: "resumed\n",
  });
  expect(server.requests.slice(asked)).toHaveLength(fault.resumedWith ?? 1);
  expect(server.requests.flatMap(({ violations }) => violations)).toEqual([]);
  expectNoKey([first, second], room.state);
});

function answerOf(
  steps: readonly ServerStep[],
  { request, index }: { readonly request: RecordedRequest; readonly index: number },
): ServerAnswer | Promise<ServerAnswer> {
  const step = steps[Math.min(index, steps.length - 1)] ?? says("no step");
  return typeof step === "function" ? step(request, index) : step;
}

function wireEnv(wire: WireName, server: ScriptedServer): Readonly<Record<string, string>> {
  const [model, provider, path] = {
    openai_chat: ["openai/gpt-5", "OPENAI", "/v1"],
    openai_responses: ["openai-responses/gpt-5", "OPENAI", "/v1"],
    anthropic: ["anthropic/claude-sonnet-4-5", "ANTHROPIC", ""],
    google: ["google/gemini-2.5-flash", "GEMINI", "/v1beta"],
  }[wire] as [string, string, string];
  return {
    NANO_AGENT_MODEL: model,
    NANO_AGENT_MAX_RETRIES: "1",
    [`${provider}_API_KEY`]: TEST_KEY,
    [`${provider}_BASE_URL`]: `${server.url}${path}`,
  };
}

function textOf(result: ReturnType<typeof checkedLines>[number] | undefined): string {
  return result?.type === "result" ? (result.result ?? "") : "";
}

function expectAllWords(
  fault: Fault,
  seen: {
    readonly stderr: string;
    readonly requests: readonly RecordedRequest[];
    readonly text: string;
  },
): void {
  for (const words of fault.stderr ?? []) expectWords(seen.stderr, words);
  const told = JSON.stringify(seen.requests.slice(1).map(({ body }) => body));
  for (const words of fault.told ?? []) expectWords(told, words);
  if (fault.says !== undefined) expectWords(seen.text, fault.says);
}

function expectWords(text: string, words: string | RegExp): void {
  if (typeof words === "string") expect(text).toContain(words);
  else expect(text).toMatch(words);
}

function expectNoKey(ends: readonly CommandEnd[], state: string): void {
  const printed = ends.map(({ stdout, stderr }) => `${stdout}${stderr}`).join("");
  expect(printed.includes(TEST_KEY)).toBe(false);
  for (const file of filesBelow(state)) expect(readFileSync(file).includes(TEST_KEY)).toBe(false);
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
