const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** Longest key block that is looked for: RSA keys of 16,384 bits have about 13,000 characters. */
const MAX_BLOCK = 32_000;
/** Within this distance of its first line a block shows that it is one. */
const LOOK_AHEAD = 400;
const BODY = /[A-Za-z0-9+/]{40}/;
/** The last run of a line of a key, with whatever a listing put before it. */
const BODY_LINE = /(?:^|[^A-Za-z0-9+/=])[A-Za-z0-9+/=]{16,100}["',\\]{0,3}$/;

/** Where a private key begins in which a text ends, so that more of it may come; -1 when there is none. */
export function openKeyStart(text: string): number {
  const start = text.lastIndexOf("-----BEGIN ");
  if (start === -1 || text.length - start > MAX_BLOCK) return -1;
  const rest = text.slice(start);
  const isKey = rest.search(BEGIN) === 0 || !rest.slice("-----BEGIN ".length).includes("-----");
  const end = rest.search(END);
  // A block whose last line is not complete is not at its end either.
  return isKey && (end === -1 || !rest.includes("\n", end)) ? start : -1;
}

/**
 * Replaces private keys in PEM form by `mark`, also where the end is missing, where line numbers or other
 * marks stand before the lines, and where lines are joined by `\n`. A mention of the first line in code,
 * without a key behind it, stays.
 */
export function replacePrivateKeys(text: string, mark: string): string {
  if (!text.includes("PRIVATE KEY")) return text;
  let result = "";
  let done = 0;
  for (const match of text.matchAll(BEGIN)) {
    if (match.index < done) continue;
    const bodyStart = match.index + match[0].length;
    const body = bodyAfter(text, bodyStart);
    if (!BODY.test(body.slice(0, LOOK_AHEAD))) continue;
    result += `${orphanEnd(text.slice(done, match.index), mark)}${mark}`;
    done = bodyStart + blockLength(body);
  }
  return result + orphanEnd(text.slice(done), mark);
}

/**
 * The text that can belong to a block: up to the next one, and never past the end of a text in quotes, unless
 * it goes on behind a plus sign. A JSON text so keeps its form.
 */
function bodyAfter(text: string, start: number): string {
  const next = text.indexOf("-----BEGIN ", start);
  const limit = Math.min(next === -1 ? text.length : next, start + MAX_BLOCK);
  const reach = /^(?:[^"`]|["`]\s{0,80}\+\s{0,80}["`])*/.exec(text.slice(start, limit))?.[0] ?? "";
  // Backslashes before a quote say what it is: they stay with it.
  let end = reach.length;
  while (reach[end - 1] === "\\") end -= 1;
  return reach.slice(0, end);
}

function blockLength(body: string): number {
  const at = body.search(END);
  if (at === -1) return cutBodyLength(body);
  return body.indexOf("-----", at + "-----END ".length) + "-----".length;
}

/** How much of what follows a first line belongs to a key whose last line is missing. */
function cutBodyLength(body: string): number {
  // Lines joined by `\n`, or one line alone.
  const inline = /^(?:\\[nr]|[A-Za-z0-9+/=])*/.exec(body)?.[0].length ?? 0;
  if (inline >= 40) return inline;
  const [first = "", ...lines] = body.split("\n");
  let length = first.length;
  for (const line of lines) {
    if (!isKeyLine(line)) break;
    length += line.length + 1;
  }
  return length;
}

function isKeyLine(line: string): boolean {
  return line.trim() === "" || /(?:Proc-Type|DEK-Info): /.test(line) || BODY_LINE.test(line.trimEnd());
}

/** Takes out the lines of a key before an end that has no beginning here. */
function orphanEnd(text: string, mark: string): string {
  if (!text.includes("-----END ")) return text;
  let result = "";
  let done = 0;
  for (const end of text.matchAll(END)) {
    const lineStart = lineStartBefore(text, end.index);
    if (text.slice(lineStart, end.index).includes('"')) continue;
    let from = lineStart;
    while (from > done) {
      const previous = lineStartBefore(text, from - 1);
      const line = text.slice(previous, from).trimEnd();
      if (line.includes('"') || !BODY_LINE.test(line)) break;
      from = previous;
    }
    if (from === lineStart || from < done) continue;
    result += `${text.slice(done, from)}${mark}`;
    done = end.index + end[0].length;
  }
  return result + text.slice(done);
}

/** Where the line that holds `at` begins; no further back than a line of a key is long. */
function lineStartBefore(text: string, at: number): number {
  const from = Math.max(0, at - 300);
  return from + text.slice(from, at).lastIndexOf("\n") + 1;
}
