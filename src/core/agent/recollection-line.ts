import { LONG_TERM_MEMORY } from "../message/message.ts";
import type { Recollection } from "./long-term-memory.ts";

/** A record as the model is shown it: its day and its text, which cannot end the tag it stands in. */
export function recollectionLine({ text, time }: Recollection): string {
  const shown = text.replaceAll(TAG, `&lt;$1${LONG_TERM_MEMORY}`);
  const day =
    Number.isFinite(time) && Math.abs(time) < MAX_TIME ? new Date(time).toISOString().slice(0, 10) : "";
  return day === "" ? `- ${shown}` : `- [${day}] ${shown}`;
}

/** The last moment a date can hold. */
const MAX_TIME = 8.64e15;
const TAG = /<(\s*\/?\s*)long_term_memory/gi;
