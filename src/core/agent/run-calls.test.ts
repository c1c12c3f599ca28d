import fc from "fast-check";
import { expect, test } from "vitest";
import type { ToolAccess } from "../tool/tool.ts";
import { Scheduler } from "./run-calls.ts";

/** Runs tasks that each take some turns of the event loop; logs begin and end. */
async function trace(
  accesses: readonly ToolAccess[],
  limit: number,
  turns: (at: number) => number,
): Promise<string[]> {
  const log: string[] = [];
  const scheduler = new Scheduler(limit);
  await Promise.all(
    accesses.map((access, at) =>
      scheduler.run(access, async () => {
        log.push(`+${at}`);
        for (let turn = 0; turn < turns(at); turn++) await Promise.resolve();
        log.push(`-${at}`);
      }),
    ),
  );
  return log;
}

test("calls that touch nothing in common overlap", async () => {
  expect(await trace(["none", { write: ["a"] }, { write: ["b"] }], 10, () => 3)).toEqual([
    "+0",
    "+1",
    "+2",
    "-0",
    "-1",
    "-2",
  ]);
});

test("two writes of one file run one after the other, in call order", async () => {
  expect(await trace([{ write: ["a"] }, { write: ["a"] }], 10, (at) => 5 - at)).toEqual([
    "+0",
    "-0",
    "+1",
    "-1",
  ]);
});

test("an exclusive call runs alone", async () => {
  expect(await trace(["none", "exclusive", "none"], 10, () => 2)).toEqual([
    "+0",
    "-0",
    "+1",
    "-1",
    "+2",
    "-2",
  ]);
});

test("a limit is kept, in call order", async () => {
  expect(await trace(["none", "none", "none"], 1, () => 2)).toEqual(["+0", "-0", "+1", "-1", "+2", "-2"]);
});

const key = fc.constantFrom("a", "b", "c");
const access: fc.Arbitrary<ToolAccess> = fc.oneof(
  fc.constantFrom<ToolAccess>("none", "exclusive", "read_all"),
  fc.record({ read: fc.array(key, { maxLength: 2 }), write: fc.array(key, { maxLength: 2 }) }),
);

function conflict(left: ToolAccess, right: ToolAccess): boolean {
  if (left === "exclusive" || right === "exclusive") return true;
  const writes = (one: ToolAccess): readonly string[] => (typeof one === "string" ? [] : (one.write ?? []));
  const touches = (one: ToolAccess, resource: string): boolean =>
    one === "read_all" ||
    (typeof one !== "string" && [...(one.read ?? []), ...(one.write ?? [])].includes(resource));
  return writes(left).some((w) => touches(right, w)) || writes(right).some((w) => touches(left, w));
}

test("whatever is asked for: all run once, conflicts never overlap and keep their order, the limit holds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(access, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.nat(50),
      async (list, limit, seed) => {
        const log = await trace(list, limit, (at) => (at * 7 + seed) % 5);
        const begun = list.map((_, at) => log.indexOf(`+${at}`));
        const ended = list.map((_, at) => log.indexOf(`-${at}`));
        expect(log).toHaveLength(list.length * 2);
        let running = 0;
        for (const line of log) {
          running += line.startsWith("+") ? 1 : -1;
          expect(running).toBeLessThanOrEqual(limit);
        }
        list.forEach((left, i) => {
          list.forEach((right, j) => {
            if (i < j && conflict(left, right)) expect(ended[i]).toBeLessThan(begun[j] as number);
          });
        });
      },
    ),
    { numRuns: 300 },
  );
});

test("a task that fails does not hold up those behind it", async () => {
  const scheduler = new Scheduler(1);
  const failing = scheduler.run("exclusive", () => Promise.reject(new Error("broken")));
  const next = scheduler.run("exclusive", async () => "fine");
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("fine");
});
