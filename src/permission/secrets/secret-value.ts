/** Shorter values are words as often as secrets. */
const SHORTEST = 8;
/** From this length on a value needs no digit to count. */
const LONG = 16;
const PLACE = /^(?:~|\.{1,2}\/|[A-Za-z]:\\|file:|\/(?:[\w.@-]+\/)*[\w.@-]*\.[a-z]{1,5}$)/;
const KNOWN_FOLDER =
  /^\/(?:usr|home|root|etc|var|run|tmp|opt|Users|private|mnt|srv|dev|proc|s?bin|lib|nix|snap)\//;
const PLACEHOLDER =
  /^(?:your|my|the|an?|some|insert|enter|example|sample|dummy|fake|test|todo|xxx|placeholder|change|replace|secret|password|process\.env|os\.environ|import\.meta|config\.|settings\.|env\.)|[$<>{}«»[\]]|\*{3}|\.{3}|…|^(.)\1*$/i;

/** Whether a value under a credential's name is a secret: not a place, a number, a word, or a stand-in. */
export function looksSecret(value: string): boolean {
  if (value.length < SHORTEST || PLACE.test(value) || KNOWN_FOLDER.test(value)) return false;
  if (new Set(value).size < 5) return false;
  if (value.length >= LONG) return !/^(?:your|example|placeholder|changeme|replace)/i.test(value);
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** The stricter question for a text whose name alone speaks for it: mixed characters, and nothing that stands for something else. */
export function looksRandom(value: string): boolean {
  return (
    /\d/.test(value) &&
    /[A-Za-z]/.test(value) &&
    new Set(value).size >= 8 &&
    !PLACE.test(value) &&
    !KNOWN_FOLDER.test(value) &&
    !isPlaceholder(value)
  );
}

/** Whether a value is a stand-in: `YOUR_KEY`, `${TOKEN}`, `<token>`, `****`. */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value);
}
