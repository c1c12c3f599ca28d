import { expect, test } from "vitest";
import { LinkedAbort, orAborted } from "./abort.ts";

test("is aborted with its parent, with the same reason, and so is what hangs on it", () => {
  const parent = new AbortController();
  const child = new LinkedAbort(parent.signal);
  const grandchild = new LinkedAbort(child.signal);
  parent.abort("enough");
  expect([child.signal.reason, grandchild.signal.reason]).toEqual(["enough", "enough"]);
  expect(new LinkedAbort(grandchild.signal).signal.reason).toBe("enough");
});

test("is aborted alone, once, and not any more with its parent when it is unlinked", () => {
  const parent = new LinkedAbort(undefined);
  const [alone, unlinked] = [new LinkedAbort(parent.signal), new LinkedAbort(parent.signal)];
  alone.abort("first");
  unlinked.unlink();
  parent.abort("second");
  expect([alone.signal.reason, unlinked.signal.aborted]).toEqual(["first", false]);
});

test("tells those who wait, with no listener on the signal for each", async () => {
  const run = new LinkedAbort(undefined);
  let listeners = 0;
  run.signal.addEventListener = () => listeners++;
  const [answer, never] = [orAborted(Promise.resolve("there"), run.signal), new Promise(() => undefined)];
  const waits = [orAborted(never, run.signal), orAborted(never, run.signal)];
  await expect(answer).resolves.toBe("there");
  run.abort("enough");
  await expect(Promise.allSettled(waits)).resolves.toEqual([
    { status: "rejected", reason: expect.objectContaining({ code: "aborted", cause: "enough" }) },
    { status: "rejected", reason: expect.objectContaining({ code: "aborted", cause: "enough" }) },
  ]);
  expect(listeners).toBe(0);
});
