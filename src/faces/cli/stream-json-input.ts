import { misuse } from "../../core/base/errors.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { UserBlock, UserMessage } from "../../core/message/message.ts";

const MAX_LINE_CHARS = 50_000_000;

/** Lines of standard input, ended by line feeds alone. Throws `invalid_argument` for one without end. */
export async function* inputLines(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let number = 1;
  let length = 0;
  let pieces: string[] = [];
  for await (const chunk of chunks) {
    const text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const [first = "", ...rest] = text.split("\n");
    pieces.push(first);
    length += first.length;
    for (const piece of rest) {
      yield pieces.join("");
      number++;
      pieces = [piece];
      ({ length } = piece);
    }
    if (length > MAX_LINE_CHARS)
      throw misuse(`Line ${number} of standard input is longer than ${MAX_LINE_CHARS} characters.`);
  }
  if (length > 0) yield pieces.join("");
}

/**
 * User messages from JSON lines: `{"type":"user","message":{"role":"user","content":"…"}}`, where the content
 * may be blocks of text and images. Empty lines are skipped. Throws `invalid_argument`, naming the line, for
 * any other.
 */
export async function* readInputMessages(
  chunks: AsyncIterable<Buffer | string>,
): AsyncGenerator<UserMessage> {
  let number = 0;
  for await (const line of inputLines(chunks)) {
    number++;
    if (line.trim() !== "") yield parseInputLine(line, number);
  }
}

/** One line of input as a message. Throws `invalid_argument`, saying what is wrong with it. */
export function parseInputLine(line: string, number: number): UserMessage {
  const parsed = safeParse(line);
  if (!parsed.ok) throw badLine(number, `is not JSON (${parsed.error})`);
  const { value } = parsed;
  if (!isRecord(value) || value["type"] !== "user")
    throw badLine(number, 'has no "type": "user", the only kind of line this version reads');
  const { message } = value;
  if (!isRecord(message) || message["role"] !== "user")
    throw badLine(number, 'has no "message" with the role "user"');
  const { content } = message;
  const blocks: unknown = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks) || blocks.length === 0 || !blocks.every(isInputBlock))
    throw badLine(number, 'needs a "content" of text, or of text and image blocks');
  return { role: "user", content: blocks };
}

function isInputBlock(block: unknown): block is UserBlock {
  if (!isRecord(block)) return false;
  if (block["type"] === "text") return typeof block["text"] === "string";
  if (block["type"] !== "image" || !isRecord(block["source"])) return false;
  const { type, media_type: mediaType, data, url } = block["source"];
  if (type === "base64") return typeof mediaType === "string" && typeof data === "string";
  return type === "url" && typeof url === "string";
}

function badLine(number: number, what: string): Error {
  return misuse(
    `Line ${number} of standard input ${what}. Write {"type":"user","message":{"role":"user","content":"…"}}.`,
  );
}
