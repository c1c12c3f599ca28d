import { expect, it } from "vitest";
import { userMessage } from "../core/message/message.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { says } from "../testing/script.ts";
import { startScriptedServer } from "../testing/scripted-server.ts";
import { resolveModel } from "./resolve-model.ts";

/** The text of an answer or the error, and how long it took; waits of retries pass at once. */
async function outcome(
  name: string,
  baseUrl: string,
  clock: FakeClock,
): Promise<() => Promise<readonly unknown[]>> {
  const model = resolveModel(name, { baseUrl, clock });
  return async () => {
    const startedAt = clock.elapsed();
    const said: unknown[] = [];
    try {
      for await (const part of model.stream({ messages: [userMessage("hi")] })) {
        if (part.type === "text_delta") said.push(part.text);
        if (part.type === "retry") void clock.untilSleeping().then(() => clock.advance(part.delayMs));
      }
    } catch (error) {
      said.push(error);
    }
    return [clock.elapsed() - startedAt, ...said];
  };
}

it("a host that has never answered is given up within 3 s, with what to check", async () => {
  const server = await startScriptedServer([]);
  await server.close();
  const ask = await outcome("custom/m", `${server.url}/v1`, new FakeClock());
  const [took, error] = await ask();
  expect(took).toBeLessThan(3_000);
  expect(error).toMatchObject({
    code: "network",
    retryable: true,
    message: expect.stringMatching(
      /^Nothing accepts connections at 127.* Check the base URL, and that the server runs\. Gave up after \d attempts\.$/,
    ),
  });
});

it("one that has answered before may restart meanwhile", async () => {
  const server = await startScriptedServer([says("Hello")]);
  const ask = await outcome("custom/m", `${server.url}/v1`, new FakeClock());
  expect((await ask()).join("")).toMatch(/Hello$/);
  await server.close();
  const [took, error] = await ask();
  expect(took).toBeGreaterThan(3_000);
  expect(error).toMatchObject({ code: "network", details: { attempts: 6 } });
});
