import fc from "fast-check";
import { expect, test } from "vitest";
import { utf8Length } from "../../core/base/text.ts";
import { isToolResult } from "../../core/tool/tool-output.ts";
import { toMcpResult } from "./tool-result.ts";

const IMAGE = { type: "image", mimeType: "image/png", data: "aGVsbG8=" };

test("texts, pictures and resources are kept; what no model takes is named", () => {
  const content = [
    { type: "text", text: "a" },
    IMAGE,
    { type: "audio", mimeType: "audio/wav", data: "aGVsbG8=" },
    { type: "resource", resource: { uri: "file:///x", text: "inside" } },
    { type: "resource", resource: { uri: "file:///p", mimeType: "image/png", blob: "aGVsbG8=" } },
    { type: "resource", resource: { uri: "file:///z", mimeType: "application/zip", blob: "aGVsbG8=" } },
    { type: "resource_link", name: "n", uri: "file:///l" },
    { type: "image", mimeType: "image/png", data: "<svg>" },
  ];
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGVsbG8=" } };
  expect(toMcpResult({ content, isError: true })).toEqual({
    isError: true,
    content: [
      { type: "text", text: "a" },
      image,
      { type: "text", text: "[audio/wav, 6 bytes: the model cannot be shown this kind of file]" },
      { type: "text", text: '<resource uri="file:///x">\ninside\n</resource>' },
      image,
      {
        type: "text",
        text: "[resource file:///z: application/zip, 6 bytes: the model cannot be shown this kind of file]",
      },
      { type: "text", text: "[resource n: file:///l]" },
      { type: "text", text: "[image/png, 3 bytes: not base64, left out]" },
    ],
  });
});

test.each([
  ["a name of the type that providers do not take", "image/jpg", "/9j/4AAQ", "image/jpeg", "/9j/4AAQ"],
  ["line breaks", "image/png", "iVBORw0K\r\nGgo=\n", "image/png", "iVBORw0KGgo="],
  ["the alphabet of addresses", "image/gif", "R0lGODlh_-8=", "image/gif", "R0lGODlh/+8="],
  ["no type that is right", "application/octet-stream", "UklGRgAAAABXRUJQ", "image/webp", "UklGRgAAAABXRUJQ"],
])("a picture with %s is shown", (...row) => {
  const [, mimeType, given, media_type, data] = row;
  expect(toMcpResult({ content: [{ type: "image", mimeType, data: given }] }).content).toEqual([
    { type: "image", source: { type: "base64", media_type, data } },
  ]);
});

test("a single text is a text, structured content counts alone, and no content is none", () => {
  expect([
    toMcpResult({ content: [{ type: "text", text: "x" }], structuredContent: { a: 1 } }),
    toMcpResult({ content: [], structuredContent: { a: 1 } }),
    toMcpResult({ content: [] }),
    toMcpResult("x"),
  ]).toEqual([
    { content: "x" },
    { content: '{"a":1}' },
    { content: [] },
    { content: "Error: The server's answer is not a result.", isError: true },
  ]);
});

test("at most 50 KB of text come out, of several blocks too, and it says how much there was", () => {
  const { content } = toMcpResult({
    content: [{ type: "text", text: "a".repeat(40_000) }, IMAGE, { type: "text", text: "b".repeat(40_000) }],
  });
  const texts =
    typeof content === "string" ? [] : content.map((block) => ("text" in block ? block.text : ""));
  expect([utf8Length(texts.slice(0, -1).join("")) <= 51_200, texts.at(-1)]).toEqual([
    true,
    "[80000 bytes of text in all, cut to 51200. Ask for less at once.]",
  ]);
});

test("whatever a server answers, a result comes out that can be sent", () => {
  const block = fc.oneof(
    fc.record({
      type: fc.constantFrom("text", "image", "audio", "resource", "resource_link", "x"),
      text: fc.anything(),
    }),
    fc.anything(),
  );
  fc.assert(
    fc.property(
      fc.oneof(fc.record({ content: fc.array(block), isError: fc.anything() }), fc.anything()),
      (answer) => {
        const cleaned: unknown = JSON.parse(JSON.stringify(answer) ?? "null");
        expect(isToolResult(toMcpResult(cleaned))).toBe(true);
      },
    ),
  );
});
