/** Items that are drawn at first, and how many more each time somebody asks. */
export const WINDOW_STEP = 120;

/** The part of a list that is drawn. `to` undefined: up to the newest, also as it grows. */
export interface ShownWindow {
  readonly from: number;
  readonly to: number | undefined;
}

/** The newest items of a list, or those around a place that somebody was led to. */
export function openWindow(length: number, place?: number): ShownWindow {
  if (place === undefined || place >= length - WINDOW_STEP)
    return { from: Math.max(0, length - WINDOW_STEP), to: undefined };
  const from = Math.max(0, place - WINDOW_STEP / 2);
  return { from, to: from + WINDOW_STEP };
}

/** The window with more items in front of it. */
export function withEarlier({ from, to }: ShownWindow): ShownWindow {
  return { from: Math.max(0, from - WINDOW_STEP), to };
}

/** The window with more items behind it. */
export function withLater({ from, to }: ShownWindow, length: number): ShownWindow {
  const end = (to ?? length) + WINDOW_STEP;
  return { from, to: end >= length ? undefined : end };
}

/** The window of a reader who follows the newest: what has long gone by is drawn no more. */
export function slidWindow(shown: ShownWindow, length: number): ShownWindow {
  return length - shown.from > 4 * WINDOW_STEP ? openWindow(length) : shown;
}
