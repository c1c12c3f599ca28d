const NAME = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
/** A line of a key. A listing may put its number or a file name first. */
const LINE = '(?:[^\\n"]{0,80}[^A-Za-z0-9+/=\\n"])?[A-Za-z0-9+/=]{16,76}\\r?';
/** A blank line or a header, such as `DEK-Info: …`. */
const HEADER = '[ \\t]{0,8}(?:[A-Z][A-Za-z-]{2,20}: [^\\n"]{0,100})?\\r?';
/**
 * No part crosses a double quote, so that JSON remains valid. The longest RSA keys have 13,000 characters.
 */
const WHOLE = `(?:[^"-]|-(?!----)){40,32000}-----END ${NAME}`;
const CUT_IN_ONE_LINE = "(?:\\\\[rn]|[A-Za-z0-9+/=]){40,32000}";
const CUT_IN_LINES = `[ \\t\\r]{0,8}(?:\\n${HEADER}){0,4}(?:\\n${LINE}){1,500}`;
const KEY = new RegExp(`-----BEGIN ${NAME}(${WHOLE}|${CUT_IN_ONE_LINE}|${CUT_IN_LINES})`, "g");
/** The first line of a key, or the beginning of it where the text ends. */
const FIRST_LINE = new RegExp(`^-----BEGIN (?:${NAME}|[A-Z0-9 -]{0,60}$)`);
const END = new RegExp(`-----END ${NAME}`, "g");
const KEY_LINE = new RegExp(`^${LINE}$`);
/** Code that only mentions the first and last line of a key has no such text between them. */
const BODY = /[A-Za-z0-9+/]{40}/;

/**
 * Replaces private keys in PEM format with `mark`, with line numbers or escaped newlines too, and when the
 * text holds only the beginning or the end of the key.
 */
export function replacePrivateKeys(text: string, mark: string): string {
  if (!text.includes("PRIVATE KEY")) return text;
  return withoutKeyEnds(
    text.replace(KEY, (all, body: string) => (BODY.test(body) ? mark : all)),
    mark,
  );
}

/** The start of a private key that may continue after this text; -1 when there is none. */
export function openKeyStart(text: string): number {
  const start = text.lastIndexOf("-----BEGIN ");
  if (start === -1 || !FIRST_LINE.test(text.slice(start, start + 100))) return -1;
  const end = text.indexOf("-----END ", start);
  return end === -1 || !text.includes("\n", end) ? start : -1;
}

/** Replaces an end of a key whose beginning is missing, together with the lines of the key before it. */
function withoutKeyEnds(text: string, mark: string): string {
  let result = "";
  let done = 0;
  for (const { 0: end, index } of text.matchAll(END)) {
    const last = lineStart(text, index);
    let start = last;
    while (start > done) {
      const previous = Math.max(done, lineStart(text, start - 1));
      if (!KEY_LINE.test(text.slice(previous, start - 1))) break;
      start = previous;
    }
    if (start === last || text.slice(last, index).includes('"')) continue;
    result += text.slice(done, start) + mark;
    done = index + end.length;
  }
  return result + text.slice(done);
}

/** The start of the line before `end`, no further back than a line of a key is long. */
function lineStart(text: string, end: number): number {
  const from = Math.max(0, end - 200);
  return from + text.slice(from, end).lastIndexOf("\n") + 1;
}
