/** What a sed script does beside editing the stream: `runs` a program or writes a file, `reads` another file, or nothing. */
export type SedEffect = "none" | "reads" | "runs";

/** Judges a sed script (GNU syntax, the widest). What cannot be read counts as `runs`. */
export function sedEffect(script: string): SedEffect {
  let effect: SedEffect = "none";
  let at = 0;
  while (at < script.length) {
    at = skipAddress(script, at);
    if (at === -1) return "runs";
    if (at >= script.length) break;
    const step = command(script, at);
    if (step === undefined) return "runs";
    if (step.reads === true) effect = "reads";
    at = step.next;
  }
  return effect;
}

interface Step {
  readonly next: number;
  readonly reads?: true;
}

function command(script: string, at: number): Step | undefined {
  const char = script.charAt(at);
  if ("{}=dDgGhHnNpPxzF".includes(char)) return { next: at + 1 };
  if (char === "s") return substitute(script, at);
  if (char === "y") {
    const end = sections(script, at + 1);
    return end === -1 ? undefined : { next: end };
  }
  if ("aic".includes(char)) return { next: endOfText(script, at + 1) };
  if ("rR".includes(char)) return { next: endOfLine(script, at), reads: true };
  if (char === "#") return { next: endOfLine(script, at) };
  if ("btT:".includes(char))
    return { next: at + (/^[^;\n}]*/.exec(script.slice(at, at + 1000))?.[0].length ?? 1) };
  if ("qQlL".includes(char))
    return { next: at + (/^.[ \t]*\d*/.exec(script.slice(at, at + 100))?.[0].length ?? 1) };
  return undefined;
}

function substitute(script: string, at: number): Step | undefined {
  const end = sections(script, at + 1);
  if (end === -1) return undefined;
  let next = end;
  while (/[gpiIMm0-9]/.test(script.charAt(next))) next++;
  return next >= script.length || /[\s;}#]/.test(script.charAt(next)) ? { next } : undefined;
}

/** The end of the two parts of `s` or `y`, each closed by the character at `at`; -1 when they are not closed. */
function sections(script: string, at: number): number {
  const delimiter = script.charAt(at);
  if (delimiter === "" || delimiter === "\n" || delimiter === "\\") return -1;
  const first = closing(script, at + 1, delimiter);
  const second = first === -1 ? -1 : closing(script, first, delimiter);
  return second;
}

/** The place behind the next unescaped `delimiter`. */
function closing(script: string, from: number, delimiter: string): number {
  for (let index = from; index < script.length; index++) {
    const char = script.charAt(index);
    if (char === "\\") index++;
    else if (char === delimiter) return index + 1;
    // A delimiter inside brackets is one to some versions and none to others.
    else if (
      char === "[" &&
      /^\[[^\]\n]*\]/.exec(script.slice(index, index + 200))?.[0].includes(delimiter) === true
    )
      return -1;
  }
  return -1;
}

function skipAddress(script: string, from: number): number {
  let at = from;
  for (;;) {
    const char = script.charAt(at);
    if (char === "") return at;
    if (/[\s;,!$~+0-9]/.test(char)) at++;
    else if (char === "/" || (char === "\\" && script.charAt(at + 1) !== "")) {
      const delimiter = char === "/" ? "/" : script.charAt(at + 1);
      at = closing(script, at + (char === "/" ? 1 : 2), delimiter);
      if (at === -1) return -1;
      while (/[IM]/.test(script.charAt(at))) at++;
    } else return at;
  }
}

function endOfLine(script: string, from: number): number {
  const end = script.indexOf("\n", from);
  return end === -1 ? script.length : end;
}

function endOfText(script: string, from: number): number {
  let at = from;
  for (;;) {
    const end = script.indexOf("\n", at);
    if (end === -1) return script.length;
    if (script.charAt(end - 1) !== "\\") return end;
    at = end + 1;
  }
}
