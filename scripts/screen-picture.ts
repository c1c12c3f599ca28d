import type { CellRun, Emulator } from "../test/screen/emulator.ts";

const CHAR_WIDTH = 8.43;
const LINE_HEIGHT = 19;
const PADDING = 14;

/** How a picture is made. */
export interface PictureOptions {
  readonly columns: number;
  readonly light: boolean;
}

/** What a terminal shows at one moment. */
export interface Snapshot {
  readonly rows: readonly (readonly CellRun[])[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** A picture of a recording. */
export interface RecordedFrame extends Snapshot {
  /** How long it stays. */
  readonly seconds: number;
}

/** What a terminal shows now, without the empty rows at its end. */
export function snapshotOf({ looks, cursor }: Emulator): Snapshot {
  const rows = [...looks];
  while (rows.at(-1)?.every(({ text }) => text.trim() === "") === true) rows.pop();
  return { rows, cursor };
}

/** The visible rows of a terminal as an SVG picture. */
export function screenPicture({ rows, cursor }: Snapshot, options: PictureOptions): string {
  const markup = rows.map((runs, index) => at(index, rowMarkup(runs, options.light)));
  return picture([...markup, caret(cursor, options.light)], { ...options, rows: rows.length });
}

/**
 * Pictures one after the other, again and again, as one SVG file. A row that several of them have is in it
 * once.
 */
export function screenRecording(frames: readonly RecordedFrame[], options: PictureOptions): string {
  const names = new Map<string, string>();
  const nameOf = (row: string): string => {
    const name = names.get(row) ?? `r${names.size}`;
    names.set(row, name);
    return name;
  };
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let from = 0;
  const shown = frames.map(({ rows, cursor, seconds }, frame) => {
    const times = [0, from / total, (from + seconds) / total].map((time) => time.toFixed(4)).join(";");
    from += seconds;
    const uses = rows.flatMap((runs, index) => {
      const row = rowMarkup(runs, options.light);
      return row === "" ? [] : [`<use href="#${nameOf(row)}" y="${index * LINE_HEIGHT}"/>`];
    });
    const animation = `<animate attributeName="visibility" values="hidden;visible;hidden" keyTimes="${times}" dur="${total}s" calcMode="discrete" repeatCount="indefinite"/>`;
    // Where nothing moves, the last picture stays.
    const visibility = frame === frames.length - 1 ? "visible" : "hidden";
    return `<g visibility="${visibility}">${animation}${uses.join("")}${caret(cursor, options.light)}</g>`;
  });
  const defined = [...names].map(([row, name]) => `<g id="${name}">${row}</g>`);
  const rows = Math.max(...frames.map((frame) => frame.rows.length));
  return picture(["<defs>", ...defined, "</defs>", ...shown], { ...options, rows });
}

function picture(
  content: readonly string[],
  { columns, light, rows }: PictureOptions & { readonly rows: number },
): string {
  const width = Math.ceil(columns * CHAR_WIDTH + 2 * PADDING);
  const height = Math.ceil(rows * LINE_HEIGHT + 2 * PADDING);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal">`,
    `<rect width="100%" height="100%" rx="8" fill="${light ? "#ffffff" : "#0d1521"}"/>`,
    `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`,
    ...content,
    "</g></svg>\n",
  ].join("\n");
}

function caret({ row, column }: Snapshot["cursor"], light: boolean): string {
  return `<rect x="${number(PADDING + column * CHAR_WIDTH)}" y="${PADDING + row * LINE_HEIGHT}" width="${CHAR_WIDTH}" height="${LINE_HEIGHT}" fill="${light ? "#57606a" : "#d6deeb"}" opacity="0.6"/>`;
}

function at(index: number, row: string): string {
  return row === "" ? "" : `<g transform="translate(0 ${index * LINE_HEIGHT})">${row}</g>`;
}

/** A row, drawn at the top. */
function rowMarkup(runs: readonly CellRun[], light: boolean): string {
  let column = 0;
  let markup = "";
  for (const run of runs) {
    const x = number(PADDING + column * CHAR_WIDTH);
    const width = number(run.columns * CHAR_WIDTH);
    column += run.columns;
    if (run.background !== undefined)
      markup += `<rect x="${x}" y="${PADDING}" width="${width}" height="${LINE_HEIGHT}" fill="${paletteColor(run.background)}"/>`;
    if (run.text.trim() === "") continue;
    const color = run.color === undefined ? (light ? "#1f2328" : "#d6deeb") : paletteColor(run.color);
    const style = [
      run.bold ? ' font-weight="bold"' : "",
      run.italic ? ' font-style="italic"' : "",
      run.dim ? ' opacity="0.6"' : "",
      run.underline ? ' text-decoration="underline"' : run.strike ? ' text-decoration="line-through"' : "",
    ].join("");
    markup += `<text x="${x}" y="${PADDING + LINE_HEIGHT * 0.75}" textLength="${width}" fill="${color}"${style}>${escaped(run.text)}</text>`;
  }
  return markup;
}

function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** A colour of the palette of 256. */
function paletteColor(index: number): string {
  const named = ANSI[index];
  if (named !== undefined) return named;
  const part = (value: number): string => value.toString(16).padStart(2, "0");
  if (index >= 232) {
    const grey = part(8 + (index - 232) * 10);
    return `#${grey}${grey}${grey}`;
  }
  const cube = index - 16;
  const level = (value: number): string => part(value === 0 ? 0 : 55 + value * 40);
  return `#${level(Math.floor(cube / 36))}${level(Math.floor(cube / 6) % 6)}${level(cube % 6)}`;
}

const ANSI: readonly string[] = [
  "#1b2733",
  "#ff7b72",
  "#7ee787",
  "#e3b341",
  "#79c0ff",
  "#d2a8ff",
  "#56d4dd",
  "#d6deeb",
  "#7f8ea3",
  "#ffa198",
  "#a5f0ad",
  "#f2cc60",
  "#a5d6ff",
  "#e2c5ff",
  "#8ae6ec",
  "#ffffff",
];

/** Browsers join blanks in pictures, which no longer listen to `xml:space`: theirs do not break. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(" ", "\u00A0");
}
