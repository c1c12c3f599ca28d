import { expect, test } from "vitest";
import { calls, says, thinks, waits } from "../../src/testing/script.ts";
import { place } from "./open.ts";

test("a background command that ends while nobody asks for it is no longer shown as running", async () => {
  const { open } = place();
  await using session = await open(
    [calls("bash", { command: "read line < fifo", background: true }), says("It runs.")],
    { permissionMode: "bypassPermissions" },
  );
  await session.shell("mkfifo fifo");
  await session.send("begin");
  const { jobs } = session.view;
  const ended = Promise.withResolvers<void>();
  session.onChange(() => {
    if (session.view.jobs.every(({ state }) => state === "ended")) ended.resolve();
  });
  await session.shell("echo > fifo");
  await ended.promise;
  const job = { id: "job_1", command: "read line < fifo" };
  expect([jobs, session.view.jobs]).toEqual([
    [{ ...job, state: "running" }],
    [{ ...job, state: "ended", exitCode: 0 }],
  ]);
});

test("of several texts of a stopped answer only the last one broke off", async () => {
  const { open } = place();
  const whole = ["One.", "Two.", "Three."];
  const begun = Promise.withResolvers<void>();
  await using session = await open([
    [
      ...whole.flatMap((text) => [says(text), thinks("Hm.")]),
      says("Four"),
      waits(new Promise(() => undefined)),
    ],
  ]);
  session.onEvent((event) => {
    if (event.type === "text_delta" && event.text.includes("Four")) begun.resolve();
  });
  const run = session.send("first");
  await begun.promise;
  await session.stop();
  await run;
  const answers = session.view.items.flatMap((item) =>
    item.type === "answer" ? [[item.text, item.state]] : [],
  );
  expect(answers).toEqual([...whole.map((text) => [text, "done"]), ["Four", "interrupted"]]);
});
