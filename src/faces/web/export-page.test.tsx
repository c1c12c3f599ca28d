import fc from "fast-check";
import { parse } from "parse5";
import { expect, test } from "vitest";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { exportPage } from "./export-page.tsx";

interface Node {
  readonly nodeName: string;
  readonly value?: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly Node[];
}

function nodes(node: Node): readonly Node[] {
  return [node, ...(node.childNodes ?? []).flatMap(nodes)];
}

interface Page {
  readonly source: string;
  readonly all: readonly Node[];
  readonly text: string;
}

function page(entries: readonly JournalEntry[]): Page {
  const header = {
    id: "h",
    parent: null,
    time: 0,
    type: "session",
    sessionId: "s",
    cwd: "/me/<b>work</b>",
  } as const;
  const source = exportPage(
    {
      sessionId: "s",
      path: "/x",
      header,
      damaged: [{ line: 3, reason: "cut" }],
      records: 1,
      entries,
      setAside: [],
      otherTypes: { "<u>": 2 },
    },
    "body{color:red}",
  );
  const all = nodes(parse(source) as Node);
  const text = all.flatMap(({ nodeName, value = "" }) => (nodeName === "#text" ? [value] : [])).join("");
  return { source, all, text };
}

const base = { parent: null, time: 1_767_225_600_000 };
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 };

function session(hostile: string): readonly JournalEntry[] {
  const call = { callId: "c", name: hostile };
  const entries = [
    { type: "run_start", sessionId: "s", model: `a/${hostile}`, tools: ["edit"] },
    {
      type: "user_message",
      source: "input",
      message: {
        role: "user",
        name: hostile,
        content: [
          { type: "text", text: hostile },
          { type: "image", source: { type: "url", url: `https://evil.example/${hostile}` } },
        ],
      },
    },
    {
      type: "assistant_message",
      model: `a/${hostile}`,
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: hostile },
          { type: "text", text: hostile },
          { type: "tool_use", id: "c", name: hostile, input: { path: hostile, [hostile]: 1 } },
          { type: "tool_use", id: "d", name: "bash", input: { command: hostile } },
        ],
      },
      finishReason: { unified: "tool_use", raw: hostile },
      usage,
      costUsd: 0.25,
      durationMs: 1_000,
    },
    { ...call, type: "tool_intent", input: { path: hostile }, attempt: 1 },
    {
      ...call,
      type: "tool_result",
      status: "ok",
      result: { type: "tool_result", tool_use_id: "c", content: hostile },
      title: hostile,
      metadata: { diff: `@@ -1 +1 @@\n-${hostile}\n+${hostile}`, path: hostile },
      durationMs: 5,
    },
    {
      type: "tool_result",
      callId: "d",
      name: "bash",
      status: "error",
      result: { type: "tool_result", tool_use_id: "d", content: `Error: ${hostile}` },
      durationMs: 5,
    },
    {
      type: "checkpoint",
      callId: "c",
      name: hostile,
      root: "/w",
      changes: [{ path: hostile, before: null, after: null }],
    },
    { type: "note", kind: "shell", data: { command: hostile, output: hostile, exitCode: 1, shared: false } },
    { type: "compaction", messages: [], tokensBefore: 9, tokensAfter: 1, method: "summary" },
    { type: "run_end", stopReason: "error", iterations: 1, error: { code: "x", message: hostile } },
  ];
  return entries.map((entry, at) => ({
    ...base,
    id: `e${at}`,
    ...entry,
  })) as unknown as readonly JournalEntry[];
}

const ELEMENTS = new Set(
  "html head meta title style body main header section article h1 h2 h3 h4 h5 h6 dl dt dd table thead tbody tr th td div p span b strong em del hr blockquote pre code details summary ol ul li a br time label figure figcaption mark svg g rect path circle line text polyline desc abbr small tspan".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "lang charset http-equiv content name class id dir href open viewbox d r cx cy x y x1 x2 y1 y2 rx points width height preserveaspectratio tabindex datetime scope title role rel target start text-anchor dominant-baseline stroke-dasharray for dx".split(
    " ",
  ),
);

/** What a page may consist of: nothing that runs or waits for a script, nothing loaded from elsewhere. */
function faults({ all }: Page): readonly string[] {
  return all.flatMap(({ nodeName, attrs = [] }) => [
    ...(nodeName.startsWith("#") || ELEMENTS.has(nodeName) ? [] : [nodeName]),
    ...attrs.flatMap(({ name, value }) => {
      if (name === "href") return /^(?:https?:|mailto:|#)/i.test(value) ? [] : [`href ${value}`];
      return ATTRIBUTES.has(name.toLowerCase()) || name.startsWith("aria-") ? [] : [`${nodeName} ${name}`];
    }),
  ]);
}

test("a page shows conversation, calls, diffs, time, tokens, cost and files, and what it leaves out", () => {
  const shown = page(session("plain"));
  for (const text of [
    "/me/<b>work</b>",
    "plain",
    "$0.25",
    "Compacted from 9 to 1 tokens",
    "The run failed: plain",
    "exit code 1",
    "1 run, 1 request, 1 call",
    "Damaged lines of its file are left out: 3.",
    "Not shown: 2 records of type <u>",
  ])
    expect(shown.text).toContain(text);
  expect(faults(shown)).toEqual([]);
});

test("its policy allows the style it has and nothing else", () => {
  const policy = page([])
    .all.flatMap(({ attrs = [] }) => attrs)
    .find(({ value }) => value.startsWith("default-src"));
  expect(policy?.value).toMatch(
    /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; form-action 'none'$/,
  );
});

test.each([
  "</pre></div><script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='x",
  "</style></title><!--",
  "[x](javascript:alert(1)) <javascript:alert(1)>",
  "\u202Egnp.exe\u202C \u001B[31mred\u001B[0m \u0000 \uD800",
  "L".repeat(100_000),
])("hostile text (%#) is text everywhere and nothing else", (hostile) => {
  const shown = page(session(hostile));
  expect(faults(shown)).toEqual([]);
  expect(shown.source).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u202A-\u202E\u2066-\u2069]/);
});

test("no text whatsoever brings in an element or an attribute", () => {
  const odd = [
    "<",
    ">",
    "&",
    '"',
    "'",
    "<script",
    "</",
    "<!--",
    "-->",
    "&lt;",
    "`",
    "=",
    "\n",
    "<svg onload=",
    "![",
    "](x)",
  ];
  const text = fc.array(fc.oneof(fc.string(), fc.constantFrom(...odd)), { maxLength: 8 });
  fc.assert(
    fc.property(text, (pieces) => {
      expect(faults(page(session(pieces.join(""))))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test("what stands in the place of a text in a session file of somebody else is no markup", () => {
  const odd = { type: "meta", props: { content: "refresh" }, constructor: undefined };
  const entries = [
    { ...base, id: "a", type: "run_start", model: odd },
    {
      ...base,
      id: "b",
      type: "user_message",
      source: "input",
      message: { role: "user", name: odd, content: [] },
    },
    { ...base, id: "c", type: "approval_request", callId: "c", name: odd, input: {}, reason: [odd] },
    { ...base, id: "d", type: "run_end", stopReason: odd, error: { code: odd, message: odd } },
  ] as unknown as readonly JournalEntry[];
  const metas = ({ all }: Page): number => all.filter(({ nodeName }) => nodeName === "meta").length;
  expect([metas(page(entries)), metas(page([]))]).toEqual([4, 4]);
});

test("a page is called by what was asked first", () => {
  const message = { role: "user", content: [{ type: "text", text: "Fix the <build>\nplease" }] } as const;
  const entry = { id: "e", parent: null, time: 1, type: "user_message", source: "input", message } as const;
  const known = { sessionId: "s", header: undefined, damaged: [], otherTypes: {} };
  const titles = [[entry], []].map(
    (entries) => /<title>(.*?)<\/title>/.exec(exportPage({ ...known, entries } as never, ""))?.[1],
  );
  expect(titles).toEqual(["Fix the &lt;build> please", "Session s"]);
});
