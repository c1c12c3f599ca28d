import { type Context, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Reader } from "../../../server/create-reader.ts";
import type { UndoRequest, UndoResult } from "../../../server/server-api.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { Words } from "../language/language.ts";
import { goTo, type Route } from "../route.ts";
import type { Work } from "../work.tsx";
import type { FollowedSession } from "./session-feed.ts";

export interface SessionActions {
  readonly stop: () => void;
  readonly fork: (entryId?: string) => void;
  readonly undo: (request?: UndoRequest) => void;
  readonly redo: () => void;
}

/** The current session of the page, and the actions on it. */
export interface OpenSession extends FollowedSession {
  readonly route: Extract<Route, { readonly type: "session" }>;
  readonly actions: SessionActions;
  readonly work: Work;
  /** False if it is read-only, or while that is unknown. */
  readonly isWritable: boolean;
  /** `earlier`: not the newest run, but one before it can be undone. Undefined if none can. */
  readonly canUndo: "newest" | "earlier" | undefined;
  readonly canRedo: boolean;
  readonly showDetails: () => void;
  readonly showEntry: (entryId: string) => void;
}

export const SessionContext: Context<OpenSession | undefined> = createContext<OpenSession | undefined>(
  undefined,
);

export function useOpenSession(): OpenSession {
  const open = useContext(SessionContext);
  if (open === undefined) throw new Error("A part of a session is drawn outside of one.");
  return open;
}

/** Actions on one session; `work` shows their outcomes. */
export function sessionActions(id: string, reader: Reader, work: Work, words: Words): SessionActions {
  const report = async (what: "undo" | "redo", result: Promise<UndoResult>): Promise<void> => {
    const done = await work.attempt(() => result);
    if (done !== undefined) work.announce(undoText(what, done, words));
  };
  return {
    stop: () => void work.attempt(() => reader.stop(id)),
    fork: (entryId) =>
      void work.attempt(async () => {
        const forked = await reader.fork(id, entryId);
        goTo({ type: "session", id: forked.id, view: "chat" });
      }),
    undo: (request) => void report("undo", reader.undo(id, request)),
    redo: () => void report("redo", reader.redo(id)),
  };
}

/** Maximum files that are named; then the number of others follows. */
const MAX_NAMED_FILES = 3;

/** The outcome of an undo or redo in words, with the files. */
function undoText(what: "undo" | "redo", { changes, failed }: UndoResult, words: Words): string {
  const paths = changes.map(({ path }) => terminalLine(path, 120));
  const more = paths.length - MAX_NAMED_FILES;
  const named = [...paths.slice(0, MAX_NAMED_FILES), ...(more > 0 ? [words.moreFiles(more)] : [])].join(", ");
  const done = paths.length === 0 ? words.nothingTo[what] : words.broughtBack[what](named);
  return failed.length === 0 ? done : `${done} ${words.notPutBack(failed.join(", "))}`;
}
