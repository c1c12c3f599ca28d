import { invalidConfig } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import { type Environment, variable } from "../../system/env.ts";
import { readText, type Shape } from "./shape.ts";

/** A setting as an option of a run. */
export interface SettingFlag {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in the help; absent for an option that stands alone. */
  readonly value?: string;
  readonly group: "Run" | "Session" | "Permission" | "Limits";
  /** Where the option needs other words than the setting. */
  readonly help?: string;
  /** True: the option, which stands alone, means `false`. */
  readonly negates?: true;
}

/** The words about a setting beside what it takes. */
export interface SettingWords {
  /** For people who write a config file, in one sentence. */
  readonly help: string;
  /** The default in words. */
  readonly default?: string;
  readonly flag?: SettingFlag;
  /** The environment variable that sets it too, which wins over files. */
  readonly variable?: string;
}

/** A setting of type `T`: what it takes, checked against the type, and its words, field by field. */
export type Setting<T> = ShapeOf<Exclude<T, undefined>> & SettingWords;

type ShapeOf<T> = unknown extends T
  ? { readonly type: "any" }
  : [T] extends [boolean]
    ? { readonly type: "boolean" }
    : [T] extends [number]
      ? Extract<Shape, { type: "number" }>
      : [T] extends [string]
        ? TextShape<T>
        : [T] extends [readonly (infer E extends string)[]]
          ? { readonly type: "strings" } & (string extends E ? object : { readonly oneOf: readonly E[] })
          : [T] extends [string | boolean]
            ? Shape
            : ObjectShape<Exclude<T, false>>;

type TextShape<T extends string> = string extends T
  ? Extract<Shape, { type: "string" | "duration" }>
  : { readonly type: "string"; readonly oneOf: readonly T[] };

type ObjectShape<T> = string extends keyof T
  ?
      | { readonly type: "map"; readonly of: ShapeOf<T[keyof T]>; readonly key?: RegExp }
      | { readonly type: "object"; readonly fields: { readonly [name: string]: Shape } }
  : {
      readonly type: "object";
      readonly fields: { readonly [K in keyof Required<T>]: Setting<T[K]> };
      readonly required?: readonly (keyof T & string)[];
      readonly orFalse?: boolean;
    };

/** A shape, with what is said about it where it is that of a setting. */
export type DescribedShape = Shape & Partial<SettingWords>;

/** A setting and its place in a config: `["network", "maxRetries"]`; an entry of a map is `"NAME"`. */
export interface PlacedSetting {
  readonly path: readonly string[];
  readonly setting: DescribedShape;
}

/** Every setting of a table, those inside others behind them. */
export function placedSettings(
  fields: { readonly [name: string]: DescribedShape },
  above: readonly string[] = [],
): readonly PlacedSetting[] {
  return Object.entries(fields).flatMap(([name, setting]) => {
    const path = [...above, name];
    const isMap = setting.type === "map";
    const inner = isMap ? setting.of : setting;
    const below = inner.type === "object" ? inner.fields : {};
    return [{ path, setting }, ...placedSettings(below, isMap ? [...path, "NAME"] : path)];
  });
}

/** `value` at a place in an object, as {@link placedSettings} has it, over what is in `config`. */
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

/** A setting that a variable made. */
export interface FromVariable {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly name: string;
}

/** The values variables give. Throws `invalid_config`, naming the variable, for one that does not fit. */
export function readVariables(
  settings: readonly PlacedSetting[],
  environment: Environment,
): readonly FromVariable[] {
  return settings.flatMap(({ path, setting }) => {
    const { variable: name } = setting;
    const text = name === undefined ? undefined : variable(environment, name);
    if (name === undefined || text === undefined) return [];
    const read = readText(text, setting);
    if ("value" in read) return [{ path, value: read.value, name }];
    throw invalidConfig(`${name} is ${JSON.stringify(text)}. It must be ${read.expected}.`);
  });
}
