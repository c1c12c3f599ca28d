import fc from "fast-check";
import { parse } from "parse5";
import { expect, test } from "vitest";
import type { FileChange, JournalEntry } from "../../core/agent/entries.ts";
import { sessionPage } from "./session-page.ts";

interface Node {
  readonly nodeName: string;
  readonly value?: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly Node[];
}

function nodes(node: Node): readonly Node[] {
  return [node, ...(node.childNodes ?? []).flatMap(nodes)];
}

function page(
  entries: readonly JournalEntry[],
  sessionId = "s",
): { readonly source: string; readonly all: readonly Node[]; readonly text: string } {
  const header = {
    id: "h",
    parent: null,
    time: 0,
    type: "session",
    sessionId,
    cwd: "/home/me/<b>work</b>",
  } as const;
  const source = sessionPage({
    sessionId,
    path: "/x",
    header,
    damaged: [{ line: 3, reason: "<i>cut</i>" }],
    records: 1,
    entries,
    setAside: [],
    otherTypes: { "<u>": 2 },
  });
  const all = nodes(parse(source) as Node);
  const text = all
    .filter(({ nodeName }) => nodeName === "#text")
    .map(({ value }) => value ?? "")
    .join("");
  return { source, all, text };
}

const base = { id: "e", parent: null, time: 1_767_225_600_000 };
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 };

function session(hostile: string): readonly JournalEntry[] {
  return [
    { ...base, type: "run_start", sessionId: "s", model: `a/${hostile}`, tools: ["edit"] },
    {
      ...base,
      type: "user_message",
      source: "input",
      message: {
        role: "user",
        name: hostile,
        content: [
          { type: "text", text: hostile },
          { type: "image", source: { type: "url", url: `https://evil.example/${hostile}` } },
          { type: "image", source: { type: "base64", media_type: "image/png", data: hostile } },
        ],
      },
    },
    {
      ...base,
      type: "assistant_message",
      model: `a/${hostile}`,
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: hostile },
          { type: "text", text: hostile },
          { type: "tool_use", id: "c", name: hostile, input: { path: hostile, [hostile]: 1 } },
        ],
      },
      finishReason: { unified: "tool_use", raw: hostile },
      usage,
      costUsd: 0.25,
      durationMs: 1_000,
    },
    {
      ...base,
      type: "permission_decision",
      callId: "c",
      name: hostile,
      input: {},
      action: "deny",
      by: "rule",
      reason: hostile,
      rule: hostile,
      suggestion: hostile,
    },
    {
      ...base,
      type: "tool_result",
      callId: "c",
      name: hostile,
      status: "ok",
      result: { type: "tool_result", tool_use_id: "c", content: hostile },
      title: hostile,
      metadata: { diff: `@@ -1 +1 @@\n-${hostile}\n+${hostile}` },
      durationMs: 5,
    },
    { ...base, type: "run_end", stopReason: "error", iterations: 1, error: { code: "x", message: hostile } },
  ];
}

const ELEMENTS = new Set([
  "html",
  "head",
  "meta",
  "title",
  "style",
  "body",
  "header",
  "main",
  "footer",
  "section",
  "article",
  "h1",
  "h2",
  "dl",
  "dt",
  "dd",
  "table",
  "tbody",
  "tr",
  "th",
  "td",
  "div",
  "p",
  "span",
  "b",
  "pre",
  "code",
  "details",
  "summary",
  "ol",
  "li",
  "a",
  "svg",
  "rect",
  "img",
]);
const ATTRIBUTES = new Set([
  "lang",
  "charset",
  "http-equiv",
  "content",
  "name",
  "class",
  "id",
  "dir",
  "href",
  "open",
  "viewBox",
  "preserveAspectRatio",
  "aria-hidden",
  "y",
  "x",
  "height",
  "width",
  "alt",
  "src",
]);

/** What a page may consist of: nothing that runs, nothing that is loaded from elsewhere. */
function faults({ all }: { readonly all: readonly Node[] }): readonly string[] {
  return all
    .flatMap(({ nodeName, attrs = [] }) => [
      ...(nodeName.startsWith("#") || ELEMENTS.has(nodeName) ? [] : [nodeName]),
      ...attrs.flatMap(({ name, value }) => {
        if (!ATTRIBUTES.has(name)) return [`${nodeName} ${name}`];
        if (name === "href" && !/^#step-\d+$/.test(value)) return [`href ${value}`];
        return name === "src" &&
          !/^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/.test(value)
          ? [`src ${value}`]
          : [];
      }),
    ])
    .filter((fault) => fault !== "html" && fault !== "documentType");
}

test("a page shows conversation, calls, decisions, diffs, usage and cost", () => {
  const shown = page(session("plain"));
  expect(shown.source.startsWith("<!doctype html>\n")).toBe(true);
  for (const text of [
    "Step 1",
    "10 (4 cached) tokens in, 5 out",
    "$0.2500",
    "Refused by a rule: plain",
    "+plain",
    "error, x: plain",
    "Timeline of 1 steps",
    "Damaged: line 3, <i>cut</i>",
    "Not shown: 2 records of type <u>",
    "/home/me/<b>work</b>",
  ])
    expect(shown.text).toContain(text);
  expect(faults(shown)).toEqual([]);
});

test("its policy allows the style it has and images in it, and nothing else", () => {
  const { all } = page([]);
  const policy = all
    .find(({ attrs }) => attrs?.some(({ value }) => value === "Content-Security-Policy"))
    ?.attrs?.find(({ name }) => name === "content")?.value;
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src data:; base-uri 'none'; form-action 'none'$/,
  );
});

test.each([
  "</pre></div><script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='x",
  "</style></title><!--",
  "javascript:alert(1)",
  "\u202Egnp.exe\u202C \u001B[31mred\u001B[0m \u0000 \uD800",
  "L".repeat(200_000),
])("hostile text (%#) is text everywhere and nothing else", (hostile) => {
  const shown = page(session(hostile), "s");
  expect(faults(shown)).toEqual([]);
  expect(shown.source).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u202A-\u202E\u2066-\u2069]/);
});

test("no text whatsoever brings in an element or an attribute", () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "<",
      ">",
      "&",
      '"',
      "'",
      "<script",
      "</",
      "<!--",
      "-->",
      "]]>",
      "&lt;",
      "&#60;",
      "`",
      "=",
      "\n",
      "<svg onload=",
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      expect(faults(page(session(pieces.join(""))))).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("what stands in the place of a text in a session file of somebody else is no markup", () => {
  const odd = { markup: "<meta http-equiv=refresh content='0;url=https://x.example'>" };
  const entries = [
    { ...base, type: "run_start", model: odd },
    { ...base, type: "user_message", source: "input", message: { role: "user", name: odd, content: [] } },
    { ...base, type: "run_end", stopReason: odd, error: { code: odd, message: odd } },
    { ...base, type: "approval_request", callId: "c", name: odd, reason: [odd, [odd]] },
  ] as unknown as readonly JournalEntry[];
  const { all, text } = page(entries);
  const metas = all.filter(({ nodeName }) => nodeName === "meta").length;
  expect([
    metas,
    page([]).all.filter(({ nodeName }) => nodeName === "meta").length,
    text.includes("refresh"),
  ]).toEqual([4, 4, false]);
});

test("checkpoints and what was put back name their files, and no record shows its type", () => {
  const change = (path: string): FileChange => ({ path, before: null, after: null });
  const changes = ["a.ts", "b.ts", "c.ts", "d.ts", "e.ts", "f.ts", "g.ts"].map(change);
  const { text } = page([
    { ...base, type: "checkpoint", callId: "c", name: "bash", root: "/w", changes },
    { ...base, type: "checkpoint", callId: "d", name: "edit", root: "/w", changes: [] },
    { ...base, type: "rollback", direction: "undo", root: "/w", changes: [change("a.ts")] },
    { ...base, type: "rollback_end", rollback: "r", failed: ["a.ts"] },
    { ...base, type: "memory_edit", edit: "mark", marks: ["m"] },
  ]);
  expect(text).toContain("bash changed 7 files: a.ts, b.ts, c.ts, d.ts, e.ts and 2 more");
  expect(text).toContain("Put back: 1 file: a.ts");
  expect(text).toContain("Could not be put back: a.ts");
  expect(text).not.toMatch(/record of type|edit changed/);
});
