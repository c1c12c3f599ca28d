import { closeSync } from "node:fs";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { textOf, toolCallsOf } from "../../core/message/message.ts";
import { StepCounter } from "../../journal/steps.ts";
import { inspectSession } from "../inspect-session.ts";
import { readEntries } from "../read-entries.ts";
import { recordPath } from "../record-path.ts";
import { openSessionFile } from "../session-file.ts";

/** A text of a session that can be found. */
export interface SessionPassage {
  /** Step of the session it belongs to: the next one for input, its own for answers and results. */
  readonly step: number;
  readonly text: string;
}

/** Characters of one text that are searched: of what people and models say, and of what tools give. */
const MAX_SAID = 32_000;
const MAX_RESULT = 8_000;

/** The texts of a session file, one by one. Throws `journal` for a file that cannot be read. */
export function* sessionPassages(path: string): Generator<SessionPassage, void, undefined> {
  const descriptor = openSessionFile(path, "read");
  try {
    const { scan } = inspectSession(descriptor, path);
    const counter = new StepCounter();
    for (const entry of readEntries(descriptor, recordPath(scan))) {
      const step = counter.stepOf(entry);
      for (const text of textsOf(entry)) if (text.trim() !== "") yield { step, text: text.toWellFormed() };
    }
  } finally {
    closeSync(descriptor);
  }
}

/** A passage without the part of a word it was cut in, if so: half of a secret is none to a redaction. */
export function withoutCutWord(text: string): string {
  if (text.length !== MAX_SAID && text.length !== MAX_RESULT) return text;
  let end = text.length;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function textsOf(entry: JournalEntry): readonly string[] {
  switch (entry.type) {
    case "user_message":
      return [textOf(entry.message.content, "\n").slice(0, MAX_SAID)];
    case "assistant_message":
      return [
        textOf(entry.message.content, "\n").slice(0, MAX_SAID),
        ...toolCallsOf(entry.message).map(({ name, input }) =>
          `${name} ${JSON.stringify(input)}`.slice(0, MAX_RESULT),
        ),
      ];
    case "tool_result":
      return [textOf(entry.result.content, "\n").slice(0, MAX_RESULT)];
    case "history":
    case "compaction":
      return entry.messages.map((message) => textOf(message.content, "\n").slice(0, MAX_SAID));
    default:
      return [];
  }
}
