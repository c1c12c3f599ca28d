import type { Environment } from "../../system/env.ts";
import type { DressedAnswer } from "../text/dressed-answer.ts";
import { lookFor } from "./look.ts";
import { highlighterFor } from "./markdown/highlight.ts";
import { MarkdownStream } from "./markdown/markdown-stream.ts";
import type { Line } from "./paint/line.ts";
import { paintLine } from "./paint/paint-line.ts";
import { marksOf } from "./paint/theme.ts";

/** Dresses an answer for a terminal of that many columns. */
export function dressAnswer(environment: Environment, columns: () => number): DressedAnswer {
  const look = lookFor(environment, "ansi");
  const markdown = new MarkdownStream({ marks: marksOf(look), highlight: highlighterFor });
  const text = (rows: readonly Line[]): string => rows.map((row) => `${paintLine(row, look)}\n`).join("");
  return {
    push: (more) => {
      markdown.push(more);
      return text(markdown.take(columns()));
    },
    end: () => {
      markdown.end();
      return text(markdown.take(columns()));
    },
  };
}
