import { isRecord } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import { readVariable } from "../../providers/network-options.ts";
import type { Environment } from "../../system/env.ts";

export interface SettingFlag {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in the help; absent for an option without a value. */
  readonly value?: string;
  readonly group: "Run" | "Session" | "Permission" | "Limits";
  /** The option's help if it differs from the setting's. */
  readonly help?: string;
  /** True: the option has no value and means `false`. */
  readonly negates?: true;
}

export interface SettingDescription {
  /** One sentence for people who write a config file. */
  readonly help: string;
  readonly default?: string;
  readonly flag?: SettingFlag;
  /** The environment variable that also sets it and overrides files. */
  readonly variable?: string;
}

/** The schema of a value in a config file: the JSON Schema keywords that the table uses. */
export interface SettingSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly items?: SettingSchema;
  readonly not?: { readonly const: boolean };
  readonly properties?: { readonly [name: string]: DescribedSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: DescribedSchema | false;
  readonly propertyNames?: SettingSchema;
  readonly "x-say"?: string;
}

/** A schema, with its descriptions if it is that of a setting. */
export type DescribedSchema = SettingSchema & Partial<SettingDescription>;

/** A setting of type `T`: its schema, which the compiler checks against the type, and its descriptions. */
export type Setting<T> = SchemaOf<Exclude<T, undefined>> & SettingDescription;

type SchemaOf<T> = SettingSchema &
  (unknown extends T
    ? unknown
    : [T] extends [boolean]
      ? { readonly type: "boolean" }
      : [T] extends [number]
        ? { readonly type: "number" | "integer" }
        : [T] extends [string]
          ? string extends T
            ? { readonly type: "string" }
            : { readonly enum: readonly T[] }
          : [T] extends [readonly (infer E)[]]
            ? { readonly type: "array"; readonly items: SchemaOf<E> }
            : [T] extends [string | boolean]
              ? unknown
              : ObjectSchema<Exclude<T, false>>);

type ObjectSchema<T> = string extends keyof T
  ? { readonly type: "object"; readonly additionalProperties: SchemaOf<T[keyof T]> | false }
  : {
      readonly properties: { readonly [K in keyof Required<T>]: Setting<T[K]> };
      readonly additionalProperties: false;
    };

/** A setting and its path in a config: `["network", "maxRetries"]`; an entry of a map is `"NAME"`. */
export interface PlacedSetting {
  readonly path: readonly string[];
  readonly setting: DescribedSchema;
}

/** Every setting of a table, each followed by its nested ones. */
export function placedSettings(
  fields: { readonly [name: string]: DescribedSchema },
  above: readonly string[] = [],
): readonly PlacedSetting[] {
  return Object.entries(fields).flatMap(([name, setting]) => {
    const path = [...above, name];
    const { additionalProperties: entry } = setting;
    const { properties = {} } = entry || setting;
    return [{ path, setting }, ...placedSettings(properties, entry ? [...path, "NAME"] : path)];
  });
}

/** Returns `config` with `value` set at a path, as in {@link placedSettings}. */
export function withSetting<C extends object>(
  config: C,
  [name, ...rest]: readonly string[],
  value: unknown,
): C {
  if (name === undefined) return config;
  const before = isRecord(config) ? config[name] : undefined;
  const inner = rest.length === 0 ? value : withSetting(isRecord(before) ? before : {}, rest, value);
  return { ...config, [name]: inner };
}

/** A schema of the table for the checker, which ignores the descriptions. */
export function jsonSchema(schema: DescribedSchema): JsonSchema {
  return schema as JsonSchema;
}

/** The values set by variables. Throws `invalid_config`, naming the variable, if one does not fit. */
export function readVariables(
  settings: readonly PlacedSetting[],
  environment: Environment,
): readonly { readonly path: readonly string[]; readonly value: unknown; readonly name: string }[] {
  return settings.flatMap(({ path, setting }) => {
    const { variable: name } = setting;
    const value = name === undefined ? undefined : readVariable(name, jsonSchema(setting), environment);
    return name === undefined || value === undefined ? [] : [{ path, value, name }];
  });
}

const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

// Timers hold 31 bits, about 24 days: a longer limit would end a run at once.
const WITHIN_TIMER_RANGE = String.raw`(?=\d{1,9}(?:\.\d+)?ms|\d{1,6}(?:\.\d+)?s|\d{1,4}(?:\.\d+)?m|[1-4]?\d{1,2}(?:\.\d+)?h)`;
const DURATION_PATTERN = String.raw`^\s*(?!0+(?:\.0+)?[a-z])${WITHIN_TIMER_RANGE}(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)\s*$`;

export const DURATION: { readonly type: "string"; readonly pattern: string; readonly "x-say": string } = {
  type: "string",
  pattern: DURATION_PATTERN,
  "x-say": 'a time such as "90s", "10m" or "1h"',
};

/** Milliseconds of `500ms`, `90s`, `10m`, `1.5h`; `undefined` for anything else, zero included. */
export function parseDuration(text: string): number | undefined {
  const [, figure, unit = ""] = new RegExp(DURATION_PATTERN).exec(text) ?? [];
  return figure === undefined ? undefined : Math.max(1, Math.round(Number(figure) * (UNITS[unit] ?? 1)));
}
