import { closeSync } from "node:fs";
import { isRecord, safeParse } from "../../core/base/json.ts";
import { readLines } from "../read-lines.ts";
import type { DamagedLine } from "../scan-journal.ts";
import { openNamedFile } from "../session-file.ts";
import type { ForeignRecord } from "./foreign-session.ts";

interface ForeignLines {
  readonly records: readonly ForeignRecord[];
  readonly damaged: readonly DamagedLine[];
}

const MAX_BYTES = 1024 * 1024 * 1024;

/** Reads JSON lines; broken ones are noted and left out. Throws `invalid_argument`: no readable file. */
export function readForeignLines(path: string): ForeignLines {
  const descriptor = openNamedFile(path, MAX_BYTES);
  try {
    const records: ForeignRecord[] = [];
    const damaged: DamagedLine[] = [];
    for (const { bytes, number: line, isTooLong } of readLines(descriptor)) {
      if (isTooLong) {
        damaged.push({ line, reason: "longer than a line can be" });
        continue;
      }
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
        .toString("utf8")
        .replace(/^\uFEFF/, "");
      if (text.trim() === "") continue;
      const parsed = safeParse(text);
      if (!parsed.ok) damaged.push({ line, reason: "no JSON" });
      else if (!isRecord(parsed.value)) damaged.push({ line, reason: "no JSON object" });
      else records.push({ line, fields: parsed.value });
    }
    return { records, damaged };
  } finally {
    closeSync(descriptor);
  }
}

/** A field as a list; an empty one where it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A field as text of valid Unicode; undefined where it is none or empty. */
export function textField(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.toWellFormed() : undefined;
}

/** A time from an ISO text or milliseconds; undefined for what is neither. */
export function timeField(value: unknown): number | undefined {
  const time = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) && Math.abs(time) < 8.64e15 ? Math.trunc(time) : undefined;
}
