/** The effect of a sed script beside editing: none, `reads` another file, or `runs`, also if unreadable. */
export type SedEffect = "none" | "reads" | "runs";

/**
 * Reads a sed script by a small grammar, each command of which ends where every sed says it ends. Whatever is
 * not in the grammar, `e` and `w` among it, counts as `runs`.
 */
export function sedEffect(script: string): SedEffect {
  let effect: SedEffect = "none";
  let at = 0;
  for (;;) {
    at = past(/[\s;}]*/y, script, at);
    if (at >= script.length) return effect;
    const start = addresses(script, at);
    const step = start === undefined ? undefined : command(script, start);
    if (step === undefined) return "runs";
    if (step.reads === true) effect = "reads";
    at = step.next;
  }
}

interface Step {
  readonly next: number;
  readonly reads?: true;
}

/** Where a command is over for every sed. */
const END = /[ \t]*(?=[;\n}#]|$)/y;

function command(script: string, at: number): Step | undefined {
  const name = script.charAt(at);
  if (name === "{") return { next: at + 1 };
  if (name === "#") return { next: past(/[^\n]*/y, script, at) };
  if ("=dDgGhHnNpPxzF".includes(name)) return ended(script, at + 1);
  if ("qQl".includes(name)) return ended(script, past(/[ \t]*\d*/y, script, at + 1));
  if (name === ":") return matching(/:[ \t]*[\w.-]+[ \t]*(?=[;\n]|$)/y, script, at);
  if ("btT".includes(name))
    return matching(/.(?:[ \t]*[\w.-]+[ \t]*(?=[;\n]|$)|[ \t]*(?=[;\n}]|$))/y, script, at);
  // Text with a backslash in it ends for some where it goes on for others.
  if ("aic".includes(name)) return matching(/.[ \t]*(?:\\[ \t]*\n?)?[^\\\n]+(?=\n|$)/y, script, at);
  if (name === "s" || name === "y") return replacement(script, at);
  if (name !== "r" && name !== "R") return undefined;
  const read = matching(/.[ \t]*[^\\\n]+(?=\n|$)/y, script, at);
  return read === undefined ? undefined : { ...read, reads: true };
}

/** `s/…/…/` and `y/…/…/`, with flags that neither write nor run. */
function replacement(script: string, at: number): Step | undefined {
  const delimiter = script.charAt(at + 1);
  if (!/[!-/:;<=>?@^_`|~,#%]/.test(delimiter) || delimiter === "\\") return undefined;
  const middle = closing(script, at + 2, delimiter);
  if (middle === undefined || (script.charAt(at) === "s" && !isPlainRegex(script.slice(at + 2, middle))))
    return undefined;
  const last = closing(script, middle + 1, delimiter);
  if (last === undefined) return undefined;
  return ended(script, past(script.charAt(at) === "s" ? /[gpIiMm0-9]*/y : /(?:)/y, script, last + 1));
}

/** The place of the next `delimiter` without a backslash. A line may end in between only behind one. */
function closing(script: string, from: number, delimiter: string): number | undefined {
  for (let index = from; index < script.length; index++) {
    const char = script.charAt(index);
    if (char === delimiter) return index;
    if (char === "\n") return undefined;
    if (char === "\\") index++;
  }
  return undefined;
}

/** The place behind the addresses of a command; `undefined` when they cannot be read. */
function addresses(script: string, from: number): number | undefined {
  let at = from;
  const first = address(script, at);
  if (first !== from) {
    if (first === undefined) return undefined;
    at = past(/[ \t]*/y, script, first);
    if (script.charAt(at) === ",") {
      const second = past(/,[ \t]*/y, script, at);
      const end = /^[+~]\d/.test(script.slice(second, second + 2))
        ? past(/.\d+/y, script, second)
        : address(script, second);
      if (end === undefined || end === second) return undefined;
      at = end;
    }
  }
  return past(/[ \t]*(?:![ \t]*)?/y, script, at);
}

/** The place behind one address: `from` itself where none stands. */
function address(script: string, from: number): number | undefined {
  const char = script.charAt(from);
  if (/[$\d]/.test(char)) return past(/\$|\d+(?:~\d+)?/y, script, from);
  if (char !== "/" && char !== "\\") return from;
  const open = char === "/" ? from : from + 1;
  if (!/[/|,#%@!:;~_]/.test(script.charAt(open))) return undefined;
  const end = closing(script, open + 1, script.charAt(open));
  if (end === undefined || !isPlainRegex(script.slice(open + 1, end))) return undefined;
  return past(/[IM]*/y, script, end + 1);
}

function ended(script: string, at: number): Step | undefined {
  return matching(END, script, at);
}

function matching(pattern: RegExp, script: string, at: number): Step | undefined {
  pattern.lastIndex = at;
  return pattern.test(script) ? { next: pattern.lastIndex } : undefined;
}

/** The place behind what `pattern` finds at `at`; `at` where it finds nothing. */
function past(pattern: RegExp, script: string, at: number): number {
  return matching(pattern, script, at)?.next ?? at;
}

/**
 * True when a regular expression, cut out at the first delimiter without a backslash, ends there for every
 * reader: no bracket expression in it that some close later than others, and none that is left open.
 */
export function isPlainRegex(text: string): boolean {
  return !text.includes("[") || PLAIN.test(text);
}

/** No `]` first in brackets, none behind a backslash, no bracket inside but a class. */
const PLAIN = /^(?:[^[\\]|\\[^\n]|\[(?:\^|(?!\^))(?:\[:[a-z]+:\]|\\[^\]\n]|[^[\]\\\n])+\])*$/s;
