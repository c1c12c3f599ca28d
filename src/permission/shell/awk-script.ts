/** What an awk program does beside printing: `runs` a program or writes a file, `reads` files it names itself, or nothing. */
export type AwkEffect = "none" | "reads" | "runs";

/** Judges an awk program. What could be a pipe, a redirection or an indirect call counts as `runs`. */
export function awkEffect(program: string): AwkEffect {
  if (program.length > MAX_LENGTH) return "runs";
  const code = withoutTexts(program);
  if (code === undefined) return "runs";
  if (/\bsystem\b/.test(program) || /@|(?<!\|)\|(?!\|)/.test(code)) return "runs";
  for (const [statement] of code.matchAll(/\bprintf?\b[^;}\n]*/g))
    if (outsideBrackets(statement).includes(">")) return "runs";
  return /\bgetline\b|\bENVIRON\b/.test(code) ? "reads" : "none";
}

/** The program with strings, regular expressions and comments blanked; `undefined` when one does not end. */
function withoutTexts(program: string): string | undefined {
  let code = "";
  let before = "";
  for (let index = 0; index < program.length; index++) {
    const char = program.charAt(index);
    if (char === "#") {
      const end = program.indexOf("\n", index);
      index = end === -1 ? program.length : end - 1;
      continue;
    }
    if (char === '"' || (char === "/" && !/[\w)\]$"]/.test(before))) {
      const end = closing(program, index + 1, char);
      if (end === -1) return undefined;
      code += '""';
      before = '"';
      index = end;
      continue;
    }
    // A slash taken for a division could begin a regular expression, and then a quote in it would begin no string.
    if (char === "/" && /^[^/\n]*"[^\n]*\//.test(program.slice(index + 1))) return undefined;
    if (char.trim() !== "") before = char;
    code += char === "\\" && program.charAt(index + 1) === "\n" ? " " : char;
  }
  return code;
}

function closing(program: string, from: number, mark: string): number {
  for (let index = from; index < program.length; index++) {
    const char = program.charAt(index);
    if (char === "\\") index++;
    else if (
      char === "\n" ||
      (mark === "/" && char === "[" && /^\[\^?\]?[^\]\n]*\//.test(program.slice(index)))
    )
      return -1;
    else if (char === mark) return index;
  }
  return -1;
}

function outsideBrackets(statement: string): string {
  let depth = 0;
  let outside = "";
  for (const char of statement) {
    if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (depth <= 0) outside += char;
  }
  return outside;
}

/** Longer programs are not read: parts of the reading look ahead. */
const MAX_LENGTH = 4000;
