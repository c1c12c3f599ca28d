import { defined } from "../../core/base/defined.ts";
import { type Fields, isRecord, ownValue } from "../../core/base/json.ts";
import { nearest } from "../../core/base/text.ts";
import { DURATION_FORM, parseDuration } from "./duration.ts";

/** The form a value in a config file must have. */
export type Shape =
  | {
      readonly type: "string";
      readonly oneOf?: readonly string[];
      readonly pattern?: RegExp;
      /** The meaning of the pattern, for messages: `an http:// address`. */
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

/** A value that does not fit. `path` leads to it from the root, or to the key that must not be there. */
export interface Misfit {
  readonly path: readonly string[];
  readonly message: string;
}

/** The first thing about `value` that does not fit; `undefined` when all of it does. */
export function findMisfit(value: unknown, shape: Shape, path: readonly string[] = []): Misfit | undefined {
  const misfit = (): Misfit => ({
    path,
    message: `${name(path)} must be ${formOf(shape)}, not ${describe(value)}`,
  });
  switch (shape.type) {
    case "object":
      if (isRecord(value)) return objectMisfit(value, shape, path);
      return shape.orFalse === true && value === false ? undefined : misfit();
    case "map":
      return isRecord(value) ? mapMisfit(value, shape, path) : misfit();
    case "strings":
      return Array.isArray(value) ? textsMisfit(value, shape.oneOf, path) : misfit();
    default:
      return fits(value, shape) ? undefined : misfit();
  }
}

type Scalar = Exclude<Shape, { type: "object" | "map" | "strings" }>;

function fits(value: unknown, shape: Scalar): boolean {
  switch (shape.type) {
    case "any":
      return true;
    case "boolean":
      return typeof value === "boolean";
    case "duration":
      return typeof value === "string" && parseDuration(value) !== undefined;
    case "number":
      return fitsNumber(value, shape);
    case "string":
      return fitsText(value, shape);
  }
}

/** The value a text of the command line or of a variable stands for; or what was expected, in words. */
export function readText(
  text: string,
  shape: Shape,
): { readonly value: unknown } | { readonly expected: string } {
  const value = shape.type === "number" ? numberOf(text) : text;
  return findMisfit(value, shape) === undefined ? { value } : { expected: formOf(shape) };
}

/** The values a shape takes, in words: `a whole number from 1`. */
export function formOf(shape: Shape): string {
  switch (shape.type) {
    case "string":
      return textForm(shape);
    case "number":
      return numberForm(shape);
    case "duration":
      return DURATION_FORM;
    case "boolean":
      return "true or false";
    case "strings":
      return shape.oneOf === undefined
        ? "a list of texts"
        : `a list, each ${textForm({ type: "string", oneOf: shape.oneOf })}`;
    case "object":
      return shape.orFalse === true ? "an object or false" : "an object";
    case "map":
    case "any":
      return "an object";
  }
}

/** No exponents and no signs: what people type as a number. */
function numberOf(text: string): number {
  return /^(?:\d{1,12}(?:\.\d{1,6})?|\.\d{1,6})$/.test(text) ? Number(text) : Number.NaN;
}

function textsMisfit(
  values: readonly unknown[],
  oneOf: readonly string[] | undefined,
  path: readonly string[],
): Misfit | undefined {
  const shape: Shape = { type: "string", ...defined({ oneOf }) };
  for (const [at, value] of values.entries()) {
    const misfit = findMisfit(value, shape, [...path, String(at)]);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

function objectMisfit(
  value: Fields,
  shape: Extract<Shape, { type: "object" }>,
  path: readonly string[],
): Misfit | undefined {
  for (const [key, item] of Object.entries(value)) {
    const field = ownValue(shape.fields, key);
    if (field === undefined)
      return { path: [...path, key], message: unknownKey(key, Object.keys(shape.fields)) };
    const misfit = findMisfit(item, field, [...path, key]);
    if (misfit !== undefined) return misfit;
  }
  const missing = shape.required?.find((key) => !Object.hasOwn(value, key));
  return missing === undefined ? undefined : { path, message: `${name(path)} needs "${missing}"` };
}

function mapMisfit(
  value: Fields,
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
