import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TerminalText } from "./output-buffer.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function clean(...pieces: readonly Uint8Array[]): string {
  const cleaner = new TerminalText();
  return pieces.map((piece) => cleaner.push(piece)).join("") + cleaner.end();
}

describe("terminal text", () => {
  test.each([
    ["plain lines and tabs stay", "a\tb\nc\n", "a\tb\nc\n"],
    ["an unfinished last line is kept", "a\nb", "a\nb"],
    ["colours go", "\x1b[1;31mred\x1b[0m\n", "red\n"],
    ["titles and links go", "\x1b]0;title\x07a\x1b]8;;https://x.test\x1b\\link\x1b]8;;\x1b\\\n", "alink\n"],
    ["device strings and two-character functions go", "\x1bPq#0\x1b\\a\x1b(Bb\x1b7c\n", "abc\n"],
    ["Windows line ends become plain", "a\r\nb\r\r\nc\r\n", "a\nb\nc\n"],
    ["a progress bar keeps its last state", "10%\r50%\r100%\ndone\n", "100%\ndone\n"],
    ["a bar that was cleared keeps what stood there", "100%\r    \r\x1b[K\n", "100%\n"],
    ["backspaces take characters back", "|\b/\b-\bx\b\bab\n", "ab\n"],
    ["overstruck bold of manuals becomes plain", "N\bNA\bA\n", "NA\n"],
    ["NUL and other noise goes", "a\0b\x01\x07\x0b\x0c\x7f\u0085c\n", "abc\n"],
    ["a lone escape goes", "a\x1b", "a"],
  ])("%s", (_name, input, output) => {
    expect(clean(bytesOf(input))).toBe(output);
  });

  test("invalid UTF-8 becomes the replacement character", () => {
    expect(clean(new Uint8Array([0x61, 0xff, 0xfe, 0x62, 0xe2, 0x82]))).toBe("a\ufffd\ufffdb\ufffd");
  });

  test("the text does not depend on how the bytes were cut", () => {
    const part = fc.constantFrom(
      "a",
      "é",
      "🙂",
      "\n",
      "\r",
      "\r\n",
      "\b",
      "\x1b[31m",
      "\x1b]0;t\x07",
      "\0",
      "\x1b",
      "[",
      " ",
    );
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat(40)), (parts, cuts) => {
        const bytes = bytesOf(parts.join(""));
        const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(clean(...pieces)).toBe(clean(bytes));
      }),
    );
  });

  test("whatever comes, the result is well-formed text without control characters", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = clean(bytes);
        expect([text.isWellFormed(), /[^\P{Cc}\n\t]/u.test(text)]).toEqual([true, false]);
      }),
    );
  });

  test("a line without an end is not held back for ever, and an escape at its cut still goes", () => {
    const cleaner = new TerminalText();
    const released = cleaner.push(bytesOf(`${"x".repeat(70_000)}\x1b[3`));
    expect([released.length, cleaner.push(bytesOf("1my\n"))]).toEqual([70_000, "y\n"]);
  });

  test("a look at an unfinished line shows it once", () => {
    const cleaner = new TerminalText();
    const seen = [
      cleaner.push(bytesOf("a\nhalf")),
      cleaner.flush(),
      cleaner.flush(),
      cleaner.push(bytesOf(" line\n")),
    ];
    expect(seen).toEqual(["a\n", "half", "", " line\n"]);
  });
});
