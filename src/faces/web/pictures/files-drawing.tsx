import type { VNode } from "preact";
import { useId } from "preact/hooks";
import type { FilesPicture } from "./file-changes.ts";
import { usePictureWords } from "./picture-words.ts";
import { useWidth } from "./use-width.ts";

const ROW_PX = 18;
const MARK_PX = 10;
const NAME_PART = 0.36;
const MAX_NAME_PX = 260;
const LETTER_PX = 7;
/** Files that have a row of their own; the most changed ones. */
const MAX_FILES = 40;

/** A row for each file, and a mark where it was changed: the order of changes runs to the right. */
export function FilesDrawing({
  picture: { files, moments },
  chosen,
  onChoose,
}: {
  readonly picture: FilesPicture;
  readonly chosen: number | undefined;
  readonly onChoose: (at: number) => void;
}): VNode {
  const words = usePictureWords();
  const id = useId();
  const { ref, width } = useWidth<HTMLDivElement>();
  const longest = files.reduce((most, { path }) => Math.max(most, path.length), 0);
  const names = Math.min(MAX_NAME_PX, Math.round(width * NAME_PART), Math.ceil((longest + 2) * LETTER_PX));
  const room = Math.max(MARK_PX, width - names - MARK_PX);
  const rows = mostChanged(files);
  const height = rows.length * ROW_PX + 2;
  const xOf = (at: number): number => names + (at / Math.max(1, moments.length - 1)) * room;
  return (
    <div ref={ref}>
      <svg class="files" role="img" aria-labelledby={`${id}t`} width={width} height={height}>
        <title id={`${id}t`}>{words.filesOf(files.length, moments.length)}</title>
        {rows.map((file, row) => {
          const y = row * ROW_PX + 3;
          return (
            <g key={file.path}>
              <text x={0} y={y + MARK_PX}>
                {shortened(file.path, Math.floor(names / LETTER_PX) - 1)}
                <title>{file.path}</title>
              </text>
              <line class="base" x1={names} x2={width} y1={y + MARK_PX / 2} y2={y + MARK_PX / 2} />
              {onePerPixel(file.moments, xOf).map(([at, x]) => {
                const moment = moments[at];
                if (moment === undefined) return null;
                const state = moment.isUndone || moment.isFailed ? " undone" : "";
                return (
                  <g key={at} class={at === chosen ? "bar chosen" : "bar"} onClick={() => onChoose(at)}>
                    <title>{`${file.path}: ${words.kinds[moment.kind]}, ${words.place(moment.run, moment.turn)}`}</title>
                    <rect
                      class={`mark-${moment.kind}${state}`}
                      x={x}
                      y={y}
                      width={MARK_PX}
                      height={MARK_PX}
                      rx={moment.by === "call" ? 2 : 5}
                    />
                  </g>
                );
              })}
            </g>
          );
        })}
      </svg>
      {files.length > rows.length && <p class="soft">{words.rowsOf(1, rows.length, files.length)}</p>}
    </div>
  );
}

/** The files that were changed most, in the order in which they were changed first. */
function mostChanged(files: FilesPicture["files"]): FilesPicture["files"] {
  if (files.length <= MAX_FILES) return files;
  const kept = new Set(
    files.toSorted((left, right) => right.moments.length - left.moments.length).slice(0, MAX_FILES),
  );
  return files.filter((file) => kept.has(file));
}

/** The last change at each pixel, with its place. */
function onePerPixel(
  moments: readonly number[],
  xOf: (at: number) => number,
): readonly (readonly [number, number])[] {
  return [...new Map(moments.map((at) => [Math.round(xOf(at)), at])).entries()].map(([x, at]) => [at, x]);
}

/** The end of a path: it tells more than its beginning. */
function shortened(path: string, letters: number): string {
  return path.length <= letters ? path : `…${path.slice(path.length - Math.max(1, letters - 1))}`;
}
