const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca77;

/**
 * A number of 53 bits for a text, equal for equal texts and almost never for others: to compare what need not
 * be kept. No protection against texts that are made to collide.
 */
export function hashText(text: string): number {
  let low = 0x2545f491;
  let high = 0x6c62272e;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, FIRST);
    high = Math.imul(high ^ code, SECOND);
    low ^= low >>> 15;
    high ^= high >>> 13;
  }
  low = Math.imul(low ^ (high >>> 16) ^ text.length, SECOND);
  high = Math.imul(high ^ (low >>> 15), FIRST);
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}
