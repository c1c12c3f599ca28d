/**
 * True when a calculation is nothing but names, numbers and operators, brackets paired: then it is the same
 * to every reader, and runs nothing as long as its names hold numbers.
 */
export function isPlainArithmetic(text: string): boolean {
  if (!PLAIN.test(text)) return false;
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth++;
    else if (char === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

const PLAIN = /^(?:\s|\$?[A-Za-z_]\w*|\d\w*|[-+*/%<>=!&|^~?:,()])*$/;
