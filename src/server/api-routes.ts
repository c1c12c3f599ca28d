import type { JsonSchema } from "../core/base/schema.ts";
import { type AnswerName, BODIES, QUERIES } from "./api-schemas.ts";
import type { Presenter } from "./presenter.ts";
import { notFound } from "./refusal.ts";
import type {
  NewMessage,
  OpenApproval,
  QuestionAnswer,
  SessionRequest,
  StatsBy,
  StatsFilter,
  UndoRequest,
} from "./server-api.ts";
import { statsOver } from "./session-facts.ts";
import type { HostedSession, SessionHost } from "./session-host.ts";

/** A request whose parts were checked. */
export interface ApiCall {
  readonly host: SessionHost;
  readonly presenter: Presenter;
  /** The part of the path that a route leaves open. */
  readonly id: string;
  readonly query: { readonly [name: string]: unknown };
  readonly body: unknown;
  readonly lastEventId: string | undefined;
  readonly request: Request;
}

/** The answer to a call: a value for JSON, or the events of a session. */
export type ApiAnswer =
  | { readonly value: unknown; readonly headers?: { readonly [name: string]: string } }
  | { readonly follow: HostedSession; readonly after: string | undefined };

/** One operation of the API. */
export interface ApiRoute {
  readonly method: "GET" | "POST";
  /** Below `/api`; `:id` is one part of a path. */
  readonly path: string;
  readonly summary: string;
  readonly query: JsonSchema;
  readonly body?: JsonSchema;
  readonly status: 200 | 201 | 202;
  readonly answer: AnswerName;
  /** `open`: without a token · `read`: with one · `write`: refused where the server only reads. */
  readonly access: "open" | "read" | "write";
  readonly handle: (call: ApiCall) => Promise<ApiAnswer> | ApiAnswer;
}

function get(
  path: string,
  summary: string,
  more: Pick<ApiRoute, "answer" | "handle"> & Partial<ApiRoute>,
): ApiRoute {
  return { method: "GET", path, summary, query: QUERIES.nothing, status: 200, access: "read", ...more };
}

function post(
  path: string,
  summary: string,
  more: Pick<ApiRoute, "answer" | "handle"> & Partial<ApiRoute>,
): ApiRoute {
  const own = { query: QUERIES.nothing, body: BODIES.nothing, status: 202, access: "write" } as const;
  return { method: "POST", path, summary, ...own, ...more };
}

const ACCEPTED = { value: {} };

/** The operations on sessions; what concerns the server itself is added by the handler. */
export const SESSION_ROUTES: readonly ApiRoute[] = [
  get("/sessions", "Sessions, newest first: the one that was written last.", {
    query: QUERIES.list,
    answer: "SessionPage",
    handle: async ({ host, query, presenter }) => {
      const { limit = 50, q = "", ...rest } = query as { readonly limit?: number; readonly q?: string };
      const wanted = q.trim() === "" ? {} : { q };
      return { value: presenter.value(await host.list({ ...rest, ...wanted, limit })) };
    },
  }),
  get("/sessions/:id", "One session, folded.", {
    answer: "SessionDetail",
    handle: async (call) => ({ value: call.presenter.detail(await (await session(call)).detail()) }),
  }),
  get("/sessions/:id/events", "The entries of a session, and what passes between them, as they come.", {
    answer: "Events",
    handle: async (call) => ({ follow: await session(call), after: call.lastEventId }),
  }),
  get("/sessions/:id/changes", "The changes of its calls to files, oldest first.", {
    answer: "Changes",
    handle: async (call) => ({
      value: call.presenter.value({ changes: await (await session(call)).changes() }),
    }),
  }),
  get("/sessions/:id/files", "The files that its calls have changed, as they were at a moment.", {
    query: QUERIES.files,
    answer: "Files",
    handle: async (call) => {
      const { at, path } = call.query as { readonly at?: string; readonly path?: string };
      const found = await session(call);
      if (path === undefined) return { value: call.presenter.value({ files: await found.files(at) }) };
      const text = await found.fileText(path, at);
      if (text === undefined) throw notFound("text kept of this file at that moment");
      return { value: { path, text: call.presenter.value(text) } };
    },
  }),
  post("/sessions", "Begin a session and its first run.", {
    body: BODIES.newSession,
    status: 201,
    answer: "Id",
    handle: async ({ host, body }) => {
      const id = await host.start(body as SessionRequest);
      return { value: { id }, headers: { location: `/api/sessions/${encodeURIComponent(id)}` } };
    },
  }),
  post("/sessions/:id/messages", "Send a message to a session.", {
    body: BODIES.message,
    answer: "Accepted",
    handle: async (call) => {
      await (await session(call)).send(call.body as NewMessage);
      return ACCEPTED;
    },
  }),
  post("/sessions/:id/stop", "End the run at work, and hold the queue.", {
    answer: "Accepted",
    handle: async (call) => {
      await (await session(call)).stop();
      return ACCEPTED;
    },
  }),
  post("/sessions/:id/fork", "Copy a session, up to an entry.", {
    body: BODIES.fork,
    answer: "Id",
    handle: async (call) => {
      const { from } = call.body as { readonly from?: string };
      return { value: { id: await (await session(call)).fork(from) } };
    },
  }),
  post("/sessions/:id/undo", "Put files back to how they were before a run.", {
    body: BODIES.undo,
    answer: "UndoResult",
    handle: async (call) => ({
      value: call.presenter.value(await (await session(call)).undo(call.body as UndoRequest)),
    }),
  }),
  post("/sessions/:id/redo", "Take the newest undo back.", {
    answer: "UndoResult",
    handle: async (call) => ({ value: call.presenter.value(await (await session(call)).redo()) }),
  }),
  get("/approvals", "The open questions of all sessions, oldest first.", {
    answer: "Approvals",
    handle: async ({ host, presenter }) => ({
      value: { approvals: (await host.approvals()).map((question) => presenter.question(question)) },
    }),
  }),
  post("/approvals/:id", "Answer a question.", {
    body: BODIES.answer,
    answer: "Accepted",
    handle: async ({ host, id, body, presenter }) => {
      const answer = body as QuestionAnswer;
      const asked = (await host.approvals()).find((question) => question.id === id && isOf(question, answer));
      await host.answer(id, asked === undefined ? answer : presenter.answerBehind(answer, asked));
      return ACCEPTED;
    },
  }),
  get("/stats", "Runs, turns, tokens, cost, cache share and failures over all sessions.", {
    query: QUERIES.stats,
    answer: "Stats",
    handle: async ({ host, query, presenter }) => {
      const { by = "day", ...filter } = query as StatsFilter & { readonly by?: StatsBy };
      return { value: presenter.value(await statsOver(host.facts(), by, filter)) };
    },
  }),
];

function isOf(question: OpenApproval, { sessionId = question.sessionId }: QuestionAnswer): boolean {
  return question.sessionId === sessionId;
}

async function session({ host, id }: ApiCall): Promise<HostedSession> {
  const found = await host.find(id);
  if (found === undefined) throw notFound("session of this id");
  return found;
}
