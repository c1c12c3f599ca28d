import { defined } from "../core/base/json.ts";
import { type FollowOptions, followStream } from "./follow-stream.ts";
import type {
  NewMessage,
  OpenApproval,
  QuestionAnswer,
  ServerStats,
  SessionChange,
  SessionDetail,
  SessionFileState,
  SessionPage,
  SessionRequest,
  StatsBy,
  StatsFilter,
  StreamItem,
  UndoRequest,
  UndoResult,
} from "./server-api.ts";
import { type ReaderOptions, ServerLink } from "./server-link.ts";

/** The sessions that a list is asked for. */
export interface SessionQuery {
  readonly cwd?: string;
  /** Text to search for. */
  readonly q?: string;
  readonly limit?: number;
  /** `next` of the page before. */
  readonly before?: string;
}

/**
 * A typed client of the server. Methods reject with a `ServerProblem` for what the server refuses, and with
 * the error of `fetch` where it cannot be reached.
 */
export interface Reader {
  /** Trades the token for a cookie, which the browser sends from then on. */
  signIn(token: string): Promise<void>;
  health(): Promise<{ readonly ok: boolean; readonly version: string }>;
  sessions(query?: SessionQuery): Promise<SessionPage>;
  session(id: string): Promise<SessionDetail>;
  /**
   * The entries of a session, and what passes between them, until `signal` ends it. A connection that breaks
   * is made again and goes on behind the last entry. Rejects where the server refuses, as for an unknown id.
   */
  follow(id: string, options?: FollowOptions): AsyncIterable<StreamItem>;
  start(session: SessionRequest): Promise<{ readonly id: string }>;
  send(id: string, message: NewMessage): Promise<void>;
  stop(id: string): Promise<void>;
  /** `from`: the last entry taken over. Default: all of it. */
  fork(id: string, from?: string): Promise<{ readonly id: string }>;
  undo(id: string, request?: UndoRequest): Promise<UndoResult>;
  redo(id: string): Promise<UndoResult>;
  approvals(): Promise<readonly OpenApproval[]>;
  answer(questionId: string, answer: QuestionAnswer): Promise<void>;
  changes(id: string): Promise<readonly SessionChange[]>;
  /** The files that calls had changed, as they were right after an entry. Default: the newest. */
  files(id: string, at?: string): Promise<readonly SessionFileState[]>;
  /** The text of one of them. */
  fileText(id: string, path: string, at?: string): Promise<string>;
  stats(by: StatsBy, filter?: StatsFilter): Promise<ServerStats>;
}

/** A client of the server at `baseUrl`, for the browser and everything else that has `fetch`. */
export function createReader(options: ReaderOptions = {}): Reader {
  const link = new ServerLink(options);
  const at = (id: string, rest = ""): string => `sessions/${encodeURIComponent(id)}${rest}`;
  return {
    signIn: async (token) => void (await link.post("session", { token })),
    health: () => link.get("health"),
    sessions: (query = {}) => link.get("sessions", { ...query }),
    session: (id) => link.get(at(id)),
    follow: (id, how = {}) => followStream(link, at(id, "/events"), how),
    start: (session) => link.post("sessions", session),
    send: async (id, message) => void (await link.post(at(id, "/messages"), message)),
    stop: async (id) => void (await link.post(at(id, "/stop"), {})),
    fork: (id, from) => link.post(at(id, "/fork"), defined({ from })),
    undo: (id, request = {}) => link.post(at(id, "/undo"), request),
    redo: (id) => link.post(at(id, "/redo"), {}),
    approvals: async () =>
      (await link.get<{ readonly approvals: readonly OpenApproval[] }>("approvals")).approvals,
    answer: async (id, answer) => void (await link.post(`approvals/${encodeURIComponent(id)}`, answer)),
    changes: async (id) =>
      (await link.get<{ readonly changes: readonly SessionChange[] }>(at(id, "/changes"))).changes,
    files: async (id, moment) =>
      (
        await link.get<{ readonly files: readonly SessionFileState[] }>(
          at(id, "/files"),
          defined({ at: moment }),
        )
      ).files,
    fileText: async (id, path, moment) =>
      (await link.get<{ readonly text: string }>(at(id, "/files"), { path, ...defined({ at: moment }) }))
        .text,
    stats: (by, filter = {}) => link.get("stats", { by, ...filter }),
  };
}
