import { terminalText } from "../view/safe-text.ts";

/**
 * Markup that is safe to be put into a page; made by {@link html}, so that no text gets in unescaped. A
 * class, for what a session file holds may have any form, and must not pass for one.
 */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** The values {@link html} takes between its pieces: markup, lists of it, or text, which is escaped. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/**
 * Markup with values in it. Texts are escaped for content and for attributes in double quotes; control
 * characters, escape sequences and marks of text direction become visible. Undefined is nothing.
 */
export function html(pieces: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = pieces[0] ?? "";
  values.forEach((value, at) => {
    markup += markupOf(value) + (pieces[at + 1] ?? "");
  });
  return new Html(markup);
}

function markupOf(value: HtmlValue): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.markup;
  if (Array.isArray(value)) return value.map(markupOf).join("");
  return terminalText(String(value)).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}

const ESCAPES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
