import type { NanoAgentError } from "../core/base/errors.ts";
import type { ShownQuirks } from "./shown-quirks.ts";
import type { WireTarget } from "./wire.ts";

/** The words of a server about a request it refused, the field it names included. */
export function refusalWords({ code, message, details }: NanoAgentError): string | undefined {
  if (code !== "bad_request") return undefined;
  const { param } = details;
  return typeof param === "string" ? `${message} '${param}'` : message;
}

/**
 * The field among `fields` that a refusal says it does not know or take; names that are words of English
 * count only where they are quoted. `undefined`: it is about something else.
 */
export function refusedField(words: string, fields: readonly string[]): string | undefined {
  if (!UNKNOWN_FIELD.test(words)) return undefined;
  return fields.find((field) => {
    const name = field.includes("_") ? `\\b${field}\\b` : `["'\`]${field}["'\`]`;
    return new RegExp(name).test(words);
  });
}

const UNKNOWN_FIELD =
  /unknown|unrecogni[sz]ed|unsupported|not supported|(?:does|do) not (?:support|allow)|doesn't support|not permitted|unexpected|additional properties/i;

/** The fields of a request that are left out: quirk `omit`, names with commas between them. */
export function withoutOmitted<T extends object>(fields: T, target: WireTarget): T {
  const omitted = omittedFields(target);
  if (omitted.length === 0) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !omitted.includes(name))) as T;
}

/** The quirk that leaves out one more field; `undefined`: it is left out already. */
export function omitting(field: string, target: WireTarget): ShownQuirks | undefined {
  const omitted = omittedFields(target);
  return omitted.includes(field) ? undefined : { omit: [...omitted, field].join(",") };
}

function omittedFields({ quirks }: WireTarget): readonly string[] {
  const omitted = quirks?.["omit"];
  return typeof omitted === "string" ? omitted.split(/[, ]+/).filter((name) => name !== "") : [];
}
