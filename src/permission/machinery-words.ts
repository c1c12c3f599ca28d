import { isMachinery, type PathSpace } from "./paths/path-space.ts";
import { isReadOnlyProgram } from "./read-only.ts";
import { globFits } from "./secret-files.ts";
import type { ShellWord } from "./shell/shell-command.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";

/** The word of a command that may write which names something of `.git`, or of nano-agent's own files and folders. */
export function machineryOf(unit: ShellUnit, space: PathSpace): string | undefined {
  const onlyReads = isReadOnlyProgram(unit.name) && !WRITES_OPERANDS.has(unit.name);
  if (unit.guards.length === 0 && onlyReads) return undefined;
  return unit.words.slice(1).find((word) => namesMachinery(word, space))?.text;
}

/** Programs that look or write, as their operands say. */
const WRITES_OPERANDS: ReadonlySet<string> = new Set(["uniq", "xxd"]);
/** A quick look, at words that stay as they are and at those that expand. */
const NAMED = /\.[gn]|git~|nano-agent/i;
const HINT = /\.[gn*?[{]|[{\]}]|git~|nano-agent/i;
/** What such an option names is left out, not written to. */
const LEAVES_OUT = /^--?(?:exclude|ignore|skip|prune|not)/;

function namesMachinery({ text, resolved, glob, braces }: ShellWord, space: PathSpace): boolean {
  const hint = glob || braces ? HINT : NAMED;
  if (!hint.test(text) && !hint.test(resolved)) return false;
  if (LEAVES_OUT.test(text)) return false;
  const pieces = text === resolved ? piecesOf(text) : [...piecesOf(text), ...piecesOf(resolved)];
  return pieces.some(
    (piece) =>
      isMachinery(piece) ||
      space.isMachinery(space.path(piece)) ||
      ((glob || braces) && piece.split("/").some((part) => couldBeMachinery(part, braces))),
  );
}

/** A word as a path, and what may be one in it: behind `=`, or behind the letters of an option. */
function piecesOf(text: string): readonly string[] {
  const value = text.slice(text.indexOf("=") + 1);
  if (!text.startsWith("-")) return value === text || !/^\w+=/.test(text) ? [text] : [text, value];
  const attached = text.slice(/^-[a-zA-Z]*/.exec(text)?.[0].length);
  return [value, text.slice(2), attached].filter((piece) => piece !== "");
}

const NAMES = [".git", ".nano-agent", "nano-agent.json"];

/** Whether a part of a path with a glob in it may become one of those. A star does not stand for the dot a name begins with, a brace may. */
function couldBeMachinery(part: string, braces: boolean): boolean {
  const glob = braces ? part.replaceAll(/[{},]+/g, "*") : part;
  if (!/[*?[]/.test(glob)) return false;
  return NAMES.some(
    (name) => (braces || glob.startsWith(name.charAt(0))) && globFits(glob.toLowerCase(), name),
  );
}
