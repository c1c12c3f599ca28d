import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { WireName } from "../../src/core/message/message.ts";
import { says } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import type { RecordedRequest, ServerAnswer, ServerStep } from "../../src/testing/server-step.ts";
import { type CommandEnd, modelServer, runCommand, startCommand, TEST_KEY } from "../e2e/command.ts";
import { checkedLines } from "../e2e/event-schema.ts";
import { tempFolder } from "../temp-folder.ts";
import type { Fault, FaultRoom } from "./fault.ts";

/**
 * Tries a fault on the built command: one run in which it happens, and a second one that goes on with the
 * session. Beside what the fault itself says: exactly one result line that agrees with the exit code, one
 * line on standard error for a failure, no key anywhere, no process left over, and no request that a strict
 * provider would refuse.
 */
export async function tryFault(fault: Fault, wire: WireName): Promise<void> {
  const room: FaultRoom = { cwd: tempFolder(), state: tempFolder(), home: tempFolder() };
  const other = await modelServer([]);
  const play: { steps: readonly ServerStep[]; resumed: boolean } = { steps: [], resumed: false };
  const server = await modelServer((request, index) =>
    play.resumed ? says("resumed") : answerOf(play.steps, { request, index }),
  );
  const place = { url: server.url, otherUrl: other.url, room };
  play.steps = fault.steps(wire, place);
  const env = { HOME: room.home, XDG_STATE_HOME: room.state, ...wireEnv(wire, server) };
  await fault.prepare?.(room);
  const words = [
    "-p",
    "--yolo",
    "--json",
    ...(fault.undo === true ? [] : ["--no-undo"]),
    ...(fault.args ?? []),
    "go",
  ];
  const running = startCommand(words, {
    cwd: room.cwd,
    env: { ...env, ...fault.env?.(wire, place) },
    ...(fault.shell === undefined ? {} : { shell: fault.shell }),
  });
  await fault.meanwhile?.(running, { room, server });
  const first = await running.end;
  expectEnd(fault, first, { room, server, other });
  await fault.check?.(room, first);
  if (fault.resumes !== false) {
    await fault.mend?.(room);
    const asked = server.requests.length;
    play.resumed = true;
    const second = await runCommand(["-p", "-c", "go on"], { cwd: room.cwd, env });
    expect({ code: second.code, stdout: second.stdout, stderr: second.stderr }).toMatchObject({
      code: 0,
      stdout: "resumed\n",
    });
    expect(server.requests.slice(asked)).toHaveLength(fault.resumedWith ?? 1);
    expectNoKey([second], room.state);
    await fault.afterwards?.(room);
  }
  expect(server.requests.flatMap(({ violations }) => violations)).toEqual([]);
  expectNoKey([first], room.state);
}

interface FaultScene {
  readonly room: FaultRoom;
  readonly server: ScriptedServer;
  readonly other: ScriptedServer;
}

function expectEnd(fault: Fault, end: CommandEnd, { room, server, other }: FaultScene): void {
  const result = fault.resultLine === false ? undefined : checkedLines(end.stdout).at(-1);
  const effects = join(room.cwd, "effects");
  const isFailure = fault.code !== 0;
  expect({
    code: end.code,
    requests: fault.requests === "any" ? "any" : server.requests.length,
    effects: existsSync(effects) ? readFileSync(effects, "utf8").split("\n").length - 1 : 0,
    isError: result === undefined ? isFailure : result.type === "result" && result.is_error,
    stderr: isFailure ? end.stderr.slice(0, 2_000) : "",
    other: other.requests,
  }).toEqual({
    code: fault.code,
    requests: fault.requests,
    effects: fault.effects ?? 0,
    isError: isFailure,
    stderr:
      isFailure && fault.silent !== true
        ? expect.stringMatching(new RegExp(`^(?:nano-agent: .*\\n){${(fault.notes ?? 0) + 1}}$`))
        : "",
    other: [],
  });
  expect(end.stderr).not.toContain("defect");
  expectAllWords(fault, { stderr: end.stderr, requests: server.requests, text: textOf(result) });
}

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
  const told = JSON.stringify(seen.requests.slice(1).map(({ body }) => spokenIn(body)));
  for (const words of fault.told ?? []) expectWords(told, words);
  if (fault.says !== undefined) expectWords(seen.text, fault.says);
}

/** A request without what it says of the tools. */
function spokenIn(body: unknown): unknown {
  return typeof body === "object" && body !== null ? { ...body, tools: undefined } : body;
}

function expectWords(text: string, words: string | RegExp): void {
  const holds = typeof words === "string" ? text.includes(words) : words.test(text);
  // Whole requests would drown what is missing.
  expect(holds, `${String(words)} is missing in …${text.slice(-3_000)}`).toBe(true);
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
