import type { Redirection, Word } from "unbash";
import type { WordPrinter } from "./print-word.ts";
import type { SourceCursor } from "./source-cursor.ts";

/** Where a redirection stands. */
export interface RedirectionPlace {
  readonly cursor: SourceCursor;
  readonly words: WordPrinter;
  /** Only what every POSIX shell reads alike. */
  readonly posix: boolean;
  /** Within `[[ … ]]`, where Bash loses its way in a here-document. */
  readonly isInTest: boolean;
}

/** Prints a redirection anew; the cursor stands before it. */
export function printRedirection(node: Redirection, place: RedirectionPlace): string {
  const { cursor, words, posix } = place;
  cursor.blank();
  if (cursor.at !== node.pos) cursor.fail("it is not spelled the way it is read");
  const number = cursor.match(NUMBER);
  if (number !== descriptorOf(node)) cursor.fail("its descriptor cannot be printed anew");
  cursor.expect(node.operator);
  if (node.type === "HereDoc") return heredoc(node, number, place);
  const { target, operator } = node;
  if (target === undefined) return cursor.fail("its target cannot be read");
  const isGlued = target.pos !== cursor.at && /^[<>&|]/.test(cursor.slice(cursor.at, cursor.at + 1));
  if (isGlued) cursor.fail("an operator is glued to another");
  cursor.blank();
  if (posix && (operator === "<<<" || operator.startsWith("&")))
    cursor.fail(`${operator} is read by Bash alone`);
  if (operator === ">&" || operator === "<&") return copy(target, number + operator, place);
  return `${number}${operator} ${words.word(target)}`;
}

/** A copy of a descriptor, or what looks like one and opens a file for both. */
function copy(target: Word, operator: string, { cursor, words, posix }: RedirectionPlace): string {
  if (target.parts === undefined && /^(?:\d{1,2}-?|-)$/.test(target.text))
    return operator + words.word(target);
  if (operator !== ">&" || posix) cursor.fail("what it copies is not a number");
  return `&> ${words.word(target)}`;
}

function heredoc(
  node: Extract<Redirection, { readonly type: "HereDoc" }>,
  number: string,
  { cursor, words, posix, isInTest }: RedirectionPlace,
): string {
  const { delimiter } = node;
  if (posix || isInTest) cursor.fail("a here-document stands where not everybody reads one");
  cursor.blank();
  if (delimiter === undefined || !DELIMITER.test(delimiter.text))
    return cursor.fail("the end of its here-document is read in several ways");
  cursor.expect(delimiter.text);
  cursor.endOfWord();
  const { text, to } = words.heredoc(node);
  cursor.defer({ from: node.body.pos, to });
  return text === "" ? `${number}< /dev/null` : `${number}<<< ${text}`;
}

function descriptorOf({ descriptor }: Redirection): string {
  if (descriptor === undefined) return "";
  return descriptor.type === "FileDescriptor" ? String(descriptor.value) : "a variable";
}

const NUMBER = /\d{0,2}/y;
const DELIMITER = /^(?:(?:[\w.-]|\\[\w.-])+|'[\w .-]+'|"[\w .-]+")$/;
