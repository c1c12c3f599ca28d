import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { type CodePiece, codePieces } from "./code-pieces.ts";

interface CodeProps {
  readonly text: string;
  readonly language: string;
  /** The part that was changed, which is marked. */
  readonly changed?: readonly [from: number, to: number] | undefined;
}

/** Code in the colours of its language. */
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

/** The pieces between two places of their text. */
function cutOut(pieces: readonly CodePiece[], from: number, to: number): readonly CodePiece[] {
  let at = 0;
  return pieces.flatMap((piece) => {
    const start = at;
    at += piece.text.length;
    const text = piece.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    return text === "" ? [] : [{ ...piece, text }];
  });
}
