import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SessionChange, SessionFileState } from "../../../server/server-api.ts";
import { Skeleton, type Work, WorkLine } from "../announce.tsx";
import { useReader } from "../reader.ts";
import { hrefOf, type SessionViewName } from "../route.ts";
import { usePictures } from "../use-pictures.ts";
import { Items } from "./block-view.tsx";
import type { SessionActions } from "./session-actions.ts";
import type { OpenSession } from "./use-session.ts";

interface SessionPicturesProps {
  readonly id: string;
  readonly view: Exclude<SessionViewName, "chat">;
  /** The file that was asked for. */
  readonly path: string | undefined;
  readonly session: OpenSession;
  readonly actions: SessionActions;
  readonly work: Work;
}

/** A session as a whole, in one of its pictures. */
export function SessionPictures(props: SessionPicturesProps): VNode {
  const { view, work } = props;
  const isWide = view === "timeline" || view === "context";
  return (
    <>
      {work.said !== undefined && (
        <div class="wide said">
          <WorkLine work={work} />
        </div>
      )}
      {isWide ? (
        <div class="scroll">
          <div class="wide">
            <Picture {...props} />
          </div>
        </div>
      ) : (
        <Picture {...props} />
      )}
    </>
  );
}

function Picture(props: SessionPicturesProps): VNode {
  const { id, view, session, actions, work } = props;
  const reader = useReader();
  const pictures = usePictures(work);
  if (pictures === undefined) return <Skeleton />;
  const { entries, state, detail } = session;
  const { TimelinePicture, ContextPicture, ReplayView } = pictures;
  const onChoose = (entry: string): void => {
    location.hash = hrefOf({ type: "session", id, view: "chat", entry });
  };
  const now = state === "idle" ? undefined : entries.at(-1)?.time;
  const windowTokens = detail?.windowTokens;
  switch (view) {
    case "timeline":
      return <TimelinePicture {...{ entries, now, windowTokens, onChoose }} />;
    case "context":
      return <ContextPicture {...{ entries, windowTokens, onChoose }} />;
    case "files":
      return <Files {...props} onChoose={onChoose} pictures={pictures} />;
    case "replay":
      return (
        <ReplayView
          entries={entries}
          cwd={detail?.cwd}
          renderItems={(items) => <Items items={items} />}
          loadText={(path, entryId) => reader.fileText(id, path, entryId)}
          {...(detail === undefined ? {} : { onFork: actions.fork })}
        />
      );
  }
}

interface FilesProps extends SessionPicturesProps {
  readonly onChoose: (entry: string) => void;
  readonly pictures: NonNullable<ReturnType<typeof usePictures>>;
}

/** The server knows more of the changes than the entries say: contents that are in no result of a call. */
function Files({ id, path, session, actions, work, onChoose, pictures: { FilesView } }: FilesProps): VNode {
  const reader = useReader();
  const [changes, setChanges] = useState<readonly SessionChange[]>();
  const [net, setNet] = useState<readonly SessionFileState[]>();
  const { entries, state, detail } = session;
  const newest = entries.findLast(({ type }) => type === "checkpoint" || type === "rollback_end")?.id;
  useEffect(() => {
    void work
      .attempt(() => Promise.all([reader.changes(id), reader.files(id)]))
      .then((found) => {
        setChanges(found?.[0]);
        setNet(found?.[1]);
      });
  }, [id, newest]);
  const canUndo = detail?.readOnly === false && state === "idle";
  return (
    <FilesView
      {...{ entries, changes, net, path, onChoose }}
      cwd={detail?.cwd}
      loadText={(file, entryId) => reader.fileText(id, file, entryId)}
      {...(canUndo ? { onRestore: (file, to) => actions.undo({ to, paths: [file] }) } : {})}
    />
  );
}
