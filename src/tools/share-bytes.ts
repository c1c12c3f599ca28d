import { Buffer } from "node:buffer";

/**
 * Cuts texts so that together they take at most `maxBytes` of UTF-8, the notes about the cuts included as far
 * as there is room. Short texts stay whole; the room they leave goes to the long ones, which keep equal
 * shares: head and tail, with a note in between.
 */
export function shareBytes(texts: readonly string[], maxBytes: number): readonly string[] {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const share = fairShare(sizes, maxBytes);
  return texts.map((text, index) => ((sizes[index] ?? 0) <= share ? text : cutMiddle(text, share)));
}

/** The greatest size to which everything longer must be cut, so that the sum fits. */
function fairShare(sizes: readonly number[], maxBytes: number): number {
  let room = maxBytes;
  let left = sizes.length;
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size > room / left) return Math.floor(room / left);
    room -= size;
    left--;
  }
  return maxBytes;
}

function cutMiddle(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  const note = `\n[${bytes.length} bytes in all, the middle is left out; make this call alone to see it]\n`;
  const room = Math.max(0, maxBytes - note.length);
  let headEnd = Math.floor(room / 2);
  let tailStart = bytes.length - (room - headEnd);
  // UTF-8 continuation bytes are 10xxxxxx: cut between characters.
  while (headEnd > 0 && ((bytes[headEnd] ?? 0) & 0xc0) === 0x80) headEnd--;
  while (tailStart < bytes.length && ((bytes[tailStart] ?? 0) & 0xc0) === 0x80) tailStart++;
  return bytes.toString("utf8", 0, headEnd) + note + bytes.toString("utf8", tailStart);
}
