import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { type CodePiece, codePieces } from "../../text/code-pieces.ts";

interface CodeProps {
  readonly text: string;
  readonly language: string;
  /** The changed part, which is marked. */
  readonly changed?: readonly [from: number, to: number] | undefined;
}

export function Code({ text, language, changed }: CodeProps): VNode {
  const pieces = useMemo(() => codePieces(text, language), [text, language]);
  if (changed === undefined) return <>{pieces.map(colored)}</>;
  const [from, to] = changed;
  return (
    <>
      {cutOut(pieces, 0, from).map(colored)}
      <mark>{cutOut(pieces, from, to).map(colored)}</mark>
      {cutOut(pieces, to, text.length).map(colored)}
    </>
  );
}

function colored({ text, kind }: CodePiece, at: number): VNode | string {
  return kind === undefined ? (
    text
  ) : (
    <span key={at} class={kind}>
      {text}
    </span>
  );
}

/** The pieces between two positions of their text. */
function cutOut(pieces: readonly CodePiece[], from: number, to: number): readonly CodePiece[] {
  let at = 0;
  return pieces.flatMap((piece) => {
    const start = at;
    at += piece.text.length;
    const text = piece.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    return text === "" ? [] : [{ ...piece, text }];
  });
}

export function languageOf(path: string): string {
  return /[^./\\]+$/.exec(path)?.[0] ?? "";
}

/** The differing part of two lines, found by their common start and end. None if they share too little. */
export function changedPart(
  before: string,
  after: string,
): { readonly from: number; readonly before: number; readonly after: number } | undefined {
  const least = Math.min(before.length, after.length);
  let from = 0;
  while (from < least && before[from] === after[from]) from++;
  let same = 0;
  while (same < least - from && before.at(-1 - same) === after.at(-1 - same)) same++;
  // Lines that share next to nothing are not one changed line.
  if ((from + same) * 3 < least) return undefined;
  return { from, before: before.length - same, after: after.length - same };
}
