import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  closestMatch,
  hashText,
  quoteShellArgument,
  toCleanText,
  truncateMiddle,
  utf8Length,
} from "./text.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom("\ud83d", "\ude00", "e\u0301", "👩‍👩‍👧", "\r\n", "a", "中", "🇨🇳"),
    maxLength: 200,
  }),
  fc.string({ unit: fc.constantFrom("👩", "\u0301".repeat(20), "\u200d", "🏽", "a"), maxLength: 60 }),
);

describe("toCleanText", () => {
  it("replaces what providers refuse and keeps everything else", () => {
    expect(toCleanText("a\u0000b\u001b[31m\tc\r\nd\ud83d e😀\u007f")).toBe(
      "a\ufffdb\ufffd[31m\tc\r\nd\ufffd e😀\u007f",
    );
  });

  it("gives well-formed text of the same length, and changes nothing the second time", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const clean = toCleanText(text);
        expect([clean.length, clean.isWellFormed(), toCleanText(clean)]).toEqual([text.length, true, clean]);
      }),
    );
  });
});

describe("utf8Length", () => {
  it("counts as an encoder does", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });
});

describe("truncateMiddle", () => {
  it("keeps beginning and end around a line that says how much is missing", () => {
    expect(truncateMiddle(`${"a".repeat(50)}${"b".repeat(50)}`, 60)).toBe(
      `${"a".repeat(16)}\n… 69 characters left out …\n${"b".repeat(15)}`,
    );
    expect(truncateMiddle("中".repeat(100), { maxBytes: 100 })).toBe(
      `${"中".repeat(12)}\n… 228 bytes left out …\n${"中".repeat(12)}`,
    );
  });

  it("keeps the beginning alone where the line does not fit", () => {
    expect([truncateMiddle("a".repeat(50), 10), truncateMiddle("😀😀", 3), truncateMiddle("abc", 0)]).toEqual(
      ["a".repeat(10), "😀", ""],
    );
  });

  it("returns what fits unchanged, and never more than the limit, never half a pair more than there was", () => {
    fc.assert(
      fc.property(anyText, fc.nat(250), fc.boolean(), (text, max, inBytes) => {
        const size = (value: string): number => (inBytes ? utf8Length(value) : value.length);
        const cut = truncateMiddle(text, inBytes ? { maxBytes: max } : max);
        expect(size(cut) <= max).toBe(true);
        expect(cut === text).toBe(size(text) <= max);
        if (text.isWellFormed()) expect(cut.isWellFormed()).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it("says the number that is really missing", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 60, maxLength: 300 }),
        fc.integer({ min: 40, max: 59 }),
        (text, max) => {
          const cut = truncateMiddle(text, max);
          const [line = "", missing = ""] = /\n… (\d+) characters left out …\n/.exec(cut) ?? [];
          expect(cut.length - line.length + Number(missing)).toBe(text.length);
        },
      ),
    );
  });
});

describe("nearest", () => {
  const names = ["read", "write", "edit", "old_string", "new_string", "file_path"];

  it.each([
    ["reed", "read"],
    ["raed", "read"],
    ["oldString", "old_string"],
    ["FILE-PATH", "file_path"],
    ["path", "file_path"],
    ["newstrng", "new_string"],
    ["delete_everything", undefined],
    ["", undefined],
    ["x".repeat(65), undefined],
  ])("takes %j for %j", (word, meant) => {
    expect(closestMatch(word, names)).toBe(meant);
  });

  it("finds a word among any others, and only ever names a candidate", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 80 }),
        fc.array(fc.string({ maxLength: 80 })),
        (word, candidates) => {
          const found = closestMatch(word, candidates);
          expect(found === undefined || candidates.includes(found)).toBe(true);
        },
      ),
    );
  });
});

it.skipIf(process.platform === "win32")("shellArgument is one word for a shell, whatever the text", () => {
  const odd = fc.string({
    unit: fc.constantFrom("'", '"', "$(ran)", "`", "\\", "\n", " ", "*", "~", "#", "-a", "é"),
  });
  fc.assert(
    fc.property(fc.array(odd, { minLength: 1 }), (texts) => {
      const script = `for word in ${texts.map(quoteShellArgument).join(" ")}; do printf '%s|' "$word"; done`;
      const read = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" });
      expect(read).toBe(texts.map((text) => `${text}|`).join(""));
    }),
    { numRuns: 50 },
  );
  expect(["a-b/c.d=1", "my notes", "=ls"].map(quoteShellArgument)).toEqual([
    "a-b/c.d=1",
    "'my notes'",
    "'=ls'",
  ]);
});

test("equal texts have equal numbers, which are whole and safe", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const hash = hashText(text);
      expect([hash, Number.isSafeInteger(hash), hash >= 0]).toEqual([
        hashText([...text].join("")),
        true,
        true,
      ]);
    }),
  );
});

test("a hundred thousand similar texts have as many numbers", () => {
  const seen = new Set<number>();
  for (let index = 0; index < 50_000; index++)
    seen.add(hashText(`read {"path":"file-${index}"}`)).add(hashText(" ".repeat(index % 7) + index));
  expect(seen.size).toBe(100_000);
});
