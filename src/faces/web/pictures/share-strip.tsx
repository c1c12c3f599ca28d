import type { VNode } from "preact";
import { percentText, stacked } from "./figures.ts";

/** A part of a whole, as a strip shows it. */
export interface StripPart {
  /** Names its colour. */
  readonly name: string;
  readonly label: string;
  readonly value: number;
  readonly text: string;
}

/** A whole divided into parts: a strip, and a list that says the same in words. */
export function ShareStrip({
  title,
  parts,
}: {
  readonly title: string;
  readonly parts: readonly StripPart[];
}): VNode {
  const shown = parts.filter(({ value }) => value > 0);
  const whole = shown.reduce((sum, { value }) => sum + value, 0);
  return (
    <figure class="share-strip">
      <figcaption>{title}</figcaption>
      <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {stacked(shown.map(({ value }) => value)).map(([from, to], at) => {
          const scale = 1_000 / whole;
          const { name = "" } = shown[at] ?? {};
          return (
            <rect
              key={name}
              class={`mark-${name}`}
              x={from * scale}
              y={0}
              width={(to - from) * scale}
              height={10}
            />
          );
        })}
      </svg>
      <ul>
        {shown.map(({ name, label, value, text }) => (
          <li key={name}>
            <span class={`swatch back-${name}`} aria-hidden="true" />
            {label} <b>{text}</b> <span class="soft">{percentText(value, whole)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}
