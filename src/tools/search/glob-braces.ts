/**
 * The alternatives of a text with `{a,b}` and `{1..3}`, nested ones too; a backslash takes the next character
 * literally and stays in the result. Braces without a comma or a range, or without their counterpart, stay as
 * they are, as do all beyond 1,000 alternatives.
 */
export function expandBraces(text: string): readonly string[] {
  let expanded = [text];
  const done: string[] = [];
  while (expanded.length > 0) {
    const next: string[] = [];
    for (const candidate of expanded) {
      const group =
        done.length + next.length + expanded.length < MAX_ALTERNATIVES ? firstGroup(candidate) : undefined;
      if (group === undefined) done.push(candidate);
      else for (const choice of group.choices) next.push(group.before + choice + group.after);
    }
    expanded = next;
  }
  return done;
}

const MAX_ALTERNATIVES = 1000;
const MAX_RANGE = 100;

interface BraceGroup {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

function firstGroup(text: string): BraceGroup | undefined {
  for (let start = nextBrace(text, 0); start !== -1; start = nextBrace(text, start + 1)) {
    const group = groupAt(text, start);
    if (group !== undefined) return group;
  }
  return undefined;
}

function groupAt(text: string, start: number): BraceGroup | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === "\\") index++;
    else if (character === "{") depth++;
    else if (character === "," && depth === 1) commas.push(index);
    else if (character === "}" && --depth === 0) {
      const choices = choicesOf(text, [start, ...commas, index]);
      return choices && { before: text.slice(0, start), choices, after: text.slice(index + 1) };
    }
  }
  return undefined;
}

function choicesOf(text: string, borders: readonly number[]): readonly string[] | undefined {
  const choices = borders.slice(1).map((border, index) => text.slice((borders[index] ?? 0) + 1, border));
  return choices.length > 1 ? choices : rangeOf(choices[0] ?? "");
}

function rangeOf(text: string): readonly string[] | undefined {
  const match = /^(\d{1,9})\.\.(\d{1,9})$/u.exec(text);
  if (match === null) return undefined;
  const [from, to] = [Number(match[1]), Number(match[2])];
  if (Math.abs(to - from) >= MAX_RANGE) return undefined;
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => String(Math.min(from, to) + index));
}

function nextBrace(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === "{") return index;
  }
  return -1;
}
