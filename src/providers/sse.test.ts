import { StringDecoder } from "node:string_decoder";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseParser } from "./server-events.ts";

type Event = readonly [event: string, data: string];

function parse(...pieces: readonly string[]): readonly Event[] {
  const events: Event[] = [];
  const parser = createSseParser((event, data) => events.push([event, data]));
  for (const piece of pieces) parser.push(piece);
  parser.end();
  return events;
}

/** The standard's own algorithm, line by line, on the whole text. */
function naive(text: string): readonly Event[] {
  const events: Event[] = [];
  let event = "";
  let data: string[] = [];
  for (const line of [...text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/), ""]) {
    if (line === "") {
      if (data.join("\n") !== "") events.push([event, data.join("\n")]);
      event = "";
      data = [];
      continue;
    }
    const [, field, value = ""] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? [];
    if (field === "event") event = value;
    if (field === "data") data.push(value);
  }
  return events;
}

describe("createSseParser", () => {
  it.each<readonly [name: string, text: string, events: readonly Event[]]>([
    ["one data line", "data: a\n\n", [["", "a"]]],
    ["a named event", "event: ping\ndata: {}\n\n", [["ping", "{}"]]],
    ["several data lines, joined", "data: a\ndata: b\ndata\ndata:c\n\n", [["", "a\nb\n\nc"]]],
    ["comments and unknown fields, skipped", ": hello\nid: 1\nretry: 5\ndata: a\n\n:\n\n", [["", "a"]]],
    [
      "CRLF",
      "event: e\r\ndata: a\r\n\r\ndata: b\r\n\r\n",
      [
        ["e", "a"],
        ["", "b"],
      ],
    ],
    [
      "CR",
      "data: a\r\rdata: b\r\r",
      [
        ["", "a"],
        ["", "b"],
      ],
    ],
    ["a byte order mark", "\uFEFFdata: a\n\n", [["", "a"]]],
    ["only the first blank after the colon", "data:  a\n\n", [["", " a"]]],
    ["an event without data: none", "event: e\n\ndata: a\n\n", [["", "a"]]],
    ["empty data: none", "data:\n\ndata: \n\n", []],
    [
      "a last event without its blank line",
      "data: a\n\ndata: [DONE]",
      [
        ["", "a"],
        ["", "[DONE]"],
      ],
    ],
  ])("reads %s", (_name, text, events) => {
    expect(parse(text)).toEqual(events);
  });

  it("gives the same events however the bytes are cut", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "",
        ":",
        ": c",
        "data",
        "data:",
        "data: ",
        "event: x",
        "id: 1",
        "retry: 1",
        "other: 1",
        "data: é€😀",
        "event",
      ),
      fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
    );
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r")))
      .map((lines) => lines.map(([text, end]) => text + end).join(""));
    fc.assert(
      fc.property(stream, fc.boolean(), fc.array(fc.nat()), (text, mark, cuts) => {
        const whole = mark ? `\uFEFF${text}` : text;
        const bytes = Buffer.from(whole);
        const decoder = new StringDecoder("utf8");
        const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => decoder.write(bytes.subarray(at[index], end)));
        expect(parse(...pieces, decoder.end())).toEqual(naive(whole));
      }),
    );
  });

  it("refuses an event beyond its bound, in one line or in many", () => {
    const push =
      (...pieces: readonly string[]) =>
      () => {
        const parser = createSseParser(() => undefined, 10);
        for (const piece of pieces) parser.push(piece);
      };
    expect(push("data: 12", "345", "678")).toThrow(expect.objectContaining({ code: "invalid_response" }));
    expect(push("data: 12345\ndata: 12345\n")).toThrow(expect.objectContaining({ code: "invalid_response" }));
    expect(push("data: 12\n\n", "data: 34\n\n", "data: 56\n\n")).not.toThrow();
  });
});
