import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { place } from "./open.ts";

test("a question about a command line names every part that needs a yes, the most dangerous first", async () => {
  const command = "cd src && touch ../../p1; rm -f ../../p2";
  await using session = await place({ "src/a.txt": "x" }).open([
    calls("bash", { command }),
    says("I leave it."),
  ]);
  const asked: (readonly string[])[] = [];
  session.onQuestion((question) => {
    asked.push((question.parts ?? []).map(({ text }) => text));
    session.answer(question.id, { choice: "no" });
  });
  const { denials } = await session.send("Clean up");
  expect([asked, denials.length]).toEqual([[["rm -f ../../p2", "touch ../../p1"]], 1]);
});

test("what is no function cannot listen", async () => {
  await using session = await place({}).open([]);
  const fault = "The listener is 5; it must be a function.";
  for (const listen of ["onQuestion", "onNotice", "onChange"] as const)
    expect(() => {
      // @ts-expect-error JavaScript may pass anything
      session[listen](5);
    }).toThrow(fault);
});
