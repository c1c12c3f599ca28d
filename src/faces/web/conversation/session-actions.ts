import type { Reader } from "../../../server/create-reader.ts";
import type { UndoRequest, UndoResult } from "../../../server/server-api.ts";
import type { Work } from "../announce.tsx";
import type { Words } from "../language/english.ts";
import { hrefOf } from "../route.ts";

/** The things a person can do with a session. */
export interface SessionActions {
  readonly stop: () => void;
  readonly fork: (entryId?: string) => void;
  readonly undo: (request?: UndoRequest) => void;
  readonly redo: () => void;
}

interface Around {
  readonly id: string;
  readonly reader: Reader;
  readonly work: Work;
  readonly words: Words;
  /** Leads to an address of the page. */
  readonly goTo: (href: string) => void;
}

/** The actions on one session. Their outcomes are said by `work`. */
export function sessionActions({ id, reader, work, words, goTo }: Around): SessionActions {
  const putBack = async (result: Promise<UndoResult>): Promise<void> => {
    const done = await work.attempt(() => result);
    if (done !== undefined) work.say(undoText(done, words));
  };
  return {
    stop: () => void work.attempt(() => reader.stop(id)),
    fork: (entryId) =>
      void work.attempt(async () => {
        const made = await reader.fork(id, entryId);
        goTo(hrefOf({ type: "session", id: made.id, view: "chat" }));
      }),
    undo: (request) => void putBack(reader.undo(id, request)),
    redo: () => void putBack(reader.redo(id)),
  };
}

/** The outcome of an undo in words. */
export function undoText({ changes, failed }: UndoResult, words: Words): string {
  const done = changes.length === 0 ? words.nothingToUndo : words.undone(changes.length);
  return failed.length === 0 ? done : `${done} ${words.notPutBack(failed.join(", "))}`;
}
