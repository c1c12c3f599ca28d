import type { CodingSession } from "../../../coding/session/coding-session.ts";
import { type Line, line, span, textLines, wrapLine } from "../paint/line.ts";

/** How to go on with a session that said something, and what still waits; `isStored`: it is kept. */
export function goOnLines(
  session: CodingSession | undefined,
  { isStored, width }: { readonly isStored: boolean; readonly width: number },
): readonly Line[] {
  const goOn = session?.info.goOn;
  if (session === undefined || !session.view.items.some(({ type }) => type === "user")) return [];
  const waiting = session.view.queue.flatMap(({ text }) => textLines(text));
  const unsent = waiting.flatMap((text) => wrapLine([span(`  ${text}`)], { width }));
  const title = isStored ? "Still queued when you go on:" : "Was not sent, and is not kept:";
  const head = unsent.length === 0 ? [] : [[], line(title, { role: "warning" }), ...unsent];
  return goOn === undefined ? head : [...head, [], line(`To go on: nano-agent ${goOn}`, { role: "muted" })];
}
