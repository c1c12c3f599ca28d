import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { type CodePiece, codePieces } from "../../text/code-pieces.ts";

interface CodeProps {
  readonly text: string;
  readonly language: string;
  /** The changed part, highlighted. */
  readonly changed?: readonly [from: number, to: number] | undefined;
}

export function Code({ text, language, changed }: CodeProps): VNode {
  const pieces = useMemo(() => codePieces(text, language), [text, language]);
  if (changed === undefined) return <>{pieces.map(renderPiece)}</>;
  const [from, to] = changed;
  return (
    <>
      {slicePieces(pieces, 0, from).map(renderPiece)}
      <mark>{slicePieces(pieces, from, to).map(renderPiece)}</mark>
      {slicePieces(pieces, to, text.length).map(renderPiece)}
    </>
  );
}

function renderPiece({ text, kind }: CodePiece, at: number): VNode | string {
  return kind === undefined ? (
    text
  ) : (
    <span key={at} class={kind}>
      {text}
    </span>
  );
}

/** The pieces between two positions of their text. */
function slicePieces(pieces: readonly CodePiece[], from: number, to: number): readonly CodePiece[] {
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

/** The differing part of two lines between their common start and end; undefined if they share too little. */
export function changedPart(
  before: string,
  after: string,
): { readonly from: number; readonly before: number; readonly after: number } | undefined {
  const least = Math.min(before.length, after.length);
  let from = 0;
  while (from < least && before[from] === after[from]) from++;
  let same = 0;
  while (same < least - from && before.at(-1 - same) === after.at(-1 - same)) same++;
  if ((from + same) * 3 < least) return undefined;
  return { from, before: before.length - same, after: after.length - same };
}
