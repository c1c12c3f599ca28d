import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withVariables } from "../hermetic-command.ts";

test("judging a line four times as long takes about four times the steps, whatever it is made of", () => {
  const script = join(import.meta.dirname, "count-work.ts");
  const options = { encoding: "utf8", env: withVariables({}) } as const;
  const work = JSON.parse(execFileSync(process.execPath, [script], options)) as Record<
    string,
    [number, number]
  >;
  expect(Object.keys(work).length).toBeGreaterThan(15);
  // Of work that grows with the square of the length there would be sixteen times as much.
  const tooMuch = Object.entries(work).filter(([, [small, large]]) => small === 0 || large / small > 6);
  expect(tooMuch).toEqual([]);
});
