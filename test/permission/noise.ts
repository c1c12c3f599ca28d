/** `length` characters that look random and are the same each time. None of these is a real credential. */
export function noise(length: number, alphabet: string): string {
  let state = 7;
  let text = "";
  for (let at = 0; at < length; at++) {
    state = (state * 1103515245 + 12345) % 2147483648;
    text += alphabet[Math.floor((state / 2147483648) * alphabet.length)] ?? "";
  }
  return text;
}

/** Digits of hexadecimal numbers. */
export const HEX = "0123456789abcdef";
/** Capitals and digits. */
export const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/** Letters and digits. */
export const ALNUM: string = `${UPPER}abcdefghijklmnopqrstuvwxyz`;
/** What tokens are made of. */
export const TOKEN: string = `${ALNUM}_-`;
/** What Base64 is made of. */
export const BASE64: string = `${ALNUM}+/`;
