/** The kind of a line of Markdown, without the marks of quotes before it. */
export type LineKind =
  | { readonly kind: "blank" }
  | { readonly kind: "fence"; readonly mark: string; readonly language: string }
  | { readonly kind: "item"; readonly mark: string; readonly box: string | undefined; readonly text: string }
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "rule" }
  | { readonly kind: "table"; readonly text: string }
  | { readonly kind: "text"; readonly text: string };

/**
 * The kind of a line. `isWhole`: all of it is there; else it goes on, and is something only whole lines can
 * be (a fence, a rule, a row of a table) in no case.
 */
export function lineKind(text: string, isWhole: boolean): LineKind {
  if (text === "") return { kind: "blank" };
  if (isWhole) {
    const fence = /^(`{3,}|~{3,})\s*([^`]*)$/.exec(text);
    if (fence !== null) return { kind: "fence", mark: fence[1] ?? "", language: (fence[2] ?? "").trim() };
    if (/^(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/.test(text)) return { kind: "rule" };
    if (text.startsWith("|")) return { kind: "table", text };
  }
  const item = /^([-*+]|\d{1,9}[.)])\s+(\[[ xX]\]\s+)?(?=\S)/.exec(text);
  if (item !== null)
    return { kind: "item", mark: item[1] ?? "-", box: item[2]?.trim(), text: text.slice(item[0].length) };
  const heading = /^#{1,6}\s+/.exec(text);
  if (heading !== null) return { kind: "heading", text: text.slice(heading[0].length) };
  return { kind: "text", text };
}

/** A longer line is none that only whole ones can be: no row of a table, no rule. */
const MAX_LINE = 16_000;

/** True when it is certain how a line begins, whatever follows. */
export function isDefinite(start: string): boolean {
  if (start.length > MAX_LINE) return true;
  const { text } = unquote(start);
  const [first] = text;
  if (first === undefined) return false;
  if (/[-*+_]/.test(first)) return /[^-*+_\s]/.test(text) && !/^[-*+]\s+\[.{0,2}$/.test(text);
  if (/\d/.test(first)) return /^\d+(?:[^\d.)]|[.)](?:\S|\s+\S)|\d{9})/.test(text);
  if (first === "#") return /^#{1,6}(?:\s+\S|[^#\s])|^#{7}/.test(text);
  if (first === "`" || first === "~") return /^(?:`{1,2}[^`]|~{1,2}[^~])/.test(text);
  return first !== "|";
}

/** A line without the marks of quotes and the blanks before it. */
export interface UnquotedLine {
  readonly text: string;
  readonly quotes: number;
  readonly column: number;
}

/** Takes the marks of quotes and the blanks off the beginning of a line. */
export function unquote(source: string): UnquotedLine {
  let rest = source;
  let quotes = 0;
  for (let found = /^\s{0,3}> ?/.exec(rest); found !== null; found = /^\s{0,3}> ?/.exec(rest)) {
    rest = rest.slice(found[0].length);
    quotes++;
  }
  const text = rest.trimStart();
  const column = rest.slice(0, rest.length - text.length).replaceAll("\t", "    ").length;
  return { text, quotes, column };
}

/** True when a line ends a block of code that began with a mark. */
export function isFenceEnd(text: string, mark: string): boolean {
  const found = /^\s*(?:>\s?)*\s*(`{3,}|~{3,})\s*$/.exec(text)?.[1];
  return found?.startsWith(mark) === true;
}
