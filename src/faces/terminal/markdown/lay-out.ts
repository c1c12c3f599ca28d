import { cutLine, type Line, line, lineColumns, span, wrapLine } from "../paint/line.ts";
import type { Marks } from "../paint/theme.ts";
import { inlineSpans } from "./inline.ts";
import { tableRows } from "./table.ts";

/** The text before the rows of a block: bars of quotes, indents and bullets of lists. */
export interface Lead {
  readonly first: Line;
  readonly rest: Line;
}

/** A finished piece of an answer, to be laid out for a width. */
export type Block =
  | { readonly type: "blank" }
  | {
      readonly type: "paragraph";
      readonly text: string;
      readonly lead: Lead;
      readonly heading: boolean;
      readonly skip: number;
    }
  | { readonly type: "code"; readonly spans: Line; readonly lead: Lead }
  | { readonly type: "table"; readonly lines: readonly string[]; readonly lead: Lead }
  | { readonly type: "rule"; readonly lead: Lead };

/** The rows of a block. A block that cannot be laid out shows its text. */
export function layOutBlock(block: Block, width: number, marks: Marks): readonly Line[] {
  switch (block.type) {
    case "blank":
      return [[]];
    case "paragraph": {
      const { lead, heading, text, skip } = block;
      const spans = inlineSpans(text, heading ? { role: "heading", bold: true } : {});
      return wrapLine(withoutStart(spans, skip), { width, ...lead });
    }
    case "code": {
      const { first, rest } = block.lead;
      const room = Math.max(2, width - lineColumns(first));
      return cutLine(block.spans, room).map((row, index) => [...(index === 0 ? first : rest), ...row]);
    }
    case "table": {
      const { first, rest } = block.lead;
      const rows = tableRows(block.lines, width - lineColumns(first), marks);
      if (rows === undefined)
        return block.lines.flatMap((each) => wrapLine(inlineSpans(each), { width, ...block.lead }));
      return rows.map((row, index) => [...(index === 0 ? first : rest), ...row]);
    }
    case "rule":
      return [
        [
          ...block.lead.first,
          ...line(marks.rule.repeat(Math.max(3, Math.min(40, width - 4))), { role: "muted" }),
        ],
      ];
  }
}

function withoutStart(spans: Line, chars: number): Line {
  if (chars === 0) return spans;
  let left = chars;
  return spans.flatMap((each) => {
    const rest = each.text.slice(left);
    left = Math.max(0, left - each.text.length);
    return rest === "" ? [] : [span(rest, each.style)];
  });
}
