import { expect, test } from "vitest";
import { FakeClock } from "../../testing/fake-clock.ts";
import type { CommandUse } from "../session/session-command.ts";
import { extensionCommand } from "./plugin-loaders.ts";

const clock = new FakeClock();
const aborted: string[] = [];
const never = extensionCommand(
  {
    name: "never",
    description: "Never answers",
    run: (args, { signal }) => {
      signal.addEventListener("abort", () => aborted.push(args));
      return new Promise<void>(() => undefined);
    },
  },
  { extension: "bad.ts", cwd: "/", clock },
);

function use(signal: AbortSignal): CommandUse {
  const nothing = async () => "";
  return { sessionId: "s", signal, notify: () => undefined, run: nothing, read: nothing };
}

test("a command of an extension that never answers ends with the run", async () => {
  const stop = new AbortController();
  const expanding = never.expand("one", use(stop.signal));
  stop.abort(new Error("The run was stopped."));
  await expect(expanding).rejects.toThrow("The run was stopped.");
  expect([aborted.includes("one"), clock.sleeping]).toEqual([true, 0]);
});

test("a command of an extension that never answers is given up after ten minutes", async () => {
  const expanding = never.expand("two", use(new AbortController().signal));
  await clock.untilSleeping();
  const settled = Promise.allSettled([expanding]);
  await clock.advance(600_000);
  expect(await settled).toMatchObject([
    { reason: { message: "The command /never of the extension bad.ts failed: it took longer than 600 s" } },
  ]);
  expect([aborted.includes("two"), clock.sleeping]).toEqual([true, 0]);
});
