/** Makes ids with a prefix, such as `entry_mb2k1x9q7hd0wz3gn100000`. */
export type NewId = (prefix: string) => string;

/**
 * A source of ids: `prefix_` and 22 characters of `[0-9a-z]` that sort by age, strictly within one source,
 * and to the millisecond in which they were created between sources. Forty random bits per source (unique,
 * not secret) keep sources apart and a counter keeps the ids of a source apart, so an id costs one
 * concatenation.
 */
export function createIds(nowMs: number = Date.now()): NewId {
  const head = nowMs.toString(36).padStart(8, "0") + randomText(8);
  let count = FIRST_COUNT;
  return (prefix) => {
    const id = `${prefix}_${head}${count.toString(36)}`;
    count += 1;
    return id;
  };
}

/** A single id, at the cost of a random number; for many, use {@link createIds}. */
export function newId(prefix: string): string {
  return createIds()(prefix);
}

/** Starts with six base-36 digits, so that ids sort; two billion ids fit before a seventh is needed. */
const FIRST_COUNT = 36 ** 5;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * A version 4 UUID (RFC 9562). Like all ids here it is unique but not secret: it comes from `Math.random`,
 * because loading `crypto` takes a fifth of a command's start.
 */
export function newUuid(): string {
  let text = "";
  for (let at = 0; at < 32; at++) {
    if (at === 8 || at === 12 || at === 16 || at === 20) text += "-";
    const digit =
      at === 12 ? 4 : at === 16 ? 8 + Math.floor(Math.random() * 4) : Math.floor(Math.random() * 16);
    text += digit.toString(16);
  }
  return text;
}

function randomText(length: number): string {
  let text = "";
  for (let at = 0; at < length; at++) text += ALPHABET.charAt(Math.floor(Math.random() * ALPHABET.length));
  return text;
}
