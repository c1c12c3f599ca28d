import type { VNode } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { SessionChange } from "../../../server/server-api.ts";
import type { FileDiff } from "../../../view/file-diff.ts";
import { useFormats } from "../language/formats.ts";
import { type ChangedFile, type FileMoment, type FilesPicture, filesPicture } from "./file-changes.ts";
import { FilesDrawing } from "./files-drawing.tsx";
import { usePictureWords } from "./picture-words.ts";
import { StillContext } from "./use-width.ts";

/** Rows that are shown at first, and how many more each time. */
const SHOWN = 100;

/** A place that files can be put back to: before this request of this run. */
export interface UndoPlace {
  readonly run: number;
  readonly turn: number;
}

/** The files of a session: what changed when, as diffs. */
export function FilesView({
  entries,
  changes,
  onChoose,
  onUndo,
}: {
  readonly entries: readonly JournalEntry[];
  /** The changes as the server knows them. Default: none; diffs are those that calls told. */
  readonly changes?: readonly SessionChange[];
  /** Shows an entry in the conversation. */
  readonly onChoose?: (entryId: string) => void;
  /** Puts files back. Absent where nothing can be put back. */
  readonly onUndo?: (place: UndoPlace) => void;
}): VNode {
  const words = usePictureWords();
  const count = entries.length;
  const picture = useMemo(() => filesPicture(entries.slice(0, count), changes), [entries, count, changes]);
  const [path, setPath] = useState<string>();
  const [open, setOpen] = useState<number>();
  const [most, setMost] = useState(useContext(StillContext) ? Number.MAX_SAFE_INTEGER : SHOWN);
  if (picture.moments.length === 0) return <p class="soft">{words.noChanges}</p>;
  const shown = [...picture.moments.keys()].filter(
    (at) => path === undefined || picture.moments[at]?.path === path,
  );
  return (
    <section class="picture" aria-label={words.files}>
      <FilesDrawing
        picture={picture}
        chosen={open}
        onChoose={(at) => {
          setPath(picture.moments[at]?.path);
          setOpen(at);
        }}
      />
      <FileChoice picture={picture} path={path} onChoose={setPath} />
      <ol class="moments">
        {shown.slice(0, most).map((at) => {
          const moment = picture.moments[at];
          if (moment === undefined) return null;
          const toggle = (isOpen: boolean): void => setOpen(isOpen ? at : undefined);
          return (
            <li key={at}>
              <MomentRow
                moment={moment}
                isOpen={open === at}
                onToggle={toggle}
                onChoose={onChoose}
                onUndo={onUndo}
              />
            </li>
          );
        })}
      </ol>
      {shown.length > most && (
        <button type="button" onClick={() => setMost(most + SHOWN)}>
          {words.rowsOf(1, most, shown.length)} · {words.next}
        </button>
      )}
    </section>
  );
}

function FileChoice({
  picture: { files },
  path,
  onChoose,
}: {
  readonly picture: FilesPicture;
  readonly path: string | undefined;
  readonly onChoose: (path: string | undefined) => void;
}): VNode {
  const words = usePictureWords();
  return (
    <label class="picture-row">
      {words.files}
      <select
        value={path ?? ""}
        onChange={({ currentTarget: { value } }) => onChoose(value === "" ? undefined : value)}
      >
        <option value="">{words.allFiles}</option>
        {files.map((file) => (
          <option key={file.path} value={file.path}>
            {fileLabel(file, words.kinds[file.kind])}
          </option>
        ))}
      </select>
    </label>
  );
}

function fileLabel({ path, added, removed }: ChangedFile, kind: string): string {
  return `${path} (${kind}, +${added} −${removed})`;
}

function MomentRow({
  moment,
  isOpen,
  onToggle,
  onChoose,
  onUndo,
}: {
  readonly moment: FileMoment;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
  readonly onChoose: ((entryId: string) => void) | undefined;
  readonly onUndo: ((place: UndoPlace) => void) | undefined;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const isStill = useContext(StillContext);
  const { path, kind, by, tool, run, turn, time, added, removed } = moment;
  const state = moment.isFailed ? words.failedBack : moment.isUndone ? words.undone : words.by[by];
  return (
    <details
      open={isOpen}
      class={moment.isUndone ? "moment undone" : "moment"}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== isOpen) onToggle(currentTarget.open);
      }}
    >
      <summary>
        <span class={`swatch back-${kind}`} aria-hidden="true" />
        <code>{path}</code> <span>{words.kinds[kind]}</span>{" "}
        {by === "call" && (
          <>
            <span class="plus">+{added}</span> <span class="minus">−{removed}</span>{" "}
          </>
        )}
        <span class="soft">
          {by === "call" && `${tool} · ${words.place(run, turn)} · `}
          {formats.moment(time, 0)}
        </span>{" "}
        {state !== "" && <b>{state}</b>}
      </summary>
      {(isOpen || isStill) && (
        <>
          {by === "call" && <MomentDiff moment={moment} />}
          <p class="picture-row">
            {onChoose !== undefined && (
              <button type="button" onClick={() => onChoose(moment.entryId)}>
                {words.show}
              </button>
            )}
            {onUndo !== undefined && by === "call" && !moment.isUndone && (
              <UndoButton place={{ run, turn }} onUndo={onUndo} />
            )}
          </p>
        </>
      )}
    </details>
  );
}

/** Asks once more before files change. */
function UndoButton({
  place,
  onUndo,
}: {
  readonly place: UndoPlace;
  readonly onUndo: (place: UndoPlace) => void;
}): VNode {
  const words = usePictureWords();
  const [isAsking, setAsking] = useState(false);
  if (!isAsking)
    return (
      <button type="button" onClick={() => setAsking(true)}>
        {words.undoFrom}
      </button>
    );
  return (
    <fieldset class="picture-row">
      <legend>{words.undoQuestion(place.run, place.turn)}</legend>
      <button
        type="button"
        onClick={() => {
          setAsking(false);
          onUndo(place);
        }}
      >
        {words.yes}
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        {words.no}
      </button>
    </fieldset>
  );
}

function MomentDiff({ moment: { diff, isBinary } }: { readonly moment: FileMoment }): VNode {
  const words = usePictureWords();
  if (diff === undefined) return <p class="soft">{isBinary ? words.binary : words.noDiff}</p>;
  return <DiffLines diff={diff} label={words.lines(diff.added, diff.removed)} />;
}

/** A diff, line by line, with the numbers its parts begin with. */
function DiffLines({ diff, label }: { readonly diff: FileDiff; readonly label: string }): VNode {
  return (
    <figure class="picture-diff">
      <figcaption class="soft">{label}</figcaption>
      <pre>
        {diff.hunks.map((hunk) => (
          <span key={`${hunk.oldStart} ${hunk.newStart}`}>
            <span class="hunk">{`@@ −${hunk.oldStart} +${hunk.newStart} @@\n`}</span>
            {hunk.lines.map((line, at) => (
              <span
                key={at}
                class={line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : undefined}
              >
                {`${line}\n`}
              </span>
            ))}
          </span>
        ))}
      </pre>
    </figure>
  );
}
