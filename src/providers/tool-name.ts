/**
 * The name of a called tool as every vendor accepts it. Models make names up, and a conversation with one that is refused could not
 * be sent any more; names that are valid stay as they are, for others what is not allowed becomes `_`. The tool itself was never
 * found under such a name, so nothing depends on it.
 */
export function sentToolName(name: string): string {
  if (VALID.test(name)) return name;
  const mended = name.replaceAll(/[^\w-]/gu, "_").slice(0, MAX_LENGTH);
  if (mended === "") return "unnamed_tool";
  // A name that begins with a digit or a dash is refused by some.
  return /^[a-z_]/i.test(mended) ? mended : `_${mended.slice(0, MAX_LENGTH - 1)}`;
}

const MAX_LENGTH = 64;
const VALID = /^[\w-]{1,64}$/;
