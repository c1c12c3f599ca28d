import type { ContextTurn } from "./context-picture.ts";

/** A column of the context picture. */
export interface TurnColumn {
  /** The fullest of those that it stands for. */
  readonly turn: ContextTurn;
  /** Place of the first one. */
  readonly first: number;
  readonly count: number;
}

/** Requests as at most `most` columns of about as many requests each. */
export function turnColumns(turns: readonly ContextTurn[], most: number): readonly TurnColumn[] {
  const columns = Math.min(turns.length, most);
  return Array.from({ length: columns }, (_none, at): TurnColumn | undefined => {
    const first = Math.floor((at * turns.length) / columns);
    const end = Math.floor(((at + 1) * turns.length) / columns);
    let fullest = turns[first];
    for (let place = first; place < end; place++) {
      const turn = turns[place];
      if (turn !== undefined && turn.inputTokens > (fullest?.inputTokens ?? 0)) fullest = turn;
    }
    return fullest === undefined ? undefined : { turn: fullest, first, count: end - first };
  }).filter((column) => column !== undefined);
}
