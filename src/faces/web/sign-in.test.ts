import { expect, test } from "vitest";
import { createReader } from "../../server/create-reader.ts";
import { accessWith, tokenIn } from "./web-page.tsx";

test.each([
  ["#token=abc-_d", "abc-_d"],
  ["#token=a%2Bb", "a+b"],
  ["#token=", undefined],
  ["#/sessions/token=1", undefined],
  ["", undefined],
])("the fragment %j has the token %j", (fragment, token) => {
  expect(tokenIn(fragment)).toBe(token);
});

function answering(status: number): {
  readonly reader: ReturnType<typeof createReader>;
  readonly asked: string[];
} {
  const asked: string[] = [];
  const answer = (input: unknown, init: RequestInit = {}): Promise<Response> => {
    asked.push(`${init.method} ${String(input)} ${init.body === undefined ? "" : String(init.body)}`.trim());
    return Promise.resolve(
      status === 200
        ? Response.json({ sessions: [] })
        : Response.json({ type: "about:blank", title: "No", status, detail: "no", code: "x" }, { status }),
    );
  };
  return { reader: createReader({ fetch: answer }), asked };
}

test.each([
  ["a token the server takes", "secret", 200, ["granted", ['POST /api/session {"token":"secret"}']]],
  ["a token it does not take", "secret", 401, ["refused", ['POST /api/session {"token":"secret"}']]],
  ["the cookie from before", undefined, 200, ["granted", ["GET /api/sessions?limit=1"]]],
  ["a cookie of another server", undefined, 401, ["refused", ["GET /api/sessions?limit=1"]]],
  [
    "a server in trouble, which says so where it is asked",
    undefined,
    500,
    ["granted", ["GET /api/sessions?limit=1"]],
  ],
])("%s", async (_name, token, status, outcome) => {
  const { reader, asked } = answering(status);
  expect([await accessWith(reader, token), asked]).toEqual(outcome);
});
