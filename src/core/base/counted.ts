/** A number with its noun as people read it: `1 run`, `2 runs`; `plural` where an s does not make it. */
export function counted(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
