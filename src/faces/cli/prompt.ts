import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { compileSchema } from "../../core/base/compile-schema.ts";
import { errorMessage, invalidArgument, isNanoAgentError } from "../../core/base/errors.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { Input } from "../../core/message/input.ts";
import type { UserBlock, UserMessage } from "../../core/message/message.ts";

const MAX_FILE_BYTES = 10_000_000;

interface PromptSources {
  /** Words of the command line that are not options. */
  readonly words: readonly string[];
  readonly stdin: StdinKind;
  readonly cwd: string;
  readonly onNotice: (message: string) => void;
}

/**
 * Reads the prompt of a run. Words are joined by blanks; a single word `@FILE` is replaced by the file's
 * text; `-` alone reads the prompt from standard input. Other piped input precedes the words, between
 * `<stdin>` marks; without words it is the prompt. Throws `invalid_argument` if there is none.
 */
async function readPrompt({ words, stdin, cwd, onNotice }: PromptSources): Promise<string> {
  if (words.includes("-")) {
    if (words.length > 1)
      throw invalidArgument(
        '"-" reads the whole prompt from standard input. Leave the other words out, or leave "-" out.',
      );
    return requireText(await readStdin(stdin), "Standard input is empty");
  }
  const text = words.length === 1 ? textOrFile(words[0] ?? "", { what: "the prompt", cwd }) : words.join(" ");
  const given = text.trim() !== "";
  if (words.length > 0 && !given)
    throw invalidArgument('The prompt is empty. Say what to do: nano-agent -p "…"');
  if (stdin === "terminal") return requireText(text, "There is no prompt");
  const silent = "standard input stayed silent and was left alone; use </dev/null to start at once";
  const piped = await readStdin(stdin, given ? () => onNotice(silent) : undefined);
  if (piped.trim() === "") return requireText(text, "There is no prompt, and standard input is empty");
  return given ? `<stdin>\n${piped.replace(/\n$/, "")}\n</stdin>\n\n${text}` : piped;
}

/** The prompt of a run that does not require one; undefined if words and standard input are empty. */
export async function readPromptIfAny(sources: PromptSources): Promise<string | undefined> {
  const { words, stdin, onNotice } = sources;
  if (words.length > 0 || stdin === "file") return readPrompt(sources);
  if (stdin !== "pipe") return undefined;
  const piped = await readStdin(stdin, () => onNotice("standard input stayed silent and was left alone"));
  return piped.trim() === "" ? undefined : piped;
}

/** The text of an option: its value, or the file of `@FILE`. Throws `invalid_argument` for a bad file. */
export function textOrFile(
  value: string,
  { what, cwd }: { readonly what: string; readonly cwd: string },
): string {
  return value.length > 1 && value.startsWith("@") ? readTextFile(value.slice(1), { what, cwd }) : value;
}

/** Reads a text file; `what` names its purpose in errors. Throws `invalid_argument` if it is not text. */
export function readTextFile(
  path: string,
  { what, cwd }: { readonly what: string; readonly cwd: string },
): string {
  const absolute = resolve(cwd, path);
  let file: number;
  try {
    // Non-blocking, so that a pipe is noticed instead of waited for.
    file = openSync(absolute, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw invalidArgument(
      `The file for ${what} cannot be read: ${errorMessage(error)}. Name a readable text file.`,
      {
        cause: error,
      },
    );
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile())
      throw invalidArgument(`The file for ${what}, ${absolute}, is not a regular file. Name a text file.`);
    if (stats.size > MAX_FILE_BYTES)
      throw invalidArgument(
        `The file for ${what}, ${absolute}, has ${stats.size} bytes, more than ${MAX_FILE_BYTES}.`,
      );
    const bytes = readFileSync(file);
    if (bytes.includes(0))
      throw invalidArgument(`The file for ${what}, ${absolute}, is not text: it contains NUL bytes.`);
    return bytes.toString("utf8").replace(/^\uFEFF/, "");
  } finally {
    closeSync(file);
  }
}

function requireText(text: string, complaint: string): string {
  if (text.trim() !== "") return text;
  throw invalidArgument(
    `${complaint}. Say what to do: nano-agent -p "…", or pipe a text in. See nano-agent --help.`,
  );
}

const MAX_BYTES = 10_000_000;
/** Milliseconds after which a silent pipe is ignored if the run does not require input. */
const SILENCE_MS = 3_000;

type StdinKind = "terminal" | "pipe" | "file" | "nothing";

/** The kind of standard input. If closed or `/dev/null` it is `nothing`. */
export function stdinKind(): StdinKind {
  try {
    const stats = fstatSync(0);
    if (stats.isFIFO() || stats.isSocket()) return "pipe";
    if (!stats.isCharacterDevice()) return "file";
  } catch {
    // Closed by the caller.
    return "nothing";
  }
  return process.getBuiltinModule("node:tty").isatty(0) ? "terminal" : "nothing";
}

/**
 * Reads all text from standard input. `onSilence`, for a run that needs no input, is called when a silent
 * pipe is ignored. Throws `invalid_argument` if the input is unreadable (a folder), too long or not text.
 */
async function readStdin(kind: StdinKind, onSilence?: () => void): Promise<string> {
  if (kind === "nothing") return "";
  const bytes = kind === "file" ? readRegular() : await readStream(kind === "pipe" ? onSilence : undefined);
  if (bytes.includes(0))
    throw invalidArgument(
      "Standard input is not text: it contains NUL bytes. Pipe text, or name the file in the prompt.",
    );
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

function readRegular(): Buffer {
  try {
    assertLength(fstatSync(0).size);
    return readFileSync(0);
  } catch (error) {
    throw unreadable(error, " Redirect a text file.");
  }
}

async function readStream(onSilence: (() => void) | undefined): Promise<Buffer> {
  const { stdin } = process;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isSilent = false;
  const ignoreStdin = (): void => {
    isSilent = true;
    onSilence?.();
    stdin.destroy();
  };
  const silence = onSilence === undefined ? undefined : setTimeout(ignoreStdin, SILENCE_MS);
  try {
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      clearTimeout(silence);
      chunks.push(chunk);
      bytes += chunk.length;
      assertLength(bytes);
    }
  } catch (error) {
    if (!isSilent) throw unreadable(error, "");
  } finally {
    clearTimeout(silence);
  }
  return Buffer.concat(chunks);
}

/** The error for unreadable input; excessive input has its own error already. */
function unreadable(error: unknown, advice: string): Error {
  if (isNanoAgentError(error)) return error;
  return invalidArgument(`Standard input cannot be read: ${errorMessage(error)}.${advice}`, { cause: error });
}

function assertLength(bytes: number): void {
  if (bytes > MAX_BYTES)
    throw invalidArgument(
      `Standard input has more than ${MAX_BYTES} bytes. Pipe less, or put it in a file and name the file in the prompt.`,
    );
}

/**
 * The input of a run without a screen: its prompt, read now, or the messages on standard input as they come.
 * Undefined: it continues without a new message. Throws `invalid_argument` for a missing prompt or one
 * combined with messages; messages may be empty.
 */
export async function readRunInput(
  words: readonly string[],
  isStream: boolean,
  needsPrompt: boolean,
  cwd: string,
  onNotice: (message: string) => void,
): Promise<AsyncIterable<Input | undefined> | Iterable<Input | undefined>> {
  if (!isStream) {
    const read = needsPrompt ? readPrompt : readPromptIfAny;
    return [await read({ words, stdin: stdinKind(), cwd, onNotice })];
  }
  if (words.length === 0) return messagesOfStdin();
  throw invalidArgument(
    "With --input-format stream-json the messages come from standard input. Leave the prompt out.",
  );
}

async function* messagesOfStdin(): AsyncGenerator<Input> {
  let isSilent = true;
  for await (const message of readInputMessages(process.stdin)) {
    isSilent = false;
    yield message;
  }
  if (isSilent)
    throw invalidArgument(
      'Standard input ended without a message. Write lines of {"type":"user","message":{"role":"user","content":"…"}}.',
    );
}

/** Reads the schema of `--json-schema`: JSON or a file. Throws `invalid_argument` if it is unusable. */
export function readSchema(value: string, cwd: string): JsonSchema {
  const inline = value.trimStart().startsWith("{");
  const text = inline ? value : readTextFile(value, { what: "--json-schema", cwd });
  const where = inline ? "--json-schema" : `--json-schema ${value}`;
  const parsed = safeParse(text);
  if (!parsed.ok)
    throw invalidArgument(
      `${where} is not JSON: ${parsed.error}. Pass a JSON Schema, or a file that holds one.`,
    );
  if (!isRecord(parsed.value))
    throw invalidArgument(`${where} is not a JSON object. Pass a JSON Schema such as {"type":"object"}.`);
  const schema = parsed.value as JsonSchema;
  try {
    compileSchema(schema);
  } catch (error) {
    throw invalidArgument(`${where} cannot be used: ${errorMessage(error)}`, { cause: error });
  }
  return schema;
}

const MAX_LINE_CHARS = 50_000_000;

/** Lines of standard input, ended only by line feeds. Throws `invalid_argument` for an endless line. */
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
      throw invalidArgument(`Line ${number} of standard input is longer than ${MAX_LINE_CHARS} characters.`);
  }
  if (length > 0) yield pieces.join("");
}

/**
 * Reads user messages from JSON lines: `{"type":"user","message":{"role":"user","content":"…"}}`, whose
 * content may be blocks of text and images. Skips empty lines. Throws `invalid_argument`, naming the line,
 * for any other.
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

/** Parses one line of input as a message. Throws `invalid_argument` with the reason if it is malformed. */
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
  return invalidArgument(
    `Line ${number} of standard input ${what}. Write {"type":"user","message":{"role":"user","content":"…"}}.`,
  );
}
