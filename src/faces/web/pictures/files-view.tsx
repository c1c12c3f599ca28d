import type { VNode } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { SessionChange, SessionFileState } from "../../../server/server-api.ts";
import type { FileDiff } from "../../../view/file-diff.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { Button, CopyButton, Segments } from "../text/controls.tsx";
import { DiffView, FileLine, LineCounts, type Lines } from "../text/diff-view.tsx";
import { useLoaded } from "../work.tsx";
import { StaticContext } from "./chart-parts.tsx";
import { type ChangedFile, changedFiles, type FileMoment, patchOf } from "./files-data.ts";

/** The state of a file before this request of this run. */
export interface RestorePoint {
  readonly run: number;
  readonly turn: number;
}

export interface FilesProps {
  readonly entries: readonly JournalEntry[];
  readonly cwd?: string | undefined;
  /** The server's changes. Default: diffs from the calls' results. */
  readonly changes?: readonly SessionChange[] | undefined;
  /** The server's combined changes of each file. Default: each change separately. */
  readonly net?: readonly SessionFileState[] | undefined;
  readonly path?: string | undefined;
  /** The text of a file right after an entry. Absent: whole files cannot be viewed. */
  readonly loadText?: (path: string, entryId: string) => Promise<string>;
  readonly onChoose?: (entryId: string) => void;
  /** Restores a file. Absent if nothing can be restored. */
  readonly onRestore?: (path: string, to: RestorePoint) => void;
}

export function FilesView(props: FilesProps): VNode {
  const { entries, cwd, changes, net = [] } = props;
  const words = useWords();
  const count = entries.length;
  const files = useMemo(
    () => changedFiles(entries.slice(0, count), { cwd, ...(changes && { known: changes }) }),
    [entries, count, cwd, changes],
  );
  const [choice, choose] = useState(props.path);
  const isStill = useContext(StaticContext);
  const file = files.find(({ path }) => path === choice) ?? files[0];
  if (file === undefined) return <p class="wide dim">{words.noChanges}</p>;
  const stateOf = ({ path }: ChangedFile): SessionFileState | undefined =>
    net.find((each) => each.path === path);
  if (isStill)
    return (
      <section class="picture" aria-label={words.views.files}>
        {files.map((each) => (
          <OneFile key={each.path} file={each} state={stateOf(each)} {...props} />
        ))}
      </section>
    );
  const patch = patchOf(net.flatMap(({ diff, kind }) => (diff === undefined ? [] : [{ diff, kind }])));
  return (
    <section class="fpanes picture" aria-label={words.views.files}>
      <div class="ftree">
        <div class="hd">
          {words.files(files.length)}
          <span class="num dim">
            <LineCounts lines={files.map((each) => linesOf(each, stateOf(each)))} />
          </span>
          <span class="end">
            {patch !== "" && (
              <CopyButton text={patch} look="bare small">
                {words.copyPatch}
              </CopyButton>
            )}
          </span>
        </div>
        {files.map((each) => (
          <button
            key={each.path}
            type="button"
            class="fl"
            aria-current={each === file ? "true" : undefined}
            onClick={() => choose(each.path)}
          >
            <FileLine {...each} lines={linesOf(each, stateOf(each))} />
          </button>
        ))}
      </div>
      <OneFile key={file.path} file={file} state={stateOf(file)} {...props} />
    </section>
  );
}

/** Lines of all changes combined: the server's count, else the sum of the changes. */
function linesOf(file: ChangedFile, state: SessionFileState | undefined): Lines {
  const { added = file.added, removed = file.removed } = state ?? {};
  return { added, removed };
}

/** A point in the history of a file: a change, all of them, or the time before the first. */
type HistoryPoint = number | "all" | "before";

interface OneFileProps extends FilesProps {
  readonly file: ChangedFile;
  readonly state: SessionFileState | undefined;
}

function OneFile(props: OneFileProps): VNode {
  const { file, state, entries, loadText } = props;
  const words = useWords();
  const [stop, setStop] = useState<HistoryPoint>("all");
  const [isWhole, setWhole] = useState(false);
  const isStill = useContext(StaticContext);
  const { path, moments } = file;
  const moment = typeof stop === "number" ? moments[stop] : undefined;
  const entryId = stop === "before" ? entries[0]?.id : (moment ?? moments.at(-1))?.entryId;
  const hasText = loadText !== undefined && (isWhole || stop === "before");
  const lines = stop === "before" ? { added: 0, removed: 0 } : (moment ?? linesOf(file, state));
  return (
    <section class="fview" aria-label={terminalLine(path, 300)}>
      <header>
        <span class="mono cut">{terminalLine(path, 300)}</span>
        <span class="num">
          <LineCounts lines={lines} />
        </span>
        <span class="grow" />
        {loadText !== undefined && (
          <Segments
            label={words.show}
            options={[false, true]}
            nameOf={(whole) => (whole ? words.wholeFile : words.change)}
            value={isWhole}
            choose={setWhole}
          />
        )}
        <FileActions moment={moment} {...props} />
      </header>
      {!isStill && <History moments={moments} stop={stop} setStop={setStop} />}
      {hasText && entryId !== undefined ? (
        <WholeFile key={entryId} path={path} entryId={entryId} loadText={loadText} />
      ) : (
        <Changes
          moments={moment === undefined ? moments : [moment]}
          state={stop === "all" ? state : undefined}
        />
      )}
    </section>
  );
}

interface FileActionsProps extends OneFileProps {
  readonly moment: FileMoment | undefined;
}

function FileActions({ file, moment, onChoose, onRestore }: FileActionsProps): VNode {
  const words = useWords();
  const changeByCall = moment?.by === "call" ? moment : undefined;
  return (
    <>
      {moment !== undefined && onChoose !== undefined && (
        <Button look="bare" onClick={() => onChoose(moment.entryId)}>
          {words.openInChat}
        </Button>
      )}
      {onRestore !== undefined && file.kind !== "unchanged" && (
        <Restore
          path={file.path}
          point={changeByCall ?? file.moments[0]}
          time={changeByCall?.time}
          onRestore={onRestore}
        />
      )}
    </>
  );
}

function History({
  moments,
  stop,
  setStop,
}: {
  readonly moments: readonly FileMoment[];
  readonly stop: HistoryPoint;
  readonly setStop: (stop: HistoryPoint) => void;
}): VNode {
  const { words, clock } = useLanguage();
  const button = (each: HistoryPoint, content: VNode | string): VNode => (
    <button key={each} type="button" aria-pressed={stop === each} onClick={() => setStop(each)}>
      {content}
    </button>
  );
  return (
    <div class="hist" role="group" aria-label={words.history}>
      {button("before", words.beforeIt)}
      <i />
      {moments.map((moment, at) => [
        button(
          at,
          <>
            {clock(moment.time)} {moment.by !== "call" && words.madeBy[moment.by]}
            {moment.isFailed && <span class="bad">{words.marks.fail}</span>}
            <LineCounts lines={moment} />
          </>,
        ),
        <i key={`${at}-`} />,
      ])}
      {button("all", words.allChanges)}
    </div>
  );
}

/** Changes as diffs: combined if known, else each separately. */
function Changes({
  moments,
  state,
}: {
  readonly moments: readonly FileMoment[];
  readonly state: SessionFileState | undefined;
}): VNode {
  const words = useWords();
  const isStill = useContext(StaticContext);
  const diffs: readonly FileDiff[] =
    state?.diff === undefined ? moments.flatMap(({ diff }) => diff ?? []) : [state.diff];
  if (diffs.length === 0)
    return (
      <p class="empty">
        {moments.some(({ isBinary }) => isBinary)
          ? words.binary
          : moments.every(({ by }) => by !== "call")
            ? words.putBackHere
            : words.noDiff}
      </p>
    );
  return (
    <>
      {diffs.map((diff, at) => (
        <DiffView key={at} diff={diff} whole={isStill} />
      ))}
    </>
  );
}

function Restore({
  path,
  point,
  time,
  onRestore,
}: {
  readonly path: string;
  readonly point: RestorePoint | undefined;
  readonly time: number | undefined;
  readonly onRestore: NonNullable<FilesProps["onRestore"]>;
}): VNode | null {
  const { words, clock } = useLanguage();
  const [isAsking, setAsking] = useState(false);
  if (point === undefined) return null;
  const { run, turn } = point;
  if (!isAsking)
    return (
      <Button icon="undo" onClick={() => setAsking(true)}>
        {words.restore}
      </Button>
    );
  const restore = (): void => {
    setAsking(false);
    onRestore(path, { run, turn });
  };
  return (
    <span class="note warn" role="group">
      {words.restoreQuestion(terminalLine(path, 100), time === undefined ? "" : clock(time))}
      <Button look="main" onClick={restore}>
        {words.restore}
      </Button>
      <Button onClick={() => setAsking(false)}>{words.cancel}</Button>
    </span>
  );
}

/** `loadText` rejects if the file has no text. */
export function WholeFile({
  path,
  entryId,
  loadText,
}: {
  readonly path: string;
  readonly entryId: string;
  readonly loadText: NonNullable<FilesProps["loadText"]>;
}): VNode {
  const words = useWords();
  const text = useLoaded(() => loadText(path, entryId).catch(() => null), [path, entryId]);
  if (text === undefined) return <p class="empty" aria-busy="true" />;
  if (text === null) return <p class="empty">{words.noText}</p>;
  const lines = text.replace(/\n$/, "").split("\n");
  const hunk = { oldStart: 1, newStart: 1, lines: lines.map((line) => ` ${line}`) };
  return <DiffView diff={{ path, hunks: [hunk], added: 0, removed: 0, isNew: false }} />;
}
