import type { JournalEntry } from "../../../core/agent/entry.ts";
import type { Json } from "../../../core/base/errors.ts";
import type { Redaction } from "../../../core/base/redaction.ts";
import { redactJson } from "../../../core/tool/redact-call.ts";

/** Entries to hand on: every text in them without secrets. The same text becomes the same everywhere, so that calls keep their results. */
export function redactEntries(
  redaction: Redaction | undefined,
  entries: readonly JournalEntry[],
): readonly JournalEntry[] {
  if (redaction === undefined) return entries;
  return entries.map((entry) => redactJson(redaction, entry as unknown as Json) as unknown as JournalEntry);
}
