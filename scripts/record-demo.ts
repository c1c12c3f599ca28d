/**
 * Makes docs/assets/demo.svg from a real run of the built demo on a terminal of its own:
 * `node scripts/record-demo.ts`. Needs the program `script` of util-linux. Colours and words are those of the
 * run; lines are folded as a terminal of 100 columns folds them.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

const COLUMNS = 100;
const CHAR_WIDTH = 8.4;
const LINE_HEIGHT = 19;
const PADDING = 18;
const TITLE_HEIGHT = 34;

/** How a stretch of text is shown. */
interface Look {
  readonly color: string;
  readonly bold: boolean;
}

const PLAIN: Look = { color: "#d6deeb", bold: false };
const COLORS: { readonly [code: string]: string | undefined } = {
  "2": "#7f8ea3",
  "31": "#ff7b72",
  "32": "#7ee787",
  "33": "#e3b341",
  "35": "#d2a8ff",
  "36": "#79c0ff",
  "90": "#7f8ea3",
};

/** A stretch of one line in one look. */
interface Span extends Look {
  readonly text: string;
}

const root = join(import.meta.dirname, "..");
const run = spawnSync("script", ["-qec", `"${process.execPath}" dist/bin.mjs demo`, "/dev/null"], {
  cwd: root,
  encoding: "utf8",
  env: {
    ...process.env,
    NANO_AGENT_PLAIN: "1",
    TERM: "xterm-256color",
    FORCE_COLOR: undefined,
    NO_COLOR: undefined,
  },
});
if (run.error !== undefined) throw run.error;
if (run.status !== 0) throw new Error(`The demo ended with ${String(run.status)}:\n${run.stdout}`);
const lines = `$ npm run demo\n\n${run.stdout}`
  .trimEnd()
  .split("\n")
  .flatMap((line) => folded(spansOf(line)));
mkdirSync(join(root, "docs/assets"), { recursive: true });
writeFileSync(join(root, "docs/assets/demo.svg"), picture(lines));
console.log(`docs/assets/demo.svg: ${lines.length} lines`);

/** A line cut where its colours change. */
function spansOf(line: string): readonly Span[] {
  const spans: Span[] = [];
  let look = PLAIN;
  for (const part of line.replaceAll("\r", "").split(/(?=\u001b\[[\d;]*m)/)) {
    const code = /^\u001b\[([\d;]*)m/.exec(part)?.[1];
    if (code !== undefined) look = after(look, code);
    const text = stripVTControlCharacters(part);
    if (text !== "") spans.push({ ...look, text });
  }
  return spans;
}

function after(look: Look, code: string): Look {
  return code.split(";").reduce((now, each) => {
    if (each === "1") return { ...now, bold: true };
    if (each === "3") return now;
    const color = COLORS[each];
    return color === undefined ? PLAIN : { ...now, color };
  }, look);
}

/** Lines of at most {@link COLUMNS} characters. */
function folded(spans: readonly Span[]): readonly (readonly Span[])[] {
  const rows: Span[][] = [[]];
  let width = 0;
  for (const { text, ...look } of spans) {
    for (const character of text) {
      if (width === COLUMNS) {
        rows.push([]);
        width = 0;
      }
      const row = rows.at(-1) ?? [];
      const last = row.at(-1);
      if (last !== undefined && last.color === look.color && last.bold === look.bold)
        row[row.length - 1] = { ...last, text: last.text + character };
      else row.push({ ...look, text: character });
      width++;
    }
  }
  return rows;
}

function picture(rows: readonly (readonly Span[])[]): string {
  const width = Math.ceil(COLUMNS * CHAR_WIDTH + 2 * PADDING);
  const height = TITLE_HEIGHT + rows.length * LINE_HEIGHT + 2 * PADDING;
  const dots = ["#ff5f57", "#febc2e", "#28c840"]
    .map((color, at) => `<circle cx="${20 + at * 20}" cy="17" r="6" fill="${color}"/>`)
    .join("");
  const texts = rows.map((row, at) => {
    const y = TITLE_HEIGHT + PADDING + (at + 0.75) * LINE_HEIGHT;
    return `<text x="${PADDING}" y="${y}">${row.map(spanMarkup).join("")}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: the agent runs a failing test, reads the code, fixes it, and runs the tests again">`,
    `<rect width="100%" height="100%" rx="10" fill="#0d1521"/>${dots}`,
    `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`,
    ...texts,
    "</g></svg>\n",
  ].join("\n");
}

function spanMarkup({ text, color, bold }: Span): string {
  const escaped = text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(" ", "\u00A0");
  return `<tspan fill="${color}"${bold ? ' font-weight="bold"' : ""}>${escaped}</tspan>`;
}
