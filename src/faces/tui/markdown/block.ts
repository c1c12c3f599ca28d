import type { Line } from "../paint/line.ts";

/** What stands before the rows of a block: bars of quotes, indents and bullets of lists. */
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
