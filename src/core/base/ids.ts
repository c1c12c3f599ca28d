/** Makes ids of one family, e.g. `entry_mb2k1x9q7hd0wz3gn100000`. */
export type NewId = (prefix: string) => string;

/**
 * A source of ids. They consist of `[0-9a-z]` after `prefix_`, are 22 characters long without it and sort by
 * age: within one source always, between sources by the millisecond in which the source was made. Forty
 * random bits a source (unique, no secret) keep sources apart, a counter the ids of one source, so an id
 * costs one concatenation.
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

/** A single id, at the cost of a random number; {@link createIds} is for many. */
export function newId(prefix: string): string {
  return createIds()(prefix);
}

/** Six digits in base 36 from the start, so that ids sort; two billion ids fit before there are seven. */
const FIRST_COUNT = 36 ** 5;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * A version 4 UUID (RFC 9562). Like all ids here it is unique but no secret: it comes from `Math.random`,
 * because the first use of `crypto` costs a command a fifth of its start.
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
