import { isRecord } from "../../core/base/json.ts";

/** Fields of a foreign record. */
export type Fields = { readonly [key: string]: unknown };

/** A field as an object; an empty one where it is none. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
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
