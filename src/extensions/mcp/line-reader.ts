/** Longest message of a server in bytes. */
export const MAX_MESSAGE_BYTES: number = 32 * 1024 * 1024;

/**
 * Takes bytes apart into lines. A line longer than `maxBytes` is told once, as `undefined`, as soon as it is
 * that long; then nothing more is read.
 */
export function lineReader(
  onLine: (line: string | undefined) => void,
  maxBytes: number = MAX_MESSAGE_BYTES,
): (chunk: Buffer) => void {
  let kept: Buffer[] = [];
  let size = 0;
  let isOver = false;
  return (chunk) => {
    let rest = chunk;
    while (!isOver) {
      const end = rest.indexOf(0x0a);
      const part = end === -1 ? rest : rest.subarray(0, end);
      size += part.length;
      if (size > maxBytes) {
        isOver = true;
        kept = [];
        onLine(undefined);
        return;
      }
      kept.push(part);
      if (end === -1) return;
      const line = kept.length === 1 ? part : Buffer.concat(kept);
      kept = [];
      size = 0;
      rest = rest.subarray(end + 1);
      onLine(line.toString("utf8"));
    }
  };
}
