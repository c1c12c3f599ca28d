import { createServer } from "node:http";
import { expect, test } from "vitest";
import { onLoopback } from "../../test/on-loopback.ts";
import { type FetchHandler, fetchListener } from "./fetch-listener.ts";

const BODY = "x".repeat(2_000_000);

function serving(handler: FetchHandler): Promise<string> {
  return onLoopback(createServer(fetchListener(handler)));
}

test("who sends a long body that nobody reads gets the answer, again and again", async () => {
  const origin = await serving(async () => new Response("no", { status: 401 }));
  const answers: string[] = [];
  for (let count = 0; count < 20; count++) {
    const response = await fetch(origin, { method: "POST", body: BODY });
    answers.push(`${response.status} ${await response.text()} ${response.headers.get("connection")}`);
  }
  expect(new Set(answers)).toEqual(new Set(["401 no keep-alive"]));
});

test("a body that is read comes whole, and one of which a part is read is answered", async () => {
  const origin = await serving(async (request) => {
    if (request.url.endsWith("/all")) return new Response(String((await request.text()).length));
    const reader = request.body?.getReader();
    await reader?.read();
    return new Response("enough");
  });
  const whole = await fetch(`${origin}/all`, { method: "POST", body: BODY });
  expect([await whole.text(), whole.headers.get("connection")]).toEqual(["2000000", "keep-alive"]);
  const begun = await fetch(`${origin}/part`, { method: "POST", body: "short" });
  expect(await begun.text()).toBe("enough");
});
