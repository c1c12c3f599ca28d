import fc from "fast-check";
import { expect, test } from "vitest";
import { normalisingStream } from "./http-transport.ts";
import { readMessages } from "./read-message.ts";

test("null is absent in the protocol, and a value in data of the server", () => {
  const result = {
    _meta: null,
    structuredContent: { sum: null },
    content: [{ type: "text", annotations: null }],
  };
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result, error: null });
  const kept = { structuredContent: { sum: null }, content: [{ type: "text" }] };
  expect(readMessages(`\uFEFF${text}`)).toEqual([{ jsonrpc: "2.0", id: 1, result: kept }]);
});

test("an error without a code is an error", () => {
  const text = JSON.stringify({ id: 1, error: { code: null, message: "no more" }, result: null });
  const error = { code: -32_603, message: "no more" };
  expect(readMessages(text)).toEqual([{ jsonrpc: "2.0", id: 1, error }]);
});

test.each([
  ['{"jsonrpc":"2.0","id":7,"result":{"text":"\\"id\\":8","n":NaN}}', undefined, 7],
  ['{"result":{"text":"\\"id\\":8","n":NaN},"id":7,"jsonrpc":"2.0"}', undefined, 7],
  ['{"result":{"id":8,"n":NaN},"jsonrpc":"2.0"}', 9, 9],
  ['{"jsonrpc":"2.0","id":7,"result":{"_meta":"none"}}', undefined, 7],
  ['{"result":{"id":8,"n":NaN},"jsonrpc":"2.0"}', undefined, undefined],
  ["{ a line of a log", 9, undefined],
])("an answer that cannot be read ends its own call: %s", (text, openId, id) => {
  const message = expect.stringContaining("The server's answer cannot be read: ");
  const expected = id === undefined ? [] : [{ jsonrpc: "2.0", id, error: { code: -32_603, message } }];
  expect(readMessages(text, openId)).toEqual(expected);
});

test("in a stream a broken message ends its call, and one inside of which the stream ends is left out", async () => {
  const broken = 'data: {"result":{"n":NaN},"jsonrpc":"2.0"}\n\n';
  const cut = 'id: 4\ndata: {"jsonrpc":"2.0","id":9,"resu';
  const stream = new Blob([broken + cut]).stream().pipeThrough(normalisingStream(9));
  const events = (await new Response(stream).text()).trim().split("\n\n");
  expect(events.map((event) => JSON.parse(event.slice("data: ".length)))).toEqual([
    {
      jsonrpc: "2.0",
      id: 9,
      error: { code: -32_603, message: expect.stringContaining("The server's answer cannot be read: ") },
    },
  ]);
});

test("a stream of events reads the same however it is cut and its lines end", async () => {
  const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
  const part = fc.record({ text: fc.string({ unit: "grapheme" }), size: fc.integer({ min: 1, max: 9 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), lineEnd, async (parts, end) => {
      const messages = parts.map(({ text }, id) => ({ jsonrpc: "2.0", id, result: { text } }));
      const events = messages.map((each, at) =>
        [
          `id: ${at}`,
          ": a comment",
          ...JSON.stringify(each, null, at % 2)
            .split("\n")
            .map((line) => `data: ${line}`),
          "",
          "",
        ].join(end),
      );
      const bytes = new TextEncoder().encode(events.join(""));
      const chunks: Uint8Array[] = [];
      for (let from = 0, at = 0; from < bytes.length; at++) {
        const size = parts[at % parts.length]?.size ?? 1;
        chunks.push(bytes.slice(from, (from += size)));
      }
      const output = await new Response(ReadableStream.from(chunks).pipeThrough(normalisingStream())).text();
      const read = output
        .split("\n")
        .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
      expect([read, output.match(/^id: \d$/gm)?.length]).toEqual([messages, messages.length]);
    }),
    { numRuns: 60 },
  );
});
