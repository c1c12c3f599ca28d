import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyDecoder, parseKeyName, type TerminalEvent } from "./key.ts";

function decoded(...chunks: readonly (string | Uint8Array)[]): readonly TerminalEvent[] {
  const decoder = new KeyDecoder();
  const events = chunks.flatMap((chunk) =>
    decoder.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk),
  );
  return [...events, ...decoder.flush()];
}

function names(bytes: string): readonly string[] {
  return decoded(bytes).map((event) => (event.type === "key" ? event.key : `${event.type}:${event.text}`));
}

test.each([
  ["\r", ["enter"]],
  ["hello\r", ["text:hello", "enter"]],
  ["\n", ["ctrl+j"]],
  ["\u001B", ["escape"]],
  ["\u001B\u001B", ["escape", "escape"]],
  ["\u001B[A\u001BOB", ["up", "down"]],
  ["\u001B[1;3A\u001B[1;5C", ["alt+up", "ctrl+right"]],
  ["\u001B\u001B[A", ["alt+up"]],
  ["\u001B\r\u001Bb\u001B1", ["alt+enter", "alt+b", "alt+1"]],
  ["\u001B[13;2u\u001B[27;2;13~", ["shift+enter", "shift+enter"]],
  ["\u001B[27u\u001B[97;5u\u001B[97;5:3u", ["escape", "ctrl+a"]],
  ["\u001B[Z\u0001\u001A\u001F", ["shift+tab", "ctrl+a", "ctrl+z", "ctrl+_"]],
  ["\u007F\u001B[3~\u001B[5~", ["backspace", "delete", "pageup"]],
  ["\u001B[200~two\r\nlines\u001B[A\u001B[201~x", ["paste:two\r\nlines\u001B[A", "text:x"]],
  ["\u001B[?62;22c\u001B[?1u", ["reply:[?62;22c", "reply:[?1u"]],
  ["\u001B]11;rgb:ffff/ffff/ffff\u001B\\", ["reply:]11;rgb:ffff/ffff/ffff"]],
  [
    "\u001B[57399u\u001B[57408;129u\u001B[57409u\u001B[57413;129:1u",
    ["text:0", "text:9", "text:.", "text:+"],
  ],
  ["\u001B[57414u\u001B[57415u\u001B[57416u\u001B[57404;5u", ["enter", "text:=", "text:,", "ctrl+5"]],
  [
    "\u001B[57417u\u001B[57418;5u\u001B[57419u\u001B[57420u\u001B[57421u\u001B[57422u",
    ["left", "ctrl+right", "up", "down", "pageup", "pagedown"],
  ],
  [
    "\u001B[57423u\u001B[57424;2u\u001B[57425u\u001B[57426u\u001B[57427u\u001B[57399;1:3u",
    ["home", "shift+end", "insert", "delete"],
  ],
  ["中文👩‍👩‍👧", ["text:中文👩‍👩‍👧"]],
])("%j is %j", (bytes, wanted) => {
  expect(names(bytes)).toEqual(wanted);
});

/** Text that stands side by side is one text, wherever it was cut. */
function joined(events: readonly TerminalEvent[]): readonly TerminalEvent[] {
  const result: TerminalEvent[] = [];
  for (const event of events) {
    const last = result.at(-1);
    if (event.type === "text" && last?.type === "text")
      result[result.length - 1] = { type: "text", text: last.text + event.text };
    else result.push(event);
  }
  return result;
}

const PIECES = [
  "a",
  "中",
  "👩",
  "\r",
  "\u001B[A",
  "\u001B[1;5C",
  "\u001BOP",
  "\u001B[200~pa\u001B[Bste\u001B[201~",
  "\u001B[97;5u",
  "\u001B]11;rgb:0/0/0\u0007",
  "\u0003",
  "\u001Bx",
];

test("wherever the bytes are cut, the keys are the same", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES), { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
      (pieces, sizes) => {
        const bytes = Buffer.from(pieces.join(""));
        const chunks: Uint8Array[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(joined(decoded(...chunks))).toEqual(joined(decoded(bytes)));
      },
    ),
  );
});

test("no bytes become text that a terminal would act on, and none keep the decoder from the next key", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const decoder = new KeyDecoder();
      const events = [...decoder.push(bytes), ...decoder.flush()];
      for (const event of events) if (event.type === "text") expect(/\p{Cc}/u.test(event.text)).toBe(false);
      const after = [
        ...decoder.push(Buffer.from("\u001B[201~\u0007")),
        ...decoder.flush(),
        ...decoder.push(Buffer.from("\r")),
      ];
      expect(after.at(-1)).toEqual({ type: "key", key: "enter" });
    }),
  );
});

test("keys are named as people write them", () => {
  expect(
    ["Ctrl-X", "control+shift+left", "^G", "alt+enter", "Return", "meta+.", "hyper+x", "ctrl+", "f5"].map(
      parseKeyName,
    ),
  ).toEqual([
    "ctrl+x",
    "ctrl+shift+left",
    "ctrl+g",
    "alt+enter",
    "enter",
    "alt+.",
    undefined,
    undefined,
    "f5",
  ]);
});
