/** Forms of a known value that redaction promises to find. Each takes any text of printable ASCII. */
export const ENCODINGS: readonly (readonly [name: string, encode: (value: string) => string])[] = [
  ["as it is", (value) => value],
  ["JSON", (value) => JSON.stringify(value)],
  ["JSON within JSON", (value) => JSON.stringify(JSON.stringify({ value }))],
  ["percent signs", (value) => encodeURIComponent(value)],
  ["percent signs twice", (value) => encodeURIComponent(encodeURIComponent(value))],
  ["a form", (value) => new URLSearchParams({ v: value }).toString()],
  ["Base64", (value) => Buffer.from(`user:${value}`).toString("base64")],
  ["Base64 for addresses", (value) => Buffer.from(`x${value}yz`).toString("base64url")],
];

/** Other ways to write a secret, which are measured and not promised. */
export const OTHER_ENCODINGS: typeof ENCODINGS = [
  ["percent signs for all of it, small", (value) => bytesOf(value, (hex) => `%${hex}`)],
  ["entities of HTML", (value) => value.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char)],
  ["numbers of HTML", (value) => value.replaceAll(/[^ ]/g, (char) => `&#${char.charCodeAt(0)};`)],
  ["quotes of a shell", (value) => `'${value.replaceAll("'", `'\\''`)}'`],
  ["double quotes of a shell", (value) => `"${value.replaceAll(/[$`"\\!]/g, "\\$&")}"`],
  ["backslashes of a shell", (value) => value.replaceAll(/[^\w]/g, "\\$&")],
  ["bytes of C", (value) => bytesOf(value, (hex) => `\\x${hex}`)],
  ["Unicode escapes", (value) => value.replaceAll(/[\s\S]/g, (char) => `\\u${hexOf(char).padStart(4, "0")}`)],
  ["hexadecimal", (value) => Buffer.from(value).toString("hex")],
  ["hexadecimal in capitals with colons", (value) => bytesOf(value, (hex) => `${hex}:`).toUpperCase()],
  [
    "Base64, wrapped at 76 columns",
    (value) => Buffer.from(`user:${value}`).toString("base64").replaceAll(/.{76}/g, "$&\n"),
  ],
  ["Base64, folded", (value) => Buffer.from(value).toString("base64").replaceAll(/.{20}/g, "$&\n")],
  ["a column of characters", (value) => [...value].join("\n")],
];

const ENTITIES: { readonly [char: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function bytesOf(value: string, write: (hex: string) => string): string {
  return [...Buffer.from(value)].map((byte) => write(byte.toString(16).padStart(2, "0"))).join("");
}

function hexOf(char: string): string {
  return char.charCodeAt(0).toString(16);
}

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER = UPPER.toLowerCase();
const DIGITS = "0123456789";
/** What secrets are made of, and how long they are. */
const KINDS: readonly (readonly [alphabet: string, lengths: readonly number[]])[] = [
  ["0123456789abcdef", [16, 32, 40, 64]],
  [UPPER + LOWER + DIGITS, [12, 16, 20, 32, 48]],
  [`${UPPER}${LOWER}${DIGITS}+/`, [24, 44, 88]],
  [`${UPPER}${LOWER}${DIGITS}-_`, [22, 43]],
  [`${UPPER}${LOWER}${DIGITS}!@#$%^&*()_+-={}[]|:;"'<>,.?/~\`\\`, [10, 16, 24]],
];

/** Numbers from 0 to 1 that look random and are the same for the same seed. */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A random secret of a random kind. */
export function randomSecret(random: () => number): string {
  const pick = <T>(items: readonly T[] | string): T | string =>
    items[Math.floor(random() * items.length)] as T | string;
  const [alphabet, lengths] = pick(KINDS) as (typeof KINDS)[number];
  return Array.from({ length: pick(lengths) as number }, () => pick(alphabet)).join("");
}
