import fc from "fast-check";
import { expect, test } from "vitest";
import type { StopReason } from "../core/base/stop-reason.ts";
import { exitCodeOfRun, type RunEnding } from "./exit-code.ts";

const CLEAN = { denials: 0, missesOutput: false };

test.each([
  [{ stopReason: "completed" }, 0],
  [{ stopReason: "completed", denials: 1 }, 3],
  [{ stopReason: "completed", missesOutput: true }, 1],
  [{ stopReason: "structured_output" }, 0],
  [{ stopReason: "denied" }, 3],
  [{ stopReason: "max_iterations", denials: 2 }, 53],
  [{ stopReason: "budget", limit: "usd" }, 55],
  [{ stopReason: "budget", limit: "wall_time" }, 124],
  [{ stopReason: "loop_detected" }, 56],
  [{ stopReason: "error", errorCode: "network" }, 1],
  [{ stopReason: "error", errorCode: "authentication" }, 41],
  [{ stopReason: "error", errorCode: "unknown_model" }, 2],
  [{ stopReason: "output_limit" }, 1],
  [{ stopReason: "refusal" }, 1],
  [{ stopReason: "awaiting_external" }, 1],
] satisfies readonly (readonly [Partial<RunEnding> & Pick<RunEnding, "stopReason">, number])[])(
  "%j is exit code %i",
  (ending, code) => {
    expect(exitCodeOfRun({ ...CLEAN, ...ending })).toBe(code);
  },
);

test("only a finished run without a refused call is 0", () => {
  const done: readonly StopReason[] = ["completed", "finish_tool", "structured_output"];
  const others: readonly StopReason[] = [
    "max_iterations",
    "budget",
    "aborted",
    "denied",
    "output_limit",
    "refusal",
    "error",
  ];
  fc.assert(
    fc.property(fc.constantFrom(...done, ...others), fc.nat(2), (stopReason, denials) => {
      const code = exitCodeOfRun({ stopReason, denials, missesOutput: false });
      expect(code === 0).toBe(done.includes(stopReason) && denials === 0);
    }),
  );
});
