import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tempFolder } from "../temp-folder.ts";
import { hangs, type LibraryFault, odd, throws, throwsText } from "./library-fault.ts";
import { LIBRARY_FAULTS } from "./library-faults.ts";
import { playLibraryFault } from "./play-library-fault.ts";
import { isFullSweep } from "./sweep.ts";

const HOST = join(import.meta.dirname, "library-host.ts");

const TRIED = LIBRARY_FAULTS.map((fault, number) => ({ fault, number, scenario: fault.scenario })).filter(
  ({ fault }) => isFullSweep || fault.slow !== true,
);

it.each(TRIED)("$scenario", async ({ fault, number }) => {
  const path = join(tempFolder(), "s.jsonl");
  if (fault.stopReason === "process") await endsProcess(number, path);
  else await endsWith(fault, path);
  expect(isTold(await goesOn(path), fault.told)).toBe(true);
});

it.each(["pre_observe", "post_observe"] as const)(
  "a hook of `%s` that throws rejects the call of observe(), and the agent goes on",
  async (point) => {
    const agent = new Agent({
      model: new ScriptedModel([says("done")]),
      hooks: {
        [point]: throwsText,
      },
    });
    await expect(agent.observe("listen")).rejects.toThrow(`The hook "${point}" of ${point} failed: a text`);
    expect((await agent.run("go")).stopReason).toBe("completed");
  },
);

it("a hook of a class that throws ends the run like one of the agent itself", async () => {
  class Hooked extends Agent {}
  Hooked.classHooks.register("pre_acting", "odd", throws);
  const agent = new Hooked({ model: new ScriptedModel([calls("odd")]), tools: [odd(() => "ran")] });
  const { stopReason, error, messages } = await agent.run("go");
  expect([stopReason, error?.message, transcriptViolations(messages)]).toEqual([
    "error",
    'The hook "odd" of pre_acting failed: odd code threw',
    [],
  ]);
});

it("a hook of `observe` that never settles ends with its signal", async () => {
  const stop = new AbortController();
  const agent = new Agent({
    model: new ScriptedModel([says("done")]),
    hooks: { pre_observe: hangs(() => stop.abort()) },
  });
  await expect(agent.observe("listen", { signal: stop.signal })).rejects.toMatchObject({ code: "aborted" });
  expect((await agent.run("go")).stopReason).toBe("completed");
});

async function endsWith(fault: LibraryFault, path: string): Promise<void> {
  const { result, events } = await playLibraryFault(fault, path);
  expect({ stopReason: result.stopReason, error: result.error?.message }).toEqual({
    stopReason: fault.stopReason,
    error: fault.error === undefined ? undefined : expect.stringMatching(fault.error),
  });
  expect(events.filter(({ type }) => type === "done")).toHaveLength(1);
  expect(events.at(-1)?.type).toBe("done");
  expect(transcriptViolations(result.messages)).toEqual([]);
  if (fault.warns !== undefined)
    expect(events.flatMap((event) => (event.type === "warning" ? [event.message] : [])).join("\n")).toMatch(
      fault.warns,
    );
}

async function endsProcess(number: number, path: string): Promise<void> {
  const child = spawn(process.execPath, [HOST, String(number), path], { stdio: "ignore" });
  const [code] = await once(child, "exit");
  expect(code).not.toBe(0);
}

/** Goes on with a session as its model sees it: every call has one result, and the text can be sent. */
async function goesOn(path: string): Promise<string> {
  const journal = await JsonlJournal.open(path);
  const model = new ScriptedModel([says("on")]);
  const agent = new Agent({ model, journal });
  expect((await agent.run("go on")).stopReason).toBe("completed");
  await journal.close();
  const messages = model.requests[0]?.messages ?? [];
  expect(transcriptViolations(messages)).toEqual([]);
  const text = JSON.stringify(messages);
  expect(text.isWellFormed()).toBe(true);
  return text;
}

function isTold(text: string, told: LibraryFault["told"]): boolean {
  if (told === undefined) return true;
  return typeof told === "string" ? text.includes(told) : told.test(text);
}
