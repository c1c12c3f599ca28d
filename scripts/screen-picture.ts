import type { CellRun, Emulator } from "../test/screen/emulator.ts";

const CHAR_WIDTH = 8.43;
const LINE_HEIGHT = 19;
const PADDING = 14;

/** How a picture is made. */
export interface PictureOptions {
  readonly columns: number;
  readonly light: boolean;
}

/** The visible rows of a terminal as an SVG picture. */
export function screenPicture(emulator: Emulator, { columns, light }: PictureOptions): string {
  const rows = [...emulator.looks];
  while (rows.at(-1)?.every(({ text }) => text.trim() === "") === true) rows.pop();
  const width = Math.ceil(columns * CHAR_WIDTH + 2 * PADDING);
  const height = Math.ceil(rows.length * LINE_HEIGHT + 2 * PADDING);
  const { row, column } = emulator.cursor;
  const caret = `<rect x="${PADDING + column * CHAR_WIDTH}" y="${PADDING + row * LINE_HEIGHT}" width="${CHAR_WIDTH}" height="${LINE_HEIGHT}" fill="${light ? "#57606a" : "#d6deeb"}" opacity="0.6"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal">`,
    `<rect width="100%" height="100%" rx="8" fill="${light ? "#ffffff" : "#0d1521"}"/>`,
    `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" xml:space="preserve">`,
    ...rows.map((runs, index) => rowMarkup(runs, index, light)),
    caret,
    "</g></svg>\n",
  ].join("\n");
}

function rowMarkup(runs: readonly CellRun[], index: number, light: boolean): string {
  let column = 0;
  let markup = "";
  for (const run of runs) {
    const x = PADDING + column * CHAR_WIDTH;
    const y = PADDING + index * LINE_HEIGHT;
    const width = run.columns * CHAR_WIDTH;
    column += run.columns;
    if (run.background !== undefined)
      markup += `<rect x="${x}" y="${y}" width="${width}" height="${LINE_HEIGHT}" fill="${paletteColor(run.background)}"/>`;
    if (run.text.trim() === "") continue;
    const color = run.color === undefined ? (light ? "#1f2328" : "#d6deeb") : paletteColor(run.color);
    const style = [
      run.bold ? ' font-weight="bold"' : "",
      run.italic ? ' font-style="italic"' : "",
      run.dim ? ' opacity="0.6"' : "",
      run.underline ? ' text-decoration="underline"' : run.strike ? ' text-decoration="line-through"' : "",
    ].join("");
    markup += `<text x="${x}" y="${y + LINE_HEIGHT * 0.75}" textLength="${width}" fill="${color}"${style}>${escaped(run.text)}</text>`;
  }
  return markup;
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

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
