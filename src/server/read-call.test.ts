import { expect, test } from "vitest";
import { MAX_BODY_BYTES, readBody } from "./api-routes.ts";

function post(body: ReadableStream<Uint8Array>): Request {
  const headers = { "content-type": "application/json" };
  return new Request("http://127.0.0.1/", { method: "POST", headers, body, duplex: "half" });
}

test("a body that is broken off is the sender's fault, not the server's", async () => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"te')),
    pull: (controller) => controller.error(new Error("aborted")),
  });
  await expect(readBody(post(body), { type: "object" }, MAX_BODY_BYTES)).rejects.toMatchObject({
    status: 400,
    code: "broken_off",
  });
});

test("the rest of a body that is too long is given up", async () => {
  const given: unknown[] = [];
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(3_000_000)),
    cancel: (reason) => void given.push(reason),
  });
  await expect(readBody(post(body), { type: "object" }, MAX_BODY_BYTES)).rejects.toMatchObject({
    status: 413,
  });
  expect(given).toHaveLength(1);
});
