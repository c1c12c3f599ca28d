import type { VNode } from "preact";
import type { ToolItem } from "../../../view/view.ts";
import { useWords } from "../language/language.ts";

const ICONS = {
  search: "M11.5 7a4.5 4.5 0 1 1-9 0 4.500 4.500 0 0 1 9 0ZM10.500 10.500l3.500 3.500",
  list: "M2.5 4h11M2.5 8h11M2.5 12h7",
  bars: "M3 13V8.5M8 13V3M13 13V6",
  folder:
    "M1.75 4v8.250c0 .4.350.750.750.750h11c.4 0 .750-.350.750-.750v-6.500c0-.4-.350-.750-.750-.750H7.750L6.250 3.250H2.500c-.4 0-.750.350-.750.750Z",
  settings:
    "M2 5h5.5M12 5h2M2 11h2M8.5 11H14M11.750 5a2 2 0 1 1-4 0 2 2 0 0 1 4 0ZM8.250 11a2 2 0 1 1-4 0 2 2 0 0 1 4 0Z",
  auto: "M2.5 5 8 2l5.500 3v6L8 14l-5.500-3zM2.500 5 8 8l5.500-3M8 8v6",
  down: "m4.5 6.5 3.5 3.5 3.5-3.5",
  right: "m6.5 4.5 3.5 3.5-3.5 3.5",
  back: "M10 3.5 5.5 8l4.5 4.5",
  send: "M8 13V3.5M4 7.250 8 3.250l4 4",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  whole: "M2 5.5V2h3.5M10.5 2H14v3.5M14 10.5V14h-3.5M5.5 14H2v-3.5",
  play: "M5 3.250v9.500L12.500 8z",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  keys: "M14 8a6 6 0 1 1-12 0 6 6 0 0 1 12 0ZM6.300 6.300c.2-1 .9-1.500 1.800-1.500 1 0 1.700.6 1.700 1.500 0 1.400-1.800 1.500-1.800 2.800M8 11.300v.01",
  menu: "M2.500 5h11M2.500 11h11",
  dots: "M3.500 8h.01M8 8h.01M12.500 8h.01",
  undo: "M3 6h6.500a3.500 3.500 0 0 1 0 7H6M6 3 3 6l3 3",
  redo: "M13 6H6.500a3.500 3.500 0 0 0 0 7H10M10 3l3 3-3 3",
  fork: "M5.750 3.750a1.750 1.750 0 1 1-3.500 0 1.750 1.750 0 0 1 3.500 0ZM13.750 3.750a1.750 1.750 0 1 1-3.500 0 1.750 1.750 0 0 1 3.500 0ZM5.750 12.250a1.750 1.750 0 1 1-3.500 0 1.750 1.750 0 0 1 3.500 0ZM4 5.500v5M12 5.500c0 3-3 3-5.500 4.200",
  terminal: "M1.750 2.750h12.500v10.500H1.750zM4.500 6l2 2-2 2M8.500 10.250h3",
} as const;

export type IconName = keyof typeof ICONS;

/** Decorative: hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="i" viewBox="0 0 16 16" aria-hidden="true">
      <path d={ICONS[name]} stroke-width={name === "dots" ? 2 : undefined} />
    </svg>
  );
}

/** The states of sessions, runs, calls and todos. */
export type Mark = "run" | "wait" | "done" | "fail" | "refused" | "limit" | "stop" | "cut" | "todo";

/** The marks of calls by their state; `cut`: without an end, and no process is working on it. */
export const CALL_MARKS: Readonly<Record<ToolItem["state"] | "cut", Mark>> = {
  writing: "run",
  asking: "wait",
  running: "run",
  ok: "done",
  error: "fail",
  denied: "refused",
  aborted: "stop",
  cut: "cut",
};

const FILLED = {
  wait: "M7 1.500 12.500 7 7 12.500 1.500 7z",
  limit: "M7 1.750 13 12.250H1z",
  stop: "M3 3h8v8H3z",
};
const DRAWN = {
  done: "m2.750 7.500 3 3 5.500-7",
  fail: "m3.250 3.250 7.500 7.500M10.750 3.250l-7.500 7.500",
  refused: "M12 7A5 5 0 1 1 2 7a5 5 0 0 1 10 0ZM3.500 10.500l7-7",
};

/** The glyph of a state; screen readers read its name. */
export function StateMark({ mark, name }: { readonly mark: Mark; readonly name?: string }): VNode {
  const words = useWords();
  return (
    <svg class={`st st-${mark}`} viewBox="0 0 14 14" role="img" aria-label={name ?? words.marks[mark]}>
      {mark === "run" ? (
        <>
          <circle cx="7" cy="7" r="2" fill="currentColor" stroke="none" />
          <circle cx="7" cy="7" r="5.5" stroke-width="1.5" opacity=".28" />
          <path class="ring" stroke-width="1.5" d="M7 1.500A5.500 5.500 0 0 1 12.500 7" />
        </>
      ) : mark === "cut" || mark === "todo" ? (
        <circle cx="7" cy="7" r="5" stroke-dasharray={mark === "cut" ? "2.6 2.64" : undefined} />
      ) : mark in FILLED ? (
        <path d={FILLED[mark as keyof typeof FILLED]} fill="currentColor" stroke="none" />
      ) : (
        <path d={DRAWN[mark as keyof typeof DRAWN]} />
      )}
    </svg>
  );
}

export function Logo(): VNode {
  return (
    <svg class="mark" viewBox="0 0 11 11" aria-hidden="true">
      <path class="a" d="M0 0h3v3H0zM4 0h3v3H4zM0 4h3v3H0zM8 4h3v3H8zM0 8h3v3H0zM8 8h3v3H8z" />
      <path class="b" d="M8 0h3v3H8z" />
    </svg>
  );
}

const STEP_CLASSES: { readonly [kind: string]: string } = {
  l: "t-look",
  b: "t-bash",
  e: "t-edit",
  w: "t-wait",
  f: "t-fail",
};

/** The steps of a session as bars: colour is the activity, height the time. */
export function Trace({
  trace,
  isShort = false,
}: {
  readonly trace: string;
  readonly isShort?: boolean;
}): VNode {
  const words = useWords();
  const steps = trace.match(/[a-z]\d/g) ?? [];
  const used = 4 * steps.length;
  return (
    <svg
      class="trace"
      width={isShort ? used : 95}
      height="16"
      role="img"
      aria-label={words.steps(steps.length)}
    >
      {steps.map((step, at) => {
        const height = 4 * Number(step[1]);
        const kind = STEP_CLASSES[step[0] ?? ""];
        return <rect key={at} class={kind} x={4 * at} y={8 - height / 2} width="3" height={height} rx="1" />;
      })}
      {!isShort && <rect class="t-rest" x={used} y="7.5" width={Math.max(0, 95 - used)} height="1" />}
    </svg>
  );
}
