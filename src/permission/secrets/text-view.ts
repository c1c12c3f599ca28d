/** A text that was decoded, and where each of its characters came from. */
export interface TextView {
  readonly text: string;
  /** Where the source of the character begins, by its place in `text`. */
  readonly starts: Uint32Array;
  /** Where it ends. */
  readonly ends: Uint32Array;
}

/** How programs write a character, by first sign: percent, backslashes (JSON, C, shells), HTML entities. */
const ESCAPES: { readonly [sign: string]: string } = {
  "%": "%(?<percent>[0-9A-Fa-f]{2})",
  "\\": "\\\\(?:u(?<unicode>[0-9A-Fa-f]{4})|u\\{(?<braces>[0-9A-Fa-f]{1,6})\\}|x(?<byte>[0-9A-Fa-f]{2})|(?<octal>[0-3][0-7]{2})|(?<letter>[\\s\\S]))",
  "&": "&(?:#(?<decimal>\\d{1,7})|#[xX](?<hex>[0-9A-Fa-f]{1,6})|(?<entity>amp|lt|gt|quot|apos|nbsp));",
};
/** All of them. `0x` before two digits stands for nothing. */
const ANY = new RegExp(
  `${Object.values(ESCAPES).join("|")}|(?<![A-Za-z0-9])0x(?=[0-9A-Fa-f]{2}(?![0-9A-Fa-f]))`,
  "g",
);
const HAS_ESCAPE = /[%\\&]|0x/;
const CONTROLS: { readonly [letter: string]: string } = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
  v: "\v",
};
const ENTITIES: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};
/** A text may be encoded within an encoding. */
const MAX_DEPTH = 3;

/** A text with one kind of its escapes decoded: for a value whose characters other kinds would decode too. */
export function singleViews(text: string): readonly TextView[] {
  return Object.entries(ESCAPES).flatMap(([sign, escape]) =>
    text.includes(sign) ? [decoded(text, new RegExp(escape, "g"))] : [],
  );
}

/** The views of a text with its escapes decoded once, then what is escaped in there. None without escapes. */
export function decodedViews(text: string): readonly TextView[] {
  const views: TextView[] = [];
  let last = text;
  for (let depth = 0; depth < MAX_DEPTH && HAS_ESCAPE.test(last); depth++) {
    const view = decoded(last, ANY, views.at(-1));
    if (view.text === last) break;
    views.push(view);
    last = view.text;
  }
  return views;
}

/** The letters and digits of a view alone, small, whatever stands between and however they are spelled. */
export function squeezed(text: string, view?: TextView): TextView {
  return kept(text, view, (code) => {
    if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) return code;
    return code >= 65 && code <= 90 ? code + 32 : 0;
  });
}

/** A view without blanks and ends of lines. */
export function unspaced(text: string, view?: TextView): TextView {
  return kept(text, view, (code) => (code <= 32 || code === 160 ? 0 : code));
}

/** The characters that `codeOf` keeps; 0 leaves one out. */
function kept(text: string, view: TextView | undefined, codeOf: (code: number) => number): TextView {
  const starts = new Uint32Array(text.length);
  const ends = new Uint32Array(text.length);
  const codes = new Uint16Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = codeOf(text.charCodeAt(at));
    if (code === 0) continue;
    codes[length] = code;
    starts[length] = view?.starts[at] ?? at;
    ends[length] = view?.ends[at] ?? at + 1;
    length++;
  }
  return { text: Buffer.from(codes.buffer, 0, length * 2).toString("utf16le"), starts, ends };
}

function decoded(text: string, escape: RegExp, from?: TextView): TextView {
  const starts = new Uint32Array(text.length);
  const ends = new Uint32Array(text.length);
  let result = "";
  let length = 0;
  const keep = (begin: number, end: number): void => {
    for (let at = begin; at < end; at++, length++) {
      starts[length] = from?.starts[at] ?? at;
      ends[length] = from?.ends[at] ?? at + 1;
    }
    result += text.slice(begin, end);
  };
  let done = 0;
  for (const match of text.matchAll(escape)) {
    keep(done, match.index);
    done = match.index + match[0].length;
    const char = meaning(match);
    if (char === "") continue;
    for (let at = 0; at < char.length; at++, length++) {
      starts[length] = from?.starts[match.index] ?? match.index;
      ends[length] = from?.ends[done - 1] ?? done;
    }
    result += char;
  }
  keep(done, text.length);
  return { text: result, starts, ends };
}

function meaning(match: RegExpExecArray): string {
  const { percent, unicode, braces, byte, octal, letter, decimal, hex, entity } = match.groups ?? {};
  const code = percent ?? unicode ?? braces ?? byte ?? hex;
  if (code !== undefined) return charOf(Number.parseInt(code, 16));
  if (octal !== undefined) return charOf(Number.parseInt(octal, 8));
  if (decimal !== undefined) return charOf(Number(decimal));
  if (entity !== undefined) return ENTITIES[entity] ?? "";
  if (letter === undefined) return "";
  return CONTROLS[letter] ?? letter;
}

/** A character outside of the first plane is two. */
function charOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}
