/** A value that must not be shown, and what stands in its place. */
export interface Secret {
  /** Where it comes from: the name of the variable, say. */
  readonly name: string;
  readonly value: string;
}

/** A stretch of a text that holds a secret. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Length of the pieces that are looked up. A text is sampled at multiples of it. */
const GRAM = 8;
/** The shortest part of a longer secret that counts: any such part of a text holds one whole sample. */
const MIN_PART = 16;
/** Places remembered for a piece that occurs more than once. */
const MAX_PLACES = 4;

interface Form {
  readonly text: string;
  readonly name: string;
}

interface Place {
  readonly form: Form;
  readonly offset: number;
}

/**
 * Finds values that are known, and parts of them from 16 characters on, wherever a text was cut: as they are, escaped for JSON,
 * percent-encoded, and in Base64 (at each of its three alignments, wrapped lines included) and hexadecimal. The time is linear in
 * the text and does not depend on how many values there are.
 */
export class KnownSecrets {
  readonly #secrets: readonly Secret[];
  #places: Map<string, Place[]> | undefined;
  readonly #short: Form[] = [];

  constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
  }

  /** Where secrets stand in a text, in order and without overlap. */
  find(text: string): readonly SecretRange[] {
    if (this.#secrets.length === 0) return [];
    const places = (this.#places ??= this.#index());
    const found: SecretRange[] = [];
    for (let at = 0; at + GRAM <= text.length; ) {
      const range = longest(text, at, places.get(text.slice(at, at + GRAM)));
      if (range === undefined) at += GRAM;
      else {
        found.push(range);
        at = Math.ceil(range.end / GRAM) * GRAM;
      }
    }
    for (const { text: needle, name } of this.#short) {
      for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length))
        found.push({ start: at, end: at + needle.length, name });
    }
    return joined(found);
  }

  #index(): Map<string, Place[]> {
    const places = new Map<string, Place[]>();
    for (const { name, value } of this.#secrets) {
      for (const text of formsOf(value)) {
        const form = { text, name };
        if (text.length < MIN_PART) this.#short.push(form);
        else addPlaces(places, form);
      }
    }
    return places;
  }
}

function addPlaces(places: Map<string, Place[]>, form: Form): void {
  for (let offset = 0; offset + GRAM <= form.text.length; offset++) {
    const gram = form.text.slice(offset, offset + GRAM);
    const known = places.get(gram);
    if (known === undefined) places.set(gram, [{ form, offset }]);
    else if (known.length < MAX_PLACES) known.push({ form, offset });
  }
}

/** The longest part of a known form around `at`, if it is long enough. */
function longest(text: string, at: number, places: readonly Place[] | undefined): SecretRange | undefined {
  let best: SecretRange | undefined;
  for (const { form, offset } of places ?? []) {
    let left = 0;
    while (left < Math.min(at, offset) && text[at - left - 1] === form.text[offset - left - 1]) left++;
    let right = GRAM;
    while (offset + right < form.text.length && text[at + right] === form.text[offset + right]) right++;
    if (left + right < MIN_PART || left + right <= (best === undefined ? 0 : best.end - best.start)) continue;
    best = { start: at - left, end: at + right, name: form.name };
  }
  return best === undefined ? undefined : withoutQuotes(text, best);
}

/** Quotes and backslashes at the ends may be those of the text around it: without them JSON would not be JSON any more. */
function withoutQuotes(text: string, { start, end, name }: SecretRange): SecretRange {
  let [first, last] = [start, end];
  while (first < last && /["\\]/.test(text[first] ?? "")) first++;
  while (last > first && /["\\]/.test(text[last - 1] ?? "")) last--;
  return { start: first, end: last, name };
}

function joined(ranges: readonly SecretRange[]): readonly SecretRange[] {
  const sorted = ranges.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const result: SecretRange[] = [];
  for (const range of sorted) {
    const last = result.at(-1);
    if (
      last === undefined ||
      range.start > last.end ||
      (range.start === last.end && range.name !== last.name)
    )
      result.push(range);
    else if (range.end > last.end) result[result.length - 1] = { ...last, end: range.end };
  }
  return result;
}

function formsOf(value: string): ReadonlySet<string> {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const forms = new Set([value, JSON.stringify(value).slice(1, -1), percentEncoded(value)]);
  for (const shift of [0, 1, 2]) {
    const base64 = base64At(bytes, shift);
    forms.add(base64).add(base64.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms.add(hex).add(hex.toUpperCase());
}

function percentEncoded(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

/** Base64 of the bytes when `shift` unknown bytes stand before them; the characters that depend on neighbours are left out. */
function base64At(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const end = (shift + bytes.length) % 3 === 0 ? text.length : text.length - 1;
  return text.slice(Math.ceil((shift * 8) / 6), end);
}
