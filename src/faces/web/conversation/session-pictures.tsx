import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SessionChange } from "../../../server/server-api.ts";
import type { Work } from "../announce.tsx";
import { useWords } from "../language/language.ts";
import { useReader } from "../reader.ts";
import { hrefOf, type SessionViewName } from "../route.ts";
import { usePictures } from "../use-pictures.ts";
import { Items } from "./block-view.tsx";
import type { SessionActions } from "./session-actions.ts";
import type { OpenSession } from "./use-session.ts";

interface SessionPicturesProps {
  readonly id: string;
  readonly view: Exclude<SessionViewName, "chat">;
  readonly session: OpenSession;
  readonly actions: SessionActions;
  readonly work: Work;
}

/** A session as a whole, in one of its pictures. */
export function SessionPictures({ id, view, session, actions, work }: SessionPicturesProps): VNode {
  const words = useWords();
  const reader = useReader();
  const pictures = usePictures(work);
  if (pictures === undefined)
    return (
      <p class="soft" aria-busy="true">
        {words.loading}
      </p>
    );
  const { entries, state, detail } = session;
  const { TimelinePicture, ContextPicture, ReplayView } = pictures;
  const onChoose = (entry: string): void => {
    location.hash = hrefOf({ type: "session", id, view: "chat", entry });
  };
  switch (view) {
    case "timeline":
      return (
        <TimelinePicture
          entries={entries}
          onChoose={onChoose}
          {...(state === "idle" ? {} : { now: entries.at(-1)?.time ?? 0 })}
        />
      );
    case "context":
      return (
        <ContextPicture
          entries={entries}
          onChoose={onChoose}
          {...(detail?.windowTokens === undefined ? {} : { windowTokens: detail.windowTokens })}
        />
      );
    case "files":
      return <Files {...{ id, session, actions, work, onChoose, pictures }} />;
    case "replay":
      return (
        <ReplayView
          entries={entries}
          renderItems={(items) => <Items items={items} />}
          loadText={(path, entryId) => reader.fileText(id, path, entryId)}
          {...(detail === undefined ? {} : { onFork: actions.fork })}
        />
      );
  }
}

interface FilesProps extends Omit<SessionPicturesProps, "view"> {
  readonly onChoose: (entry: string) => void;
  readonly pictures: NonNullable<ReturnType<typeof usePictures>>;
}

/** The server knows more of the changes than the entries say: contents that calls did not tell. */
function Files({ id, session, actions, work, onChoose, pictures: { FilesView } }: FilesProps): VNode {
  const reader = useReader();
  const [changes, setChanges] = useState<readonly SessionChange[]>();
  const { entries, state, detail } = session;
  const newest = entries.findLast(({ type }) => type === "checkpoint" || type === "rollback_end")?.id;
  useEffect(() => {
    void work.attempt(() => reader.changes(id)).then(setChanges);
  }, [id, newest]);
  const canUndo = detail?.readOnly === false && state === "idle";
  return (
    <FilesView
      entries={entries}
      onChoose={onChoose}
      {...(changes === undefined ? {} : { changes })}
      {...(canUndo ? { onUndo: (place) => actions.undo({ to: place }) } : {})}
    />
  );
}
