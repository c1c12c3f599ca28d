import { errorMessage } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";

/** Characters a front matter may have. */
const MAX_CHARS = 16_384;
/** References one anchor may have; what has more grows without bound when it is read. */
const MAX_ALIASES = 16;

/** A Markdown document: the fields at its head, none where it has no head, and the rest. */
export interface MarkdownDocument {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Why a document cannot be used, one sentence without its path. */
export interface DocumentFault {
  readonly fault: string;
}

/**
 * Reads the head of a Markdown document: YAML between two lines of `---`, the first of which begins the document. Only plain data is
 * made of it (YAML core schema, no tags of programs). The YAML reader is loaded with the first head that is met.
 */
export async function parseMarkdown(text: string): Promise<MarkdownDocument | DocumentFault> {
  const split = splitFrontMatter(text);
  if ("fault" in split) return split;
  const { front, body } = split;
  if (front === undefined || front.trim() === "") return { fields: {}, body };
  if (front.length > MAX_CHARS)
    return { fault: `the front matter has ${front.length} characters, more than ${MAX_CHARS}` };
  const fields = await readYaml(front);
  return "fault" in fields ? fields : { fields: fields.value, body };
}

/**
 * Cuts a document into the text between its `---` lines and what follows them. Without a `---` line at the very beginning (a byte
 * order mark aside) there is no front matter, and the body is the document.
 */
export function splitFrontMatter(
  text: string,
): { readonly front: string | undefined; readonly body: string } | DocumentFault {
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

/** Index behind the line feed of the line that begins at `at`. */
function lineEnd(text: string, at: number): number {
  const feed = text.indexOf("\n", at);
  return feed === -1 ? text.length : feed + 1;
}

async function readYaml(
  front: string,
): Promise<{ readonly value: Readonly<Record<string, unknown>> } | DocumentFault> {
  const { parseDocument } = await import("yaml");
  try {
    const document = parseDocument(front, {
      schema: "core",
      version: "1.2",
      uniqueKeys: true,
      stringKeys: true,
      prettyErrors: false,
      logLevel: "silent",
    });
    const [error] = document.errors;
    if (error !== undefined) {
      // The line of the file: the fence is its first.
      const line = front.slice(0, error.pos[0]).split("\n").length + 1;
      return {
        fault: `the front matter is no YAML, line ${line}: ${error.message.split("\n")[0] ?? ""} (quote texts that hold ": " or " #")`,
      };
    }
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return isRecord(value)
      ? { value }
      : { fault: "the front matter holds no fields: write name: value lines" };
  } catch (error) {
    return { fault: `the front matter cannot be read: ${errorMessage(error)}` };
  }
}
