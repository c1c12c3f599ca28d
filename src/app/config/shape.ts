import { isRecord } from "../../core/base/json.ts";
import { nearest } from "../../core/base/text.ts";
import { DURATION_FORM, parseDuration } from "./duration.ts";

/** What a value in a config file must look like. */
export type Shape =
  | {
      readonly type: "string";
      readonly oneOf?: readonly string[];
      readonly pattern?: RegExp;
      /** What the pattern means, for messages: `an http:// address`. */
      readonly form?: string;
    }
  | {
      readonly type: "number";
      readonly integer?: boolean;
      readonly minimum?: number;
      readonly above?: number;
      readonly maximum?: number;
    }
  | { readonly type: "duration" }
  /** Whatever it is, it is checked elsewhere. */
  | { readonly type: "any" }
  | { readonly type: "boolean" }
  | { readonly type: "strings"; readonly oneOf?: readonly string[] }
  | {
      readonly type: "object";
      readonly fields: { readonly [name: string]: Shape };
      readonly required?: readonly string[];
      /** `false` stands for "not at all". */
      readonly orFalse?: boolean;
    }
  | { readonly type: "map"; readonly of: Shape; readonly key?: RegExp };

/** A value that does not fit, and where. `path` leads from the root to it, or to the key that must not be there. */
export interface Misfit {
  readonly path: readonly string[];
  readonly message: string;
}

/** The first thing about `value` that does not fit; `undefined` when all of it does. */
export function findMisfit(value: unknown, shape: Shape, path: readonly string[] = []): Misfit | undefined {
  switch (shape.type) {
    case "object":
      return isRecord(value) ? objectMisfit(value, shape, path) : noObjectMisfit(value, shape, path);
    case "map":
      return isRecord(value) ? mapMisfit(value, shape, path) : wrong(value, "an object", path);
    case "strings":
      return isTexts(value) ? textsMisfit(value, shape.oneOf, path) : wrong(value, "a list of texts", path);
    case "any":
      return undefined;
    case "boolean":
      return unless(typeof value === "boolean", { value, expected: "true or false", path });
    case "duration":
      return unless(isDuration(value), { value, expected: DURATION_FORM, path });
    case "number":
      return fitsNumber(value, shape) ? undefined : wrong(value, numberForm(shape), path);
    case "string":
      return fitsText(value, shape) ? undefined : wrong(value, textForm(shape), path);
  }
}

function unless(
  fits: boolean,
  fault: { readonly value: unknown; readonly expected: string; readonly path: readonly string[] },
): Misfit | undefined {
  return fits ? undefined : wrong(fault.value, fault.expected, fault.path);
}

function textsMisfit(
  values: readonly string[],
  oneOf: readonly string[] | undefined,
  path: readonly string[],
): Misfit | undefined {
  const at = oneOf === undefined ? -1 : values.findIndex((text) => !oneOf.includes(text));
  return at < 0
    ? undefined
    : wrong(values[at], textForm({ type: "string", oneOf: oneOf ?? [] }), [...path, String(at)]);
}

function objectMisfit(
  value: { readonly [key: string]: unknown },
  shape: Extract<Shape, { type: "object" }>,
  path: readonly string[],
): Misfit | undefined {
  for (const [key, item] of Object.entries(value)) {
    const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
    if (field === undefined)
      return { path: [...path, key], message: unknownKey(key, Object.keys(shape.fields)) };
    const misfit = findMisfit(item, field, [...path, key]);
    if (misfit !== undefined) return misfit;
  }
  const missing = shape.required?.find((key) => !Object.hasOwn(value, key));
  return missing === undefined ? undefined : { path, message: `${name(path)} needs "${missing}"` };
}

function noObjectMisfit(
  value: unknown,
  { orFalse = false }: Extract<Shape, { type: "object" }>,
  path: readonly string[],
): Misfit | undefined {
  if (orFalse && value === false) return undefined;
  return wrong(value, orFalse ? "an object or false" : "an object", path);
}

function mapMisfit(
  value: { readonly [key: string]: unknown },
  shape: Extract<Shape, { type: "map" }>,
  path: readonly string[],
): Misfit | undefined {
  for (const [key, item] of Object.entries(value)) {
    const at = [...path, key];
    if (key === "__proto__" || shape.key?.test(key) === false)
      return { path: at, message: `"${key}" is not a name for an entry of ${name(path)}` };
    const misfit = findMisfit(item, shape.of, at);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

function unknownKey(key: string, known: readonly string[]): string {
  const guess = nearest(key, known);
  const hint = guess === undefined ? "" : ` Did you mean "${guess}"?`;
  return `unknown key "${key}".${hint} Known: ${known.join(", ")}`;
}

function fitsNumber(value: unknown, shape: Extract<Shape, { type: "number" }>): boolean {
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  if (shape.integer === true && !Number.isSafeInteger(value)) return false;
  return (
    value >= (shape.minimum ?? Number.NEGATIVE_INFINITY) &&
    value > (shape.above ?? Number.NEGATIVE_INFINITY) &&
    value <= (shape.maximum ?? Number.POSITIVE_INFINITY)
  );
}

function numberForm({ integer, minimum, above, maximum }: Extract<Shape, { type: "number" }>): string {
  const kind = integer === true ? "a whole number" : "a number";
  if (above !== undefined)
    return `${kind} above ${above}${maximum === undefined ? "" : ` and at most ${maximum}`}`;
  return minimum === undefined ? kind : `${kind} from ${minimum}`;
}

function fitsText(value: unknown, { oneOf, pattern }: Extract<Shape, { type: "string" }>): boolean {
  if (typeof value !== "string") return false;
  return (oneOf?.includes(value) ?? true) && (pattern?.test(value) ?? true);
}

function textForm({ oneOf, form }: Extract<Shape, { type: "string" }>): string {
  if (oneOf !== undefined) return `one of ${oneOf.map((word) => `"${word}"`).join(", ")}`;
  return form ?? "a text";
}

function wrong(value: unknown, expected: string, path: readonly string[]): Misfit {
  return { path, message: `${name(path)} must be ${expected}, not ${describe(value)}` };
}

function name(path: readonly string[]): string {
  return path.length === 0 ? "the file" : `"${path.join(".")}"`;
}

/** Values may be secrets in the wrong place: only short scalars are repeated. */
function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= 24 ? text : `a ${typeof value}`;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isDuration(value: unknown): boolean {
  return typeof value === "string" && parseDuration(value) !== undefined;
}
