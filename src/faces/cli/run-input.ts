import { compileSchema } from "../../core/base/compile-schema.ts";
import { errorMessage, misuse } from "../../core/base/errors.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { Input } from "../../core/message/input.ts";
import { readPrompt, readPromptIfAny, readTextFile } from "./prompt.ts";
import { stdinKind } from "./read-stdin.ts";
import type { RunFlags } from "./run-flags.ts";
import { readInputMessages } from "./stream-json-input.ts";

/** Where a run without a screen looks for what it is asked. */
export interface RunInputPlace {
  readonly cwd: string;
  readonly onNotice: (message: string) => void;
}

/**
 * The input of a run without a screen: its prompt, which is read now, or the messages on standard input as
 * they come. Undefined: it goes on without a word. Throws `invalid_argument` for a prompt that is not there
 * or stands beside messages; the messages do for none at all.
 */
export async function readRunInput(
  { inputFormat, words, session }: RunFlags,
  { cwd, onNotice }: RunInputPlace,
): Promise<AsyncIterable<Input | undefined> | Iterable<Input | undefined>> {
  if (inputFormat === "text") {
    const read = session.resume?.step === undefined ? readPrompt : readPromptIfAny;
    return [await read({ words, stdin: stdinKind(), cwd, onNotice })];
  }
  if (words.length === 0) return messagesOfStdin();
  throw misuse(
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
    throw misuse(
      'Standard input ended without a message. Write lines of {"type":"user","message":{"role":"user","content":"…"}}.',
    );
}

/** The schema of `--json-schema`: JSON or a file. Throws `invalid_argument` when it cannot be used. */
export function readSchema(value: string, cwd: string): JsonSchema {
  const inline = value.trimStart().startsWith("{");
  const text = inline ? value : readTextFile(value, { what: "--json-schema", cwd });
  const where = inline ? "--json-schema" : `--json-schema ${value}`;
  const parsed = safeParse(text);
  if (!parsed.ok)
    throw misuse(`${where} is not JSON: ${parsed.error}. Pass a JSON Schema, or a file that holds one.`);
  if (!isRecord(parsed.value))
    throw misuse(`${where} is not a JSON object. Pass a JSON Schema such as {"type":"object"}.`);
  const schema = parsed.value as JsonSchema;
  try {
    compileSchema(schema);
  } catch (error) {
    throw misuse(`${where} cannot be used: ${errorMessage(error)}`, { cause: error });
  }
  return schema;
}
