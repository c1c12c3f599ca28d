import { parseDocument } from "yaml";
import { errorMessage } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";

/** References allowed per anchor; a document with more can expand without bound. */
const MAX_ALIASES = 16;

const UNQUOTED_TEXTS = /^(description|argument-hint): +(.*?)\r?$/gm;

/** Like {@link parseFields}, but `argument-hint: [a] [b]` and `description: Use this: …` are read as text. */
export function readYamlFields(front: string): ReadFields {
  const read = parseFields(front);
  if (!("fault" in read)) return read;
  const quoted = front.replaceAll(UNQUOTED_TEXTS, (line, name: string, words: string) =>
    "fault" in parseFields(line) ? `${name}: ${JSON.stringify(words)}` : line,
  );
  return parseFields(quoted);
}

type ReadFields = { readonly fields: Readonly<Record<string, unknown>> } | { readonly fault: string };

/** Plain data only (YAML core schema), or the fault with its line in the document. */
function parseFields(front: string): ReadFields {
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
      const line = front.slice(0, error.pos[0]).split("\n").length + 1;
      const [message = ""] = error.message.split("\n");
      return { fault: `is not YAML, line ${line}: ${message} (quote texts that hold ": " or " #")` };
    }
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return isRecord(value) ? { fields: value } : { fault: "holds no fields: write name: value lines" };
  } catch (error) {
    return { fault: `cannot be read: ${errorMessage(error)}` };
  }
}
