import { decodedViews, singleViews, squeezed, type TextView, unspaced } from "./text-view.ts";

/** A value that must not be shown, and what stands in its place. */
export interface Secret {
  /** Where it comes from: the name of the variable, say. */
  readonly name: string;
  readonly value: string;
}

/** A stretch of a text that holds a secret, or a further piece of one: then `name` is empty. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Length of the pieces that are looked up. A text is sampled at multiples of it. */
const GRAM = 8;
/** The shortest part of a longer secret that counts: any such part of a text holds one whole sample. */
const MIN_PART = 16;
/** Letters alone are no word from this length on. */
const MIN_LETTERS = 12;
/** Places remembered for a piece that occurs more than once. */
const MAX_PLACES = 4;
/** A shorter piece at the end of a longer one, with a quote or a line end in between, is chance. */
const MIN_PIECE = 4;
/** Characters that may stand between a secret's and go with them: none that give the text its form. */
const GLUE = /^[^\s"'`\\,:;&<>()[\]{}|«»]*$/;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

interface Form {
  readonly text: string;
  readonly name: string;
}

interface Place {
  readonly form: Form;
  readonly offset: number;
}

/**
 * Finds values that are known, and parts of them from 16 characters on, wherever a text was cut. They are
 * looked for as they are, where a text was decoded (percent signs, backslashes, entities, one within the
 * other), and with letters and digits alone, in capitals or not: so quotes of a shell, line ends, blanks and
 * columns in between hide nothing. There also in Base64 (at each alignment), Base32, hexadecimal and
 * backwards. The time is linear in the text and does not depend on how many values there are.
 */
export class KnownSecrets {
  readonly #secrets: readonly Secret[];
  #forms: Forms | undefined;

  constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
  }

  /** Where secrets stand in a text, in order and without overlap. */
  find(text: string): readonly SecretRange[] {
    if (this.#secrets.length === 0) return [];
    const forms = (this.#forms ??= indexesOf(this.#secrets));
    const found = forms.plain.find(text).map((range) => withoutQuotes(text, range));
    const look = (index: FormIndex, view: TextView): void => {
      for (const range of index.find(view.text)) found.push(...inSource(text, view, range));
    };
    const views = decodedViews(text);
    for (const view of [...views, ...(forms.hasEscapes ? singleViews(text) : [])]) look(forms.plain, view);
    for (const view of [undefined, ...views]) {
      look(forms.squeezed, squeezed(view?.text ?? text, view));
      if (forms.hasSymbols) look(forms.symbols, unspaced(view?.text ?? text, view));
    }
    return joined(found.filter(({ start, end }) => start < end));
  }
}

interface Forms {
  readonly plain: FormIndex;
  /** Letters and digits alone. */
  readonly squeezed: FormIndex;
  /** Values of which these would say too little, without blanks. */
  readonly symbols: FormIndex;
  readonly hasSymbols: boolean;
  /** True when a value holds a character that begins an escape. */
  readonly hasEscapes: boolean;
}

/** Texts to look for, by their pieces. */
class FormIndex {
  readonly #places = new Map<string, Place[]>();
  readonly #short: Form[] = [];

  add(form: Form): void {
    const { text } = form;
    if (text.length < MIN_PART) {
      this.#short.push(form);
      return;
    }
    for (let offset = 0; offset + GRAM <= text.length; offset++) {
      const gram = text.slice(offset, offset + GRAM);
      const known = this.#places.get(gram);
      if (known === undefined) this.#places.set(gram, [{ form, offset }]);
      else if (known.length < MAX_PLACES) known.push({ form, offset });
    }
  }

  find(text: string): readonly SecretRange[] {
    const found: SecretRange[] = [];
    for (let at = 0; at + GRAM <= text.length; ) {
      const range = longest(text, at, this.#places.get(text.slice(at, at + GRAM)));
      if (range === undefined) at += GRAM;
      else {
        found.push(range);
        at = Math.max(at + GRAM, Math.ceil(range.end / GRAM) * GRAM);
      }
    }
    for (const { text: needle, name } of this.#short) {
      for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length))
        found.push({ start: at, end: at + needle.length, name });
    }
    return found;
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
  return best;
}

/** Quotes and backslashes at the ends may belong to the text around: JSON must stay JSON. */
function withoutQuotes(text: string, { start, end, name }: SecretRange): SecretRange {
  let [first, last] = [start, end];
  while (first < last && /["\\]/.test(text[first] ?? "")) first++;
  while (last > first && /["\\]/.test(text[last - 1] ?? "")) last--;
  return { start: first, end: last, name };
}

/** The stretches of the source behind a stretch of a view, without what gives the text its form. */
function inSource(text: string, view: TextView, { start, end, name }: SecretRange): readonly SecretRange[] {
  const ranges: SecretRange[] = [];
  for (let at = start; at < end; at++) {
    const [first, last] = [view.starts[at] ?? 0, view.ends[at] ?? 0];
    // A quote of the value itself cannot be told from one of the text.
    if (last - first === 1 && /["\\]/.test(text[first] ?? "")) continue;
    const before = ranges.at(-1);
    if (before !== undefined && GLUE.test(text.slice(before.end, first)))
      ranges[ranges.length - 1] = { ...before, end: Math.max(before.end, last) };
    else ranges.push({ start: first, end: last, name });
  }
  return withoutChance(ranges).map((range, at) => (at === 0 ? range : { ...range, name: "" }));
}

function withoutChance(ranges: readonly SecretRange[]): readonly SecretRange[] {
  const length = (at: number): number => {
    const range = ranges.at(at);
    return range === undefined ? 0 : range.end - range.start;
  };
  const first = length(0) < MIN_PIECE && length(1) >= MIN_PART ? 1 : 0;
  const last = length(-1) < MIN_PIECE && length(-2) >= MIN_PART ? ranges.length - 1 : ranges.length;
  return ranges.slice(first, last);
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
    else {
      const end = Math.max(last.end, range.end);
      result[result.length - 1] = { ...last, end, name: last.name === "" ? range.name : last.name };
    }
  }
  return result;
}

function indexesOf(secrets: readonly Secret[]): Forms {
  const [plain, letters, symbols] = [new FormIndex(), new FormIndex(), new FormIndex()];
  for (const { name, value } of secrets) {
    for (const text of plainForms(value)) plain.add({ text, name });
    for (const text of squeezedForms(value)) letters.add({ text, name });
    if (isSymbolic(value)) symbols.add({ text: unspaced(value).text, name });
  }
  return {
    plain,
    squeezed: letters,
    symbols,
    hasSymbols: secrets.some(({ value }) => isSymbolic(value)),
    hasEscapes: secrets.some(({ value }) => /[%\\&]/.test(value)),
  };
}

/** True when letters and digits alone say too little of it. */
function isSymbolic(value: string): boolean {
  const letters = squeezed(value).text;
  return !isTelling(letters) || (letters.length < value.length && letters.length < MIN_PART);
}

/** A shorter one may be a word. */
function isTelling(letters: string): boolean {
  return letters.length >= MIN_LETTERS || (letters.length >= GRAM && /\d/.test(letters));
}

/** As it is, and as shells quote it: `'\''` and backslashes. */
function plainForms(value: string): ReadonlySet<string> {
  return new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    value.replaceAll("'", `'\\''`),
    value.replaceAll("'", `'"'"'`),
    value.replaceAll(/[^\w@%+=:,./-]/g, "\\$&"),
  ]);
}

function squeezedForms(value: string): readonly string[] {
  const [bytes, wide] = [Buffer.from(value), Buffer.from(value, "utf16le")];
  const plain = [value, [...value].reverse().join(""), encodeURIComponent(value.toWellFormed())];
  const encoded = [bytes.toString("hex")];
  for (const shift of [0, 1, 2]) encoded.push(base64At(bytes, shift), base64At(wide, shift));
  for (const shift of [0, 1, 2, 3, 4]) encoded.push(base32At(bytes, shift));
  const letters = (form: string): string => squeezed(form).text;
  return [
    ...new Set([
      ...plain.map(letters).filter(isTelling),
      ...encoded.map(letters).filter((form) => form.length >= GRAM),
    ]),
  ];
}

/** Base64 of the bytes behind `shift` unknown ones, without the characters that depend on neighbours. */
function base64At(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const end = (shift + bytes.length) % 3 === 0 ? text.length : text.length - 1;
  return text.slice(Math.ceil((shift * 8) / 6), end);
}

/** The same in Base32. */
function base32At(bytes: Buffer, shift: number): string {
  let bits = "";
  for (const byte of Buffer.concat([Buffer.alloc(shift), bytes])) bits += byte.toString(2).padStart(8, "0");
  const text = (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join("");
  return text.slice(Math.ceil((shift * 8) / 5));
}
