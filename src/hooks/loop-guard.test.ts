import fc from "fast-check";
import { expect, test } from "vitest";
import type { ToolResultEntry, ToolStatus } from "../core/agent/entries.ts";
import type { ToolUseBlock } from "../core/message/message.ts";
import {
  LoopGuard,
  type LoopGuardSettings,
  type LoopVerdict,
  loopGuardSettings,
  thresholdsFor,
} from "./loop-guard.ts";

const SETTINGS: LoopGuardSettings = { warnAt: 3, stopAt: 5, window: 12 };

interface Step {
  readonly name?: string;
  readonly input?: { readonly [key: string]: unknown };
  readonly said?: string;
  readonly status?: ToolStatus;
  readonly fingerprint?: string;
}

/** A guard with answers of one or more calls fed to it; each answer gives the verdict after it. */
class WatchedGuard {
  readonly guard = new LoopGuard();
  #count = 0;

  answer(steps: readonly Step[], bounded = false): LoopVerdict["type"] | undefined {
    const calls = steps.map(
      ({ name = "read", input = {} }): ToolUseBlock => ({
        type: "tool_use",
        id: `call_${this.#count++}`,
        name,
        input,
      }),
    );
    this.guard.startAnswer(calls);
    calls.forEach((call, index) => {
      this.guard.addResult(resultEntry(call, steps[index] ?? {}));
    });
    return this.guard.judge(SETTINGS, { bounded })?.type;
  }
}

function resultEntry(
  call: ToolUseBlock,
  { said = "text", status = "ok", fingerprint }: Step,
): ToolResultEntry {
  return {
    type: "tool_result",
    id: "entry",
    parent: null,
    time: 0,
    callId: call.id,
    name: call.name,
    status,
    result: { type: "tool_result", tool_use_id: call.id, content: said },
    ...(fingerprint === undefined ? {} : { fingerprint }),
    durationMs: 0,
  };
}

const verdicts = (steps: readonly Step[]): readonly (string | undefined)[] => {
  const watched = new WatchedGuard();
  return steps.map((step) => watched.answer([step]));
};

const times = (count: number, step: Step): Step[] => Array.from({ length: count }, () => step);

test("the same call with the same result is warned of at three and stopped at five", () => {
  expect(verdicts(times(5, { input: { path: "a" } }))).toEqual([
    undefined,
    undefined,
    "warn",
    undefined,
    "stop",
  ]);
});

test("the order of keys makes no difference, other values do", () => {
  const [left, right] = [{ input: { a: 1, b: [2] } }, { input: { b: [2], a: 1 } }];
  expect(verdicts([left, right, left])).toEqual([undefined, undefined, "warn"]);
  expect(verdicts([left, { input: { a: 1, b: [3] } }, left])).toEqual([undefined, undefined, undefined]);
});

test("another result, another outcome and a call in between begin anew", () => {
  const quiet = [undefined, undefined, undefined, undefined];
  expect(verdicts([{}, {}, { said: "other" }, {}])).toEqual(quiet);
  expect(verdicts([{}, {}, { status: "error" }, {}])).toEqual(quiet);
  expect(verdicts([{}, {}, { name: "edit", said: "1 edit" }, {}])).toEqual(quiet);
});

test("a write that changes something in between lets the same check run again and again", () => {
  const rounds = Array.from({ length: 10 }, (_, n): Step[] => [
    { name: "edit", input: { n }, said: "1 edit" },
    { name: "bash", input: { command: "npm test" }, said: "1 failed" },
  ]).flat();
  expect(new Set(verdicts(rounds))).toEqual(new Set([undefined]));
});

test("results that differ only in what they say of time are told apart by their fingerprint", () => {
  const timed = [1, 2, 3].map((n) => ({ said: `done in ${n} ms`, fingerprint: "same" }));
  expect(verdicts(timed)).toEqual([undefined, undefined, "warn"]);
});

test("a warning comes once for each streak", () => {
  expect(verdicts([...times(4, {}), { said: "new" }, ...times(3, {})])).toEqual([
    undefined,
    undefined,
    "warn",
    undefined,
    undefined,
    undefined,
    undefined,
    "warn",
  ]);
});

test("equal calls in one answer count, but the model is warned before it is stopped", () => {
  const watched = new WatchedGuard();
  expect([watched.answer(times(9, {})), watched.answer(times(1, {}))]).toEqual(["warn", "stop"]);
});

test("a run of its own is warned of its own, with the streak it takes over", () => {
  const watched = new WatchedGuard();
  for (let n = 0; n < 4; n++) watched.answer([{}]);
  watched.guard.startRun();
  expect([watched.answer([{}]), watched.answer([{}])]).toEqual(["warn", "stop"]);
});

test("results count in the order of the calls, whichever came first", () => {
  const guard = new LoopGuard();
  const call = (id: string, name: string): ToolUseBlock => ({ type: "tool_use", id, name, input: {} });
  for (let n = 0; n < 3; n++) {
    const [first, second] = [call(`a${n}`, "read"), call(`b${n}`, "grep")];
    guard.startAnswer([first, second]);
    for (const each of n === 1 ? [second, first] : [first, second]) guard.addResult(resultEntry(each, {}));
  }
  expect(guard.judge(SETTINGS, { bounded: false })?.circle).toEqual({ tools: ["read", "grep"], calls: 6 });
});

test("calls that were aborted prove nothing", () => {
  expect(verdicts([{}, {}, { status: "aborted" }, {}, {}])).toEqual(Array(5).fill(undefined));
});

test("bare acknowledgements are work where something else bounds the run", () => {
  const watched = new WatchedGuard();
  const press = { name: "press", said: "OK." };
  const bounded = Array.from({ length: 8 }, () => watched.answer([press], true));
  expect([new Set(bounded), watched.answer([press]), watched.answer([press])]).toEqual([
    new Set([undefined]),
    "warn",
    "stop",
  ]);
});

test("streams of calls whose results change are never stopped", () => {
  const step = fc.record({
    name: fc.constantFrom("read", "bash", "job"),
    input: fc.record({ path: fc.constantFrom("a", "b") }),
  });
  fc.assert(
    fc.property(fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { maxLength: 60 }), (answers) => {
      const watched = new WatchedGuard();
      let tick = 0;
      for (const steps of answers)
        expect(watched.answer(steps.map((each) => ({ ...each, said: `tick ${tick++}` })))).toBe(undefined);
    }),
  );
});

/** Calls after which a guard stops a stream; undefined when it never does. */
function stopsAfter(steps: readonly Step[], settings: LoopGuardSettings): number | undefined {
  const guard = new LoopGuard();
  for (const [index, step] of steps.entries()) {
    const call: ToolUseBlock = { type: "tool_use", id: `c${index}`, name: step.name ?? "read", input: {} };
    guard.startAnswer([call]);
    guard.addResult(resultEntry(call, step));
    if (guard.judge(settings, { bounded: false })?.type === "stop") return index + 1;
  }
  return undefined;
}

test("a cycle of at most four calls is stopped by the documented count, after whatever came before", () => {
  const step = fc.record({ name: fc.constantFrom("read", "bash"), said: fc.constantFrom("x", "y", "z") });
  const settings = fc
    .record({ warnAt: fc.integer({ min: 2, max: 6 }), more: fc.integer({ min: 1, max: 5 }) })
    .map(({ warnAt, more }) => ({ warnAt, stopAt: warnAt + more, window: 12 }));
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 20 }),
      fc.array(step, { minLength: 1, maxLength: 4 }),
      settings,
      (before, cycle, chosen) => {
        const circling = Array.from({ length: 13 }, () => cycle).flat();
        const limit = Math.max(chosen.stopAt, ...[2, 3, 4].map((p) => thresholdsFor(p, chosen).stopAt));
        expect(stopsAfter([...before, ...circling], chosen)).toBeLessThanOrEqual(before.length + limit);
      },
    ),
  );
});

test("figures that make no guard are refused", () => {
  expect([loopGuardSettings({}), loopGuardSettings({ stopAt: 3 })]).toEqual([
    SETTINGS,
    { warnAt: 2, stopAt: 3, window: 12 },
  ]);
  expect(() => loopGuardSettings({ warnAt: 5 })).toThrow("the model must be warned before it is stopped");
  expect(() => loopGuardSettings({ stopAt: 1.5 })).toThrow("loopGuard.stopAt is 1.5");
});
