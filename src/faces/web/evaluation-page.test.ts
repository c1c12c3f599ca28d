import fc from "fast-check";
import { parse } from "parse5";
import { expect, test } from "vitest";
import type { RunRecord } from "../../evaluation/results-folder.ts";
import { compareModels, summarize } from "../../evaluation/summarize.ts";
import { evaluationPage } from "./export-page.tsx";

interface Node {
  readonly nodeName: string;
  readonly value?: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly Node[];
}

function nodes(node: Node): readonly Node[] {
  return [node, ...(node.childNodes ?? []).flatMap(nodes)];
}

function records(text: string): readonly RunRecord[] {
  return ["p/a", `p/${text}`].flatMap((model, at) =>
    [1, 2].map(
      (repeat): RunRecord => ({
        v: 1,
        task: text,
        hash: "h",
        model,
        repeat,
        solved: at === 0,
        reason: text,
        ...(repeat === 2 && at === 1 && { error: text }),
        stop: "completed",
        turns: 3,
        inputTokens: 1_000,
        outputTokens: 50,
        cachedTokens: 10,
        costUsd: at === 0 ? 0.5 : null,
        ms: 65_000,
        checkMs: 1,
        refused: at,
        session: text,
        time: "2026-01-01T00:00:00.000Z",
      }),
    ),
  );
}

function page(text: string): {
  readonly all: readonly Node[];
  readonly text: string;
  readonly source: string;
} {
  const runs = records(text);
  const source = evaluationPage(
    {
      title: text,
      records: runs,
      summaries: summarize(runs),
      comparisons: compareModels(runs),
      titles: new Map([[text, `${text}!`]]),
      open: 2,
    },
    "body{}",
  );
  const all = nodes(parse(source) as Node);
  return { source, all, text: all.map(({ value = "" }) => value).join("") };
}

test("a page shows figures, comparison, tasks and runs", () => {
  const { text, source } = page("plain");
  expect(source.startsWith("<!doctype html>\n")).toBe(true);
  for (const part of [
    "Not complete: 2 runs still to be made.",
    "p/a → p/plain",
    "solved 100 % → 0 % (-100 points) over 1 task",
    "That may well be chance",
    "plain!",
    "2 of 3",
    "1 min 5 s",
    "$0.5000",
    "unknown",
    "not solved",
    "completed, 1 call refused",
  ])
    expect(text).toContain(part);
});

test("nothing that others wrote becomes markup", () => {
  const plain = page("plain").all;
  const shape = (all: readonly Node[]): string =>
    all.map(({ nodeName, attrs = [] }) => [nodeName, ...attrs.map(({ name }) => name)].join(" ")).join("\n");
  const hostile = fc
    .array(
      fc.constantFrom(
        "<script>",
        "</td>",
        '"',
        "'",
        "&lt;",
        "<img src=x onerror=1>",
        "-->",
        "</style>",
        "a",
        "\u202e",
      ),
    )
    .map((parts) => `x${parts.join("")}`);
  fc.assert(
    fc.property(hostile, (text) => {
      expect(shape(page(text).all)).toBe(shape(plain));
    }),
  );
});
