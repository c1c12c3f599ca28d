import { BOM, ENCODING_NAMES, type FileEncoding } from "./file-text.ts";
import { withLineEndsOf } from "./line-ends.ts";

/** The facts of a text that numbered lines do not show. */
export interface TextForm {
  readonly hasMark: boolean;
  /** Lines that end in CR LF: all, some, none. */
  readonly crLf: "all" | "some" | "none";
}

/** The form of a whole text. */
export function formOf(text: string): TextForm {
  const crLf = text.includes("\r\n") ? (/(?<!\r)\n/u.test(text) ? "some" : "all") : "none";
  return { hasMark: text.startsWith(BOM), crLf };
}

/** The form of a file in words: `UTF-8 with a byte order mark, CR LF line ends`. */
export function describeForm(form: TextForm & { readonly encoding: FileEncoding }): string {
  const mark = form.hasMark && form.encoding === "utf-8" ? " with a byte order mark" : "";
  return `${ENCODING_NAMES[form.encoding]}${mark}, ${LINE_ENDS[form.crLf]}`;
}

const LINE_ENDS = {
  all: "CR LF line ends",
  some: "some lines end in CR LF, others in LF",
  none: "LF line ends",
} as const;

/** A new content as it is put in the place of `before`: with its byte order mark and its line ends. */
export async function inFormOf(before: string, content: string): Promise<string> {
  const marked = before.startsWith(BOM) && !content.startsWith(BOM) ? BOM + content : content;
  return withLineEndsOf(before, marked);
}
