import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { errorMessage, misuse } from "../../core/base/errors.ts";
import { readStdin, type StdinKind } from "./read-stdin.ts";

const MAX_FILE_BYTES = 10_000_000;

/** Where a prompt comes from. */
export interface PromptSources {
  /** Words of the command line that are no options. */
  readonly words: readonly string[];
  readonly stdin: StdinKind;
  /** Folder that `@FILE` refers to. */
  readonly cwd: string;
  readonly onNotice: (message: string) => void;
}

/**
 * The prompt of a run. Words are joined by blanks; a single word `@FILE` stands for the file's text; `-`
 * alone reads the prompt from standard input. Anything else that is piped in stands before the words, between
 * `<stdin>` marks; without words it is the prompt. Throws `invalid_argument` when there is none.
 */
export async function readPrompt({ words, stdin, cwd, onNotice }: PromptSources): Promise<string> {
  if (words.includes("-")) {
    if (words.length > 1)
      throw misuse(
        '"-" reads the whole prompt from standard input. Leave the other words out, or leave "-" out.',
      );
    return notEmpty(await readStdin(stdin), "Standard input is empty");
  }
  const text = words.length === 1 ? textOrFile(words[0] ?? "", { what: "the prompt", cwd }) : words.join(" ");
  const given = text.trim() !== "";
  if (words.length > 0 && !given) throw misuse('The prompt is empty. Say what to do: nano-agent -p "…"');
  if (stdin === "terminal") return notEmpty(text, "There is no prompt");
  const silent = "standard input stayed silent and was left alone; use </dev/null to start at once";
  const piped = await readStdin(stdin, given ? () => onNotice(silent) : undefined);
  if (piped.trim() === "") return notEmpty(text, "There is no prompt, and standard input is empty");
  return given ? `<stdin>\n${piped.replace(/\n$/, "")}\n</stdin>\n\n${text}` : piped;
}

/** The prompt of a run that can do without; undefined when neither words nor standard input say anything. */
export async function readPromptIfAny(sources: PromptSources): Promise<string | undefined> {
  const { words, stdin, onNotice } = sources;
  if (words.length > 0 || stdin === "file") return readPrompt(sources);
  if (stdin !== "pipe") return undefined;
  const piped = await readStdin(stdin, () => onNotice("standard input stayed silent and was left alone"));
  return piped.trim() === "" ? undefined : piped;
}

/** The text of an option: itself, or that of `@FILE`. Throws `invalid_argument` for an unusable file. */
export function textOrFile(
  value: string,
  { what, cwd }: { readonly what: string; readonly cwd: string },
): string {
  return value.length > 1 && value.startsWith("@") ? readTextFile(value.slice(1), { what, cwd }) : value;
}

/** The text of a file, `what` it is for in errors. Throws `invalid_argument` for what is no text. */
export function readTextFile(
  path: string,
  { what, cwd }: { readonly what: string; readonly cwd: string },
): string {
  const absolute = resolve(cwd, path);
  let file: number;
  try {
    // Non-blocking, so that a pipe in the file's place is noticed instead of waited for.
    file = openSync(absolute, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw misuse(`The file for ${what} cannot be read: ${errorMessage(error)}. Name a readable text file.`, {
      cause: error,
    });
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile())
      throw misuse(`The file for ${what}, ${absolute}, is not a regular file. Name a text file.`);
    if (stats.size > MAX_FILE_BYTES)
      throw misuse(
        `The file for ${what}, ${absolute}, has ${stats.size} bytes, more than ${MAX_FILE_BYTES}.`,
      );
    const bytes = readFileSync(file);
    if (bytes.includes(0))
      throw misuse(`The file for ${what}, ${absolute}, is not text: it contains NUL bytes.`);
    return bytes.toString("utf8").replace(/^\uFEFF/, "");
  } finally {
    closeSync(file);
  }
}

function notEmpty(text: string, complaint: string): string {
  if (text.trim() !== "") return text;
  throw misuse(`${complaint}. Say what to do: nano-agent -p "…", or pipe a text in. See nano-agent --help.`);
}
