import { type Line, shownText } from "./line.ts";
import { type Look, styleCodes } from "./theme.ts";

/** A line as a terminal takes it, from a character on; styles are switched off at its end. */
export function paintLine(row: Line, look: Look, fromChar = 0): string {
  let out = "";
  let skip = fromChar;
  let codes = "";
  let link = "";
  for (const each of row) {
    const { style } = each;
    const text = shownText(each, look);
    const rest = text.slice(skip);
    skip = Math.max(0, skip - text.length);
    if (rest === "") continue;
    const wanted = styleCodes(style, look);
    if (wanted !== codes) {
      out += wanted === "" ? "\u001B[m" : codes === "" ? `\u001B[${wanted}m` : `\u001B[0;${wanted}m`;
      codes = wanted;
    }
    const target = look.links ? safeLink(style.link) : "";
    if (target !== link) out += `\u001B]8;;${target}\u001B\\`;
    link = target;
    // The makers of spans took care of this; here it holds whatever they do.
    out += rest.replaceAll(CONTROL, "\uFFFD");
  }
  if (link !== "") out += "\u001B]8;;\u001B\\";
  return codes === "" ? out : `${out}\u001B[m`;
}

const CONTROL = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** An address that a terminal may be given: of the web or a file, in printable ASCII; else nothing. */
function safeLink(link: string | undefined): string {
  return link !== undefined && link.length <= 2_000 && /^(?:https?|file|mailto):[!-~]+$/.test(link)
    ? link
    : "";
}
