import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMarkdown, splitFrontMatter } from "./front-matter.ts";

const split = (text: string): unknown => splitFrontMatter(text);

describe("splitting", () => {
  test("a head stands between two lines of dashes, whatever ends the lines", () => {
    expect([
      split("---\na: 1\n---\nbody\n"),
      split("\uFEFF---  \r\na: 1\r\n---\t\r\nbody"),
      split("---\n---\n"),
      split("---\na: 1\n---"),
    ]).toEqual([
      { front: "a: 1\n", body: "body\n" },
      { front: "a: 1\r\n", body: "body" },
      { front: "", body: "" },
      { front: "a: 1\n", body: "" },
    ]);
  });

  test("dashes elsewhere are text", () => {
    for (const text of ["", "body", "\n---\na: 1\n---\n", "----\na\n----\n", " ---\na: 1\n---\n"])
      expect(split(text)).toEqual({ front: undefined, body: text });
    expect(split("---\ntext: |\n  ---\n---x\n---\nbody\n---\n")).toEqual({
      front: "text: |\n  ---\n---x\n",
      body: "body\n---\n",
    });
  });

  test("a head without an end is a fault", () => {
    for (const text of ["---", "---\n", "---\na: 1\n", "---\na: 1\n ---\n"])
      expect(split(text)).toEqual({
        fault: "the front matter has no end: close it with a line of ---",
      });
  });

  const line = fc
    .string({ unit: "binary" })
    .map((text) => text.replaceAll(/[\r\n]/g, " "))
    .filter((text) => !/^---[ \t]*$/.test(text));

  test("what was put together is taken apart again", () => {
    const ending = fc.constantFrom("\n", "\r\n");
    fc.assert(
      fc.property(fc.array(line), fc.string({ unit: "binary" }), ending, (lines, body, end) => {
        const front = lines.map((each) => each + end).join("");
        expect(split(`---${end}${front}---${end}${body}`)).toEqual({ front, body });
      }),
    );
  });

  test("any text is cut into pieces of itself, or is a fault", () => {
    const piece = fc.constantFrom("---", "---\n", "\n", "\r\n", "a: b", " ", "\uFEFF", "-");
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
        const text = pieces.join("");
        const result = splitFrontMatter(text);
        if ("fault" in result) {
          expect(text).toMatch(/^\uFEFF?---[ \t]*(\r?\n|$)/);
          return;
        }
        expect([text.endsWith(result.body), text.includes(result.front ?? "")]).toEqual([true, true]);
      }),
    );
  });
});

describe("reading", () => {
  test("fields are plain data", async () => {
    const text =
      '---\nname: a\ntools: [read, grep]\nmaxTurns: 3\nok: yes\nwhen: 2024-01-01\nnote: "x: y"\n---\nDo it.';
    expect(await parseMarkdown(text)).toEqual({
      fields: {
        name: "a",
        tools: ["read", "grep"],
        maxTurns: 3,
        ok: "yes",
        when: "2024-01-01",
        note: "x: y",
      },
      body: "Do it.",
    });
  });

  test.each([
    ["argument-hint: [pr] [level]", { "argument-hint": "[pr] [level]" }],
    [
      'description: Use this: "x" #1\r\ntools: [read]\r',
      { description: 'Use this: "x" #1', tools: ["read"] },
    ],
    ["description: *bold* and: `code`", { description: "*bold* and: `code`" }],
    ["description: @who: {a", { description: "@who: {a" }],
    ['description: "a: b"\nargument-hint: a: b', { description: "a: b", "argument-hint": "a: b" }],
  ])("words for a person are taken as they stand: %j", async (front, fields) => {
    expect(await parseMarkdown(`---\n${front}\n---\nx`)).toEqual({ fields, body: "x" });
  });

  test.each(["allowed-tools: [read] [bash]", "tools: {x", "disallowedTools: [bash", "model: a: b"])(
    "what decides something is never guessed: %s",
    async (line) => {
      expect(await parseMarkdown(`---\ndescription: a: b\n${line}\n---\nx`)).toEqual({
        fault: expect.stringMatching(/is not YAML, line [34]/),
      });
    },
  );

  test("no head, and an empty one, have no fields", async () => {
    expect([await parseMarkdown("Do it."), await parseMarkdown("---\n\n---\nDo it.")]).toEqual([
      { fields: {}, body: "Do it." },
      { fields: {}, body: "Do it." },
    ]);
  });

  test.each([
    ["a: b: c", /not YAML, line 2: .*mapping.*quote texts/],
    ["a: 1\na: 2", /not YAML, line 3: Map keys must be unique/],
    ["a: [1, 2", /not YAML, line /],
    ["- a\n- b", /holds no fields/],
    ["just text", /holds no fields/],
    ["? [a]\n: 1", /not YAML|cannot be read/],
    [`a: "${"x".repeat(20_000)}"`, /has 20006 characters, more than 16384/],
    [`a: ${"[".repeat(8_000)}`, /not YAML|cannot be read/],
    [
      `a: &a [1]\n${Array.from({ length: 20 }, (_, at) => `b${at}: &b${at} [*${at === 0 ? "a" : `b${at - 1}`}, *${at === 0 ? "a" : `b${at - 1}`}]`).join("\n")}`,
      /cannot be read: Excessive alias count/,
    ],
  ])("what is not a set of fields is a fault: %s", async (front, fault) => {
    expect(await parseMarkdown(`---\n${front}\n---\nx`)).toEqual({ fault: expect.stringMatching(fault) });
  });

  test("tags make no objects, and a field called __proto__ changes nothing", async () => {
    const read = await parseMarkdown("---\na: !!js/function 'x'\n__proto__: { polluted: true }\n---\n");
    expect("fields" in read ? (read.fields as { polluted?: boolean }).polluted : undefined).toBe(undefined);
    expect(({} as { polluted?: boolean }).polluted).toBe(undefined);
  });

  test("never throws, whatever stands in the head", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (front) => {
        const read = await parseMarkdown(`---\n${front}\n---\nbody`);
        expect("fault" in read ? typeof read.fault : typeof read.body).toBe("string");
      }),
    );
  });
});
