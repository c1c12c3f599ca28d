import type { Json } from "./errors.ts";

/** A JSON Schema document (draft 2020-12 or 7), as plain data. */
export type JsonSchema = { readonly [key: string]: Json | undefined };

/**
 * A schema of any library that follows Standard Schema (https://standardschema.dev, version 1): zod 4,
 * valibot, arktype. Only what nano-agent uses is declared. `jsonSchema` is the Standard JSON Schema
 * extension, which zod ≥ 4.2 has.
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => { readonly [key: string]: unknown };
    };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly unknown[] | undefined;
      }[];
    };

/** The forms in which callers may pass a schema. */
export type SchemaInput<Output = unknown> = StandardSchema<Output> | JsonSchema;

/** The type a {@link SchemaInput} describes; unknown fields for JSON Schema that is not a literal. */
export type InferSchema<S> =
  S extends StandardSchema<infer Output>
    ? Output
    : JsonSchema extends S
      ? { readonly [key: string]: unknown }
      : S extends JsonSchema
        ? FromJsonSchema<S>
        : never;

/** Type of a literal JSON Schema (`as const`): objects, arrays, scalars, `enum`, `const`; else `unknown`. */
export type FromJsonSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: "string" }
      ? string
      : S extends { readonly type: "number" | "integer" }
        ? number
        : S extends { readonly type: "boolean" }
          ? boolean
          : S extends { readonly type: "array"; readonly items: infer I }
            ? readonly FromJsonSchema<I>[]
            : S extends { readonly type: "object"; readonly properties: infer P }
              ? FromProperties<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
              : unknown;

// `infer` makes editors show the fields instead of this name and the schema.
type FromProperties<P, Required> = {
  readonly [K in keyof P as K extends Required ? K : never]: FromJsonSchema<P[K]>;
} & { readonly [K in keyof P as K extends Required ? never : K]?: FromJsonSchema<P[K]> } extends infer O
  ? { readonly [K in keyof O]: O[K] }
  : never;

/** One problem of a value. `path` is like `edits[0].old_string`, or empty for the value itself. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** The outcome of a validation. `value` has the defaults and transforms of a Standard Schema applied. */
export type SchemaResult<Output = unknown> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

/** A compiled schema: what the model is shown, and how its answer is checked. */
export interface CompiledSchema<Output = unknown> {
  readonly jsonSchema: JsonSchema;
  readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
}
