import { isRecord } from "./json.ts";

/** Schemas that are looked at for one message, so that what refers to itself or branches ends. */
const MAX_LOOKED = 30;
const MAX_VALUES = 10;
const MAX_CHARS = 200;

/** The schema that a `$ref` of the same document points to. */
export type ResolveRef = (ref: string) => unknown;

/**
 * The form that a schema expects, in a few words: its values where they are few, else its type, of
 * alternatives each one's. Empty where the schema does not say it in short.
 */
export function expectedForm(schema: unknown, resolve: ResolveRef): string {
  const words = new FormWords(resolve).of(schema);
  return words.length > MAX_CHARS ? "" : words;
}

class FormWords {
  readonly #resolve: ResolveRef;
  #left = MAX_LOOKED;

  constructor(resolve: ResolveRef) {
    this.#resolve = resolve;
  }

  of(schema: unknown): string {
    if (!isRecord(schema) || this.#left === 0) return "";
    this.#left -= 1;
    const { const: only, enum: values, type, items, $ref: ref } = schema;
    if (only !== undefined) return JSON.stringify(only);
    if (Array.isArray(values) && values.length > 0 && values.length <= MAX_VALUES)
      return `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
    if (type === "array") return this.#list(items);
    if (Array.isArray(type)) return type.join(" or ");
    if (typeof type === "string") return type;
    return typeof ref === "string" ? this.of(this.#resolve(ref)) : this.#branches(schema);
  }

  #list(items: unknown): string {
    const inner = this.of(items);
    if (inner === "") return "array";
    return `array of ${inner.includes(" ") ? `(${inner})` : inner}`;
  }

  /** One alternative without words leaves all without: the others alone would be wrong. */
  #branches({ anyOf, oneOf, allOf }: { readonly [keyword: string]: unknown }): string {
    const branches = anyOf ?? oneOf ?? (Array.isArray(allOf) && allOf.length === 1 ? allOf : undefined);
    if (!Array.isArray(branches)) return "";
    const forms = branches.map((branch) => this.of(branch));
    return forms.includes("") ? "" : [...new Set(forms)].join(" or ");
  }
}
