import { existsSync, readdirSync } from "node:fs";
import { isMachinery, type PathSpace } from "./paths/path-space.ts";
import { isReadOnlyProgram } from "./read-only.ts";
import { globFits } from "./secret-files.ts";
import { type OptionTable, optionTable, readOptions } from "./shell/option-reader.ts";
import { literalWord, type ShellWord, textAt } from "./shell/shell-command.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import { shown } from "./verdict.ts";

/** Why a command asks in spite of a pattern: it names machinery it may write to, or leaves the workspace. */
export function openPlace(unit: ShellUnit, space: PathSpace): string | undefined {
  const machinery = machineryOf(unit, space);
  if (machinery !== undefined)
    return `it may write to ${shown(machinery)}, which is part of a repository's or nano-agent's own machinery`;
  const other = otherRepository(unit);
  if (other !== undefined && isOnThisMachine(other, space))
    return `it has to do with ${shown(other.text)}, a repository on this machine whose own hooks and settings would count`;
  const outside = placesOf(unit).find((place) => !isInside(place, space));
  if (outside !== undefined)
    return `it works in ${shown(outside.text)}, which is not known to be in the workspace`;
  const name = optionInFolder(unit, space);
  return name === undefined
    ? undefined
    : `a file is called ${shown(name)}, which ${unit.name} would take for an option where a glob finds it`;
}

/** Sub-commands of git whose first operand (of `remote` the third) is another repository; their options. */
const NAMING: ReadonlyMap<string, OptionTable> = new Map([
  ["push", optionTable("-46nqvfdu -o= repo= push-option= receive-pack= exec= recurse-submodules=")],
  [
    "fetch",
    optionTable("-46aqvfkptnjm depth= deepen= shallow-since= refmap= jobs= filter= negotiation-tip="),
  ],
  [
    "pull",
    optionTable("-46aqvfkptnr -sX= depth= rebase rebase= strategy= strategy-option= jobs= filter= cleanup="),
  ],
  [
    "clone",
    optionTable(`
      -46lnqvs -bojuc= branch= depth= origin= reference= reference-if-able= config= filter= jobs=
      shallow-since= shallow-exclude= bundle-uri=`),
  ],
  ["ls-remote", optionTable("-46hqt -o= sort= server-option=")],
  ["remote", optionTable("-tm=")],
]);

/** The repository that a command of git names. */
function otherRepository({ name, words }: ShellUnit): ShellWord | undefined {
  const from = name === "git" ? words.findIndex(({ text }) => NAMING.has(text)) : -1;
  if (from === -1) return undefined;
  const sub = textAt(words, from);
  const table = NAMING.get(sub);
  if (table === undefined) return undefined;
  const { options, operands } = readOptions(words, table, from + 1);
  const named = words[operands[sub === "remote" ? 2 : 0] ?? words.length];
  return named ?? options.find((option) => option.name === "--repo")?.value;
}

/** True when git could take a word for a repository's path, whose hooks no setting of ours reaches. */
function isOnThisMachine({ text, literal }: ShellWord, space: PathSpace): boolean {
  if (!literal || /^(?:[./~]|file:)/i.test(text)) return true;
  if (/^[^/]*:/.test(text)) return false;
  return [text, `${text}.git`].some((path) => existsSync(space.path(path).resolved));
}

/**
 * Options that name the folder to work in, or the file that says what to do, by program: as a word of their
 * own, and with it behind them. Of long ones any beginning counts, which many programs take for the whole.
 */
const PLACE_OPTIONS: ReadonlyMap<string, readonly [alone: RegExp, attached: RegExp]> = new Map(
  Object.entries({
    "make gmake": placeOptions("-[bdehikmnpqrRsStvw]*[CfI]", "directory file makefile include-dir"),
    "npm pnpm yarn bun": placeOptions("-C", "prefix dir cwd", "-+(?=\\w\\w)"),
    cargo: placeOptions("-[vq]*C", "manifest-path target-dir build-dir artifact-dir out-dir lockfile-path"),
    go: placeOptions("--?C=?"),
    "ninja meson": placeOptions("-C", "working-dir"),
    "uv poetry": placeOptions("-C", "directory project"),
    composer: placeOptions("-d", "working-dir"),
    "just task": placeOptions("-[dft]", "dir working-directory justfile taskfile"),
    "gradle gradlew": placeOptions("-[pb]", "project-dir build-file"),
    mvn: placeOptions("-f", "file"),
    docker: placeOptions("(?!)", "project-directory"),
    terraform: placeOptions("--?chdir="),
  }).flatMap(([names, options]) => names.split(" ").map((name) => [name, options] as const)),
);

function placeOptions(short: string, long = "", dashes = "--"): readonly [alone: RegExp, attached: RegExp] {
  const names = long.split(" ").map(anyBeginning).join("|");
  const whole = long === "" ? "(?!)" : `${dashes}(?:${names})`;
  return [new RegExp(`^(?:${short}|${whole})$`), new RegExp(`^(?:${short}|${whole}=)(?=.)`)];
}

/** A pattern for a name and all that it begins with. */
function anyBeginning(name: string): string {
  return [...name].reduceRight((rest, letter) => `${letter}(?:${rest})?`, "");
}

/** Where `git -C`, `make -C` or `npm --prefix` go; of several folders of git, all in one path. */
function placesOf({ name, words }: ShellUnit): readonly ShellWord[] {
  if (name === "git") return gitFolderOf(words);
  const options = PLACE_OPTIONS.get(name);
  if (options === undefined) return NOWHERE;
  const [alone, attached] = options;
  const places: ShellWord[] = [];
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? literalWord("");
    if (word.text === "--") break;
    if (alone.test(word.text)) places.push(words[++index] ?? literalWord(""));
    else if (attached.test(word.text)) places.push({ ...word, text: word.text.replace(attached, "") });
  }
  return places;
}

const NOWHERE: readonly ShellWord[] = [];

/** Where `git -C` goes, several of them in one path; nothing without one. */
export function gitFolderOf(words: readonly ShellWord[]): readonly ShellWord[] {
  let folder: ShellWord | undefined;
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? literalWord("");
    if (word.text === "-C") {
      const next = words[++index] ?? literalWord("");
      folder = folder === undefined ? next : joined(folder, next);
    }
    // Behind the sub-command `-C` means something else.
    else if (!word.text.startsWith("-")) break;
  }
  return folder === undefined ? NOWHERE : [folder];
}

function joined(one: ShellWord, other: ShellWord): ShellWord {
  const text = /^[/~]/.test(other.text) ? other.text : `${one.text}/${other.text}`;
  return { ...other, text, literal: one.literal && other.literal, tilde: one.tilde || other.tilde };
}

function isInside({ text, literal, tilde }: ShellWord, space: PathSpace): boolean {
  if (!literal && !tilde) return false;
  return space.isInside(space.path(text.startsWith("~") && !tilde ? `./${text}` : text).resolved);
}

/** A file name that a glob turns into an option. Programs that only look keep those out by their tables. */
function optionInFolder({ name, words }: ShellUnit, space: PathSpace): string | undefined {
  if (isReadOnlyProgram(name)) return undefined;
  const from = words.findIndex((word, index) => index > 0 && mayFindFiles(word));
  const end = from === -1 ? -1 : words.findIndex(({ text }) => text === "--");
  if (from === -1 || (end !== -1 && end < from)) return undefined;
  try {
    return readdirSync(space.cwd).find((file) => file.startsWith("-"));
  } catch {
    return "-";
  }
}

/** True when a word may become names of files: a variable too, as a loop over a glob may have set it. */
function mayFindFiles({ glob, text, names }: ShellWord): boolean {
  return (glob && /^[*?[+@!]/.test(text)) || (names.length > 0 && text.startsWith("$"));
}

/** The word of a command that may write which names part of `.git` or of nano-agent's own files. */
export function machineryOf(unit: ShellUnit, space: PathSpace): string | undefined {
  const onlyReads = isReadOnlyProgram(unit.name) && !WRITES_OPERANDS.has(unit.name);
  if (unit.guards.length === 0 && onlyReads) return undefined;
  return unit.words.find((word, index) => index > 0 && namesMachinery(word, space))?.text;
}

/** Programs that look or write, as their operands say. */
const WRITES_OPERANDS: ReadonlySet<string> = new Set(["uniq", "xxd"]);
/** A quick look, at words that stay as they are and at those that expand. */
const NAMED = /\.[gn]|git~|nano-agent/i;
const HINT = /\.[gn*?[{]|[{\]}]|git~|nano-agent/i;
/** Names after such an option are left out, not written to. */
const LEAVES_OUT = /^--?(?:exclude|ignore|skip|prune|not)/;

function namesMachinery({ text, resolved, glob, braces }: ShellWord, space: PathSpace): boolean {
  const hint = glob || braces ? HINT : NAMED;
  if (!hint.test(text) && (resolved === text || !hint.test(resolved))) return false;
  if (LEAVES_OUT.test(text)) return false;
  const pieces = text === resolved ? pathsIn(text) : [...pathsIn(text), ...pathsIn(resolved)];
  return pieces.some(
    (piece) =>
      isMachinery(piece) ||
      space.isMachinery(space.path(piece)) ||
      ((glob || braces) && piece.split("/").some((part) => couldBeMachinery(part, braces))),
  );
}

/** A word as a path, and what may be one in it: behind `=`, or behind the letters of an option. */
function pathsIn(text: string): readonly string[] {
  const value = text.slice(text.indexOf("=") + 1);
  if (!text.startsWith("-")) return value === text || !/^\w+=/.test(text) ? [text] : [text, value];
  const attached = text.slice(/^-[a-zA-Z]*/.exec(text)?.[0].length);
  return [value, text.slice(2), attached].filter((piece) => piece !== "");
}

const NAMES = [".git", ".nano-agent", "nano-agent.json"];

/** True when a path part with a glob may be one of those. A star is no leading dot, a brace may be. */
function couldBeMachinery(part: string, braces: boolean): boolean {
  const glob = braces ? part.replaceAll(/[{},]+/g, "*") : part;
  if (!/[*?[]/.test(glob)) return false;
  return NAMES.some(
    (name) => (braces || glob.startsWith(name.charAt(0))) && globFits(glob.toLowerCase(), name),
  );
}
