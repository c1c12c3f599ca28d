import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyEdits, type Edit, type EditErrorKind } from "./edits/plan-edits.ts";

function edit(old_string: string, new_string: string, replace_all?: boolean): Edit {
  return replace_all === undefined ? { old_string, new_string } : { old_string, new_string, replace_all };
}

function apply(before: string, ...edits: readonly Edit[]): string {
  const result = applyEdits(before, edits);
  return "error" in result ? `error ${result.error.kind}` : result.after;
}

function failure(
  before: string,
  ...edits: readonly Edit[]
): { readonly kind: EditErrorKind; readonly message: string } {
  const result = applyEdits(before, edits);
  if ("error" in result) return result.error;
  throw new Error(`expected an error, got ${JSON.stringify(result.after)}`);
}

describe("exact matches", () => {
  test.each([
    ["replaces the one occurrence", "a b c", [edit("b", "x")], "a x c"],
    [
      "takes replacement patterns literally",
      "price = OLD",
      [edit("OLD", "$& $1 $$ $`")],
      "price = $& $1 $$ $`",
    ],
    ["deletes with an empty replacement", "a b c", [edit(" b", "")], "a c"],
    ["replaces all when asked to", "a b a", [edit("a", "x", true)], "x b x"],
    [
      "refers every edit to the text as it was",
      "one two",
      [edit("one", "two"), edit("two", "one")],
      "two one",
    ],
    ["takes edits in any order", "a b c", [edit("c", "3"), edit("a", "1")], "1 b 3"],
    ["joins ranges that only touch", "ab", [edit("a", "1"), edit("b", "2")], "12"],
    ["prefers an exact match to folded ones", '“x” "x"', [edit('"x"', "y")], "“x” y"],
    ["prefers a match in the line ends of the text to folded ones", "a\na \n", [edit("a \r\n", "b")], "a\nb"],
    ["works on texts with NUL", "a\0b", [edit("\0", "-")], "a-b"],
  ])("%s", (_name, before, edits, after) => {
    expect(apply(before, ...edits)).toBe(after);
  });
});

describe("line ends and byte order marks", () => {
  test.each([
    ["inserted lines get the CR LF of the file", "a\r\nb\r\n", edit("a", "1\n2"), "1\r\n2\r\nb\r\n"],
    ["inserted CR LF becomes the LF of the file", "a\nb\n", edit("a", "1\r\n2"), "1\n2\nb\n"],
    ["several lines match across CR LF", "a\r\nb\r\nc", edit("a\nb", "x\ny"), "x\r\ny\r\nc"],
    ["every CR LF occurrence can be replaced", "a\r\nb\r\na\r\nb", edit("a\nb", "x", true), "x\r\nx"],
    ["a match from a line end on takes the whole CR LF", "a\r\nb", edit("\nb", "\nc"), "a\r\nc"],
    ["joining lines leaves no lone CR", "a\r\nb", edit("\nb", "b"), "ab"],
    ["CR LF written out is not doubled", "a\r\nb", edit("a\r\nb", "x\r\ny"), "x\r\ny"],
    [
      "a text with both kinds takes the ending near the match",
      "a\nb\r\nc\r\n",
      edit("c", "1\n2"),
      "a\nb\r\n1\r\n2\r\n",
    ],
    ["a text without line ends takes them as written", "a", edit("a", "1\r\n2"), "1\r\n2"],
    ["a mark stays in front", "\uFEFFa\nb", edit("a", "x"), "\uFEFFx\nb"],
    ["a mark in the quoted text is not a difference", "\uFEFFa\nb", edit("\uFEFFa", "\uFEFFx"), "\uFEFFx\nb"],
    ["a mark is not lost", "\uFEFFa\nb", edit("\uFEFFa", "x"), "\uFEFFx\nb"],
    ["a mark is not added", "a\nb", edit("\uFEFFa", "\uFEFFx"), "x\nb"],
    ["a mark and CR LF together", "\uFEFFa\r\nb\r\n", edit("a\nb", "x\ny"), "\uFEFFx\r\ny\r\n"],
  ])("%s", (_name, before, change, after) => {
    expect(apply(before, change)).toBe(after);
  });

  test("an edit that only differs in line ends changes nothing and says so", () => {
    expect(failure("a\r\nb\r\n", edit("a\r\nb", "a\nb")).kind).toBe("identical");
  });
});

describe("folded matches", () => {
  test.each([
    ["curly quotes", "say “hi” ‘x’\n", edit(`say "hi" 'x'`, "bye"), "bye\n"],
    ["dashes", "a – b — c\n", edit("a - b - c", "x"), "x\n"],
    ["Unicode blanks", "a\u00a0b\u3000c\n", edit("a b c", "x"), "x\n"],
    ["blanks at line ends in the file", "a  \nb\t\nc\n", edit("a\nb\nc", "x"), "x\n"],
    ["blanks at line ends in the quoted text", "a\nb\nc\n", edit("a  \nb \nc", "x"), "x\n"],
    ["CR CR LF", "a\r\r\nb\n", edit("a\nb", "x"), "x\n"],
  ])("%s do not count", (_name, before, change, after) => {
    expect(apply(before, change)).toBe(after);
  });

  test("blanks after a match stay unless the quoted text ends in blanks", () => {
    expect([apply("“a”  \nb", edit('"a"', "x")), apply("“a”  \nb", edit('"a" ', "x"))]).toEqual([
      "x  \nb",
      "x\nb",
    ]);
  });

  test("a quoted text that ends in blanks matches only at a line end", () => {
    expect(apply("“foo”bar", edit('"foo" ', "x"))).toBe("error not_found");
  });

  test("nothing but blanks never matches a line end", () => {
    expect(apply("a\nb", edit(" \n", "x"))).toBe("error not_found");
  });

  test("two folded matches are refused, also when all are to be replaced", () => {
    const before = "“a”\n‘’\n”a“\n";
    expect(
      [failure(before, edit('"a"', "x")), failure(before, edit('"a"', "x", true))].map(({ kind }) => kind),
    ).toEqual(["multiple", "multiple"]);
  });

  test("indentation counts", () => {
    expect(apply("\tfoo();\n", edit("    foo();", "x"))).toBe("error not_found");
  });
});

describe("errors", () => {
  test.each<readonly [EditErrorKind, string, readonly Edit[]]>([
    ["no_edits", "a", []],
    ["empty_old", "a", [edit("", "x")]],
    ["identical", "a", [edit("a", "a")]],
    ["identical", "“a”", [edit('"a"', "“a”")]],
    ["not_found", "a", [edit("b", "x")]],
    ["multiple", "a a", [edit("a", "x")]],
    ["multiple", "aaa", [edit("aa", "x")]],
    ["overlap", "abc", [edit("ab", "x"), edit("bc", "y")]],
    ["overlap", "abc", [edit("b", "x"), edit("b", "y")]],
    ["overlap", "a b a", [edit("a", "x", true), edit("b a", "y")]],
  ])("%s: %j with %j", (kind, before, edits) => {
    expect(failure(before, ...edits).kind).toBe(kind);
  });

  test("one bad edit of several changes nothing and is named", () => {
    expect(failure("a\nb\nc", edit("a", "1"), edit("zzzz", "2"))).toEqual({
      kind: "not_found",
      message:
        "edits[1]: old_string is not in the file. No line is similar to it (the file has 3 lines):\n     1\ta\n     2\tb\n     3\tc\nCopy the text exactly from there.",
    });
  });

  test("multiple lists the lines", () => {
    expect(failure("x\na\na\n\na\n", edit("a", "b")).message).toBe(
      "old_string is in the file 3 times, at lines 2, 3, 5. Add lines around it until it is unique, or set replace_all.",
    );
  });

  test("overlap names both edits and the line", () => {
    expect(failure("a\nbcd\n", edit("cd", "x"), edit("bc", "y")).message).toBe(
      "edits[0] and edits[1] change the same text at line 2. All edits refer to the file as it was: join them into one edit.",
    );
  });
});

describe("properties", () => {
  const alphabet = fc.constantFrom(
    "a",
    "b",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "“",
    '"',
    "–",
    "-",
    "\u00a0",
    "😀",
    "\ud83d",
    "中",
  );
  const text = fc.array(alphabet, { maxLength: 40 }).map((units) => units.join(""));
  const plain = fc
    .string({ unit: "binary", maxLength: 60 })
    .map((value) => value.replace(/[\r\n\uFEFF]/gu, "·"));

  test("a unique substring is replaced by exactly that splice", () => {
    fc.assert(
      fc.property(plain, plain, fc.nat(), fc.nat(), (before, inserted, a, b) => {
        const [start, end] = [a % (before.length + 1), b % (before.length + 1)].sort((x, y) => x - y) as [
          number,
          number,
        ];
        const old = before.slice(start, end);
        fc.pre(old !== "" && old !== inserted && before.indexOf(old) === before.lastIndexOf(old));
        expect(apply(before, edit(old, inserted))).toBe(
          before.slice(0, start) + inserted + before.slice(end),
        );
      }),
    );
  });

  // Parts of the text as a model may have copied them: with other line ends, quotes, dashes and blanks.
  const likeness = fc.record({
    from: fc.nat(),
    to: fc.nat(),
    swaps: fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
  });

  test("a folded match is the only one there is, and nothing outside it changes", () => {
    fc.assert(
      fc.property(text, fc.oneof(text, likeness), (before, wanted) => {
        const marker = "\u{F0000}";
        const old = typeof wanted === "string" ? wanted : likePartOf(before, wanted);
        const result = applyEdits(before, [edit(old, marker)]);
        // A match in the line ends of the text is found before anything is folded.
        const exact = countOf(before, old) || countOf(before, inEndingsOf(before, old));
        if ("error" in result) {
          if (old !== "" && exact === 1) throw new Error(`unique but ${result.error.kind}`);
          return;
        }
        const [head, tail] = result.after.split(marker) as [string, string];
        const replaced = before.slice(head.length, before.length - tail.length);
        expect(head + replaced + tail).toBe(before);
        expect(naiveFold(replaced)).toBe(naiveFold(old));
        if (exact === 0) expect(countOf(naiveFold(before), naiveFold(old))).toBeGreaterThanOrEqual(1);
        if (exact === 0 && !/[\t\r \u00a0]$/u.test(old))
          expect(countOf(naiveFold(before), naiveFold(old))).toBe(1);
      }),
      { numRuns: 2000 },
    );
  });

  test("several edits agree with splicing from the end", () => {
    const words = fc.uniqueArray(
      fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 6, maxLength: 9 }),
      {
        minLength: 2,
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(words, fc.nat(), (list, seed) => {
        const before = list.join(" ");
        const chosen = list.filter((word, index) => (seed >> index) % 2 === 1 && countOf(before, word) === 1);
        fc.pre(chosen.length > 0);
        const expected = list.map((word) => (chosen.includes(word) ? `<${word}$&>` : word)).join(" ");
        expect(apply(before, ...chosen.toReversed().map((word) => edit(word, `<${word}$&>`)))).toBe(expected);
      }),
    );
  });

  test("replace_all of exact text agrees with the language's own replaceAll", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 30 }),
        fc.constantFrom("a", "ab", "aa"),
        (before, old) => {
          fc.pre(before.includes(old));
          expect(apply(before, edit(old, "$&x", true))).toBe(before.replaceAll(old, () => "$&x"));
        },
      ),
    );
  });

  test("the line ends of a text with one kind stay of that kind", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "b", "c", " "), maxLength: 4 });
    const lines = fc.array(line, { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(
        lines,
        lines,
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom("\n", "\r\n"),
        (file, inserted, own, other) => {
          const before = file.join(own);
          const result = applyEdits(before, [edit(file.slice(0, 2).join(other), inserted.join(other))]);
          fc.pre("after" in result);
          const foreign = own === "\n" ? /\r/u : /(?<!\r)\n|\r(?!\n)/u;
          expect(foreign.test("after" in result ? result.after : "")).toBe(false);
        },
      ),
    );
  });
});

/** A part of a text with some of its characters exchanged for others that look alike. */
function likePartOf(
  before: string,
  part: { readonly from: number; readonly to: number; readonly swaps: readonly boolean[] },
): string {
  const ends = [part.from, part.to].map((at) => at % (before.length + 1)).sort((a, b) => a - b);
  const units = before.slice(ends[0], ends[1]).match(/\r\n|[^]/g) ?? [];
  return units.map((unit, at) => (part.swaps[at] === true ? (LOOKALIKES.get(unit) ?? unit) : unit)).join("");
}

const LOOKALIKES: ReadonlyMap<string, string> = new Map([
  ["\n", "\r\n"],
  ["\r\n", "\n"],
  ['"', "“"],
  ["“", '"'],
  ["-", "–"],
  ["–", "-"],
  [" ", "\u00a0"],
  ["\u00a0", " "],
]);

/** `old` in the line ends of a text that has only one kind. */
function inEndingsOf(before: string, old: string): string {
  const endings = new Set(before.match(/\r?\n/gu));
  const [only] = endings;
  return endings.size === 1 && only !== undefined ? old.replace(/\r?\n/gu, only) : old;
}

function naiveFold(value: string): string {
  return value
    .replace(/[\u00a0]/gu, " ")
    .replace(/[“”]/gu, '"')
    .replace(/–/gu, "-")
    .replace(/[ \t\r]+(?=\n)/gu, "")
    .replace(/[ \t\r]+$/u, "");
}

function countOf(value: string, wanted: string): number {
  let count = 0;
  if (wanted === "") return 0;
  for (let at = value.indexOf(wanted); at !== -1; at = value.indexOf(wanted, at + 1)) count++;
  return count;
}

test("edits that are none are refused by what is wrong with them", () => {
  const refusal = (edits: unknown): string => {
    try {
      return JSON.stringify(applyEdits("a", edits as readonly Edit[]));
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(
    [undefined, [null], [{ old_string: "a" }], [{ oldText: "a", new_string: "b" }]].map(refusal),
  ).toEqual([
    "edits is undefined; it must be a list of objects.",
    "edits[0] is null; it must be an object.",
    "edits[0].new_string is missing; it must be a string.",
    "edits[0].old_string is missing; it must be a string.",
  ]);
});
