/**
 * The fields of a front matter in its simplest form: lines of `name: text` or `name: 12` with nothing in them
 * that YAML gives a meaning of its own. Undefined for every other, which the YAML reader is for: it takes
 * many times as long to load as all files to read.
 */
export function plainFields(front: string): Readonly<Record<string, unknown>> | undefined {
  const fields = new Map<string, unknown>();
  for (const line of front.split("\n")) {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text === "") continue;
    const [, name, value] = LINE.exec(text) ?? [];
    if (name === undefined || value === undefined || fields.has(name)) return undefined;
    const read = plainValue(value.replace(/ +$/, ""));
    if (read === undefined) return undefined;
    fields.set(name, read);
  }
  return fields.size === 0 ? undefined : Object.fromEntries(fields);
}

/** Letters, digits, punctuation, signs and the plain blank: no control, format or separator characters. */
const LINE = /^([A-Za-z][A-Za-z0-9_-]*): ([\p{L}\p{M}\p{N}\p{P}\p{S} ]+)$/u;

function plainValue(value: string): string | number | undefined {
  if (/^(?:0|[1-9]\d{0,8})$/.test(value)) return Number(value);
  if (!/^\p{L}/u.test(value) || /: |:$| #/.test(value)) return undefined;
  return /^(?:true|false|null)$/i.test(value) ? undefined : value;
}
