const MAX_CHARS = 16_384;

export interface MarkdownDocument {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export interface DocumentProblem {
  readonly fault: string;
}

/** Parses a document's YAML front matter, plain data only. The YAML parser is loaded on demand. */
export async function parseMarkdown(text: string): Promise<MarkdownDocument | DocumentProblem> {
  const split = splitFrontMatter(text);
  if ("fault" in split) return split;
  const { front, body } = split;
  if (front === undefined || front.trim() === "") return { fields: {}, body };
  if (front.length > MAX_CHARS)
    return { fault: `the front matter has ${front.length} characters, more than ${MAX_CHARS}` };
  const plain = plainFields(front);
  if (plain !== undefined) return { fields: plain, body };
  const { readYamlFields } = await import("./yaml-fields.ts");
  const read = readYamlFields(front);
  return "fault" in read ? { fault: `the front matter ${read.fault}` } : { fields: read.fields, body };
}

export function splitFrontMatter(
  text: string,
): { readonly front: string | undefined; readonly body: string } | DocumentProblem {
  const document = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const first = FENCE.exec(document);
  if (first?.index !== 0) return { front: undefined, body: document };
  const start = first[0].length;
  for (let at = start; at < document.length; ) {
    const end = lineEnd(document, at);
    if (/^---[ \t]*\r?\n?$/.test(document.slice(at, end)))
      return { front: document.slice(start, at), body: document.slice(end) };
    at = end;
  }
  return { fault: "the front matter has no end: close it with a line of ---" };
}

const FENCE = /^---[ \t]*(?:\r?\n|$)/;

function lineEnd(text: string, at: number): number {
  const feed = text.indexOf("\n", at);
  return feed === -1 ? text.length : feed + 1;
}

/** Parses front matter that uses no YAML syntax, because the YAML parser takes long to load. */
export function plainFields(front: string): Readonly<Record<string, unknown>> | undefined {
  const fields = new Map<string, unknown>();
  for (const line of front.split("\n")) {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text === "") continue;
    const [, name, value] = LINE.exec(text) ?? [];
    if (name === undefined || value === undefined || fields.has(name)) return undefined;
    const read = plainValue(value.replace(/ +$/, ""));
    if (read === undefined) return undefined;
    fields.set(name, read);
  }
  return fields.size === 0 ? undefined : Object.fromEntries(fields);
}

/** Letters, digits, punctuation, symbols and the plain space: no control, format or separator characters. */
const LINE = /^([A-Za-z][A-Za-z0-9_-]*): ([\p{L}\p{M}\p{N}\p{P}\p{S} ]+)$/u;

function plainValue(value: string): string | number | undefined {
  if (/^(?:0|[1-9]\d{0,8})$/.test(value)) return Number(value);
  if (!/^\p{L}/u.test(value) || /: |:$| #/.test(value)) return undefined;
  return /^(?:true|false|null)$/i.test(value) ? undefined : value;
}
