import { compileSchema } from "../core/base/compile-schema.ts";
import { safeParse } from "../core/base/json.ts";
import type { JsonSchema } from "../core/base/schema.ts";
import { CHOICE, COMPONENTS, closedObject, count, listOf, string } from "./api-schemas.ts";
import type { Presenter } from "./presenter.ts";
import { badRequest, notFound, Refusal } from "./refusal.ts";
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

interface ApiCall {
  readonly host: SessionHost;
  readonly presenter: Presenter;
  /** The variable part of the path, matched by the route. */
  readonly id: string;
  readonly query: { readonly [name: string]: unknown };
  readonly body: unknown;
  readonly lastEventId: string | undefined;
  readonly request: Request;
}

/** The answer to a call: a JSON value, or the events of a session. */
export type ApiAnswer =
  | { readonly value: unknown; readonly headers?: { readonly [name: string]: string } }
  | { readonly follow: HostedSession; readonly after: string | undefined };

export interface ApiRoute {
  readonly method: "GET" | "POST";
  /** Below `/api`; `:id` matches one segment of a path. */
  readonly path: string;
  readonly summary: string;
  readonly query: JsonSchema;
  readonly body?: JsonSchema;
  readonly status: 200 | 201 | 202;
  /** Name of the schema for the answer. */
  readonly answer: string;
  /** `open`: without a token · `read`: with one · `write`: refused if the server is read-only. */
  readonly access: "open" | "read" | "write";
  readonly handle: (call: ApiCall) => Promise<ApiAnswer> | ApiAnswer;
}

export function get(
  path: string,
  summary: string,
  more: Pick<ApiRoute, "answer" | "handle"> & Partial<ApiRoute>,
): ApiRoute {
  return { method: "GET", path, summary, query: closedObject({}), status: 200, access: "read", ...more };
}

export function post(
  path: string,
  summary: string,
  more: Pick<ApiRoute, "answer" | "handle"> & Partial<ApiRoute>,
): ApiRoute {
  const own = { query: closedObject({}), body: closedObject({}), status: 202, access: "write" } as const;
  return { method: "POST", path, summary, ...own, ...more };
}

const ACCEPTED = { value: {} };
const NON_BLANK: JsonSchema = { type: "string", pattern: "\\S" };

/** Handles a call with its session; if `work` returns no value, the answer is `{}`. */
function inSession(work: (own: HostedSession, call: ApiCall) => Promise<unknown>): ApiRoute["handle"] {
  return async (call) => {
    const value = await work(await session(call), call);
    return value === undefined ? ACCEPTED : { value: call.presenter.value(value) };
  };
}

export const SESSION_ROUTES: readonly ApiRoute[] = [
  get("/sessions", "Sessions, newest first: the one that was written last.", {
    query: closedObject({
      "cwd?": string("Only sessions of this folder."),
      "q?": string("Only sessions in which this is said."),
      "limit?": { type: "integer", minimum: 1, maximum: 200, description: "Default 50." },
      "before?": string("next of the page before."),
    }),
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
    handle: inSession(async (own) => ({ changes: await own.changes() })),
  }),
  get("/sessions/:id/files", "The files that its calls have changed, as they were at a moment.", {
    query: closedObject({
      "at?": string("Id of the entry right after which. Default: the newest."),
      "path?": string("The text of this file instead of the list."),
    }),
    answer: "Files",
    handle: inSession(async (own, { query }) => {
      const { at, path } = query as { readonly at?: string; readonly path?: string };
      if (path === undefined) return { files: await own.files(at) };
      const text = await own.fileText(path, at);
      if (text === undefined) throw notFound("text kept of this file at that moment");
      return { path, text };
    }),
  }),
  post("/sessions", "Begin a session and its first run.", {
    body: closedObject({
      "cwd?": string("Working folder, absolute. Default: that of the server."),
      prompt: NON_BLANK,
      "model?": string("provider/id[:effort]. Default: what the server was started with."),
      "permissionMode?": {
        enum: ["default", "acceptEdits", "auto", "plan", "dontAsk", "bypassPermissions"],
      },
      "limits?": closedObject({
        "maxTurns?": { type: "integer", minimum: 1 },
        "maxBudgetUsd?": { type: "number", exclusiveMinimum: 0 },
        "maxWallTime?": string("90s, 10m, 1h"),
      }),
    }),
    status: 201,
    answer: "Id",
    handle: async ({ host, body }) => {
      const id = await host.start(body as SessionRequest);
      return { value: { id }, headers: { location: `/api/sessions/${encodeURIComponent(id)}` } };
    },
  }),
  post("/sessions/:id/messages", "Send a message to a session.", {
    body: closedObject({
      text: NON_BLANK,
      when: {
        enum: ["now", "after"],
        description: "now: with the next request of the current run · after: when it has ended.",
      },
    }),
    answer: "Accepted",
    handle: inSession((own, { body }) => own.send(body as NewMessage)),
  }),
  post("/sessions/:id/stop", "End the run, and hold the queue.", {
    answer: "Accepted",
    handle: inSession((own) => own.stop()),
  }),
  post("/sessions/:id/fork", "Copy a session, up to an entry.", {
    body: closedObject({ "from?": string("The last entry taken over. Default: the newest.") }),
    answer: "Id",
    handle: inSession(async (own, { body }) => ({
      id: await own.fork((body as { readonly from?: string }).from),
    })),
  }),
  post("/sessions/:id/undo", "Put files back to how they were before a run.", {
    body: closedObject({
      "to?": closedObject({ run: { type: "integer", minimum: 1 }, "turn?": count }),
      "paths?": listOf(string()),
      "force?": { type: "boolean", description: "Also puts back what somebody else changed since." },
    }),
    answer: "UndoResult",
    handle: inSession((own, { body }) => own.undo(body as UndoRequest)),
  }),
  post("/sessions/:id/redo", "Reverse the newest undo.", {
    answer: "UndoResult",
    handle: inSession((own) => own.redo()),
  }),
  get("/approvals", "The open questions of all sessions, oldest first.", {
    answer: "Approvals",
    handle: async ({ host, presenter }) => ({
      value: { approvals: (await host.approvals()).map((question) => presenter.question(question)) },
    }),
  }),
  post("/approvals/:id", "Answer a question.", {
    body: closedObject({
      choice: CHOICE,
      "reason?": string("Reaches the model, with no and stop."),
      "rule?": string("The rule to add: the one that is offered, which is the default."),
      "value?": { description: "For a question that asks for a value; choice is once then." },
      "sessionId?": string("Whose question it is, where a copy of the session has it too."),
    }),
    answer: "Accepted",
    handle: async ({ host, id, body, presenter }) => {
      const answer = body as QuestionAnswer;
      const open = await host.approvals();
      const question = open.find((each) => each.id === id && isQuestionOf(each, answer));
      await host.answer(id, question === undefined ? answer : presenter.originalAnswer(answer, question));
      return ACCEPTED;
    },
  }),
  get("/stats", "Runs, turns, tokens, cost, cache share and failures over all sessions.", {
    query: closedObject({
      "by?": { enum: ["day", "model", "cwd"], description: "Default day." },
      "from?": string("First day: 2026-01-31. Default: the first of all."),
      "to?": string("Last day. Default: the last of all."),
      "model?": string("Only this model."),
      "cwd?": string("Only sessions of this folder."),
    }),
    answer: "Stats",
    handle: async ({ host, query, presenter }) => {
      const { by = "day", ...filter } = query as StatsFilter & { readonly by?: StatsBy };
      return { value: presenter.value(await statsOver(host.facts(), by, filter)) };
    },
  }),
];

function isQuestionOf(question: OpenApproval, { sessionId = question.sessionId }: QuestionAnswer): boolean {
  return question.sessionId === sessionId;
}

async function session({ host, id }: ApiCall): Promise<HostedSession> {
  const found = await host.find(id);
  if (found === undefined) throw notFound("session of this id");
  return found;
}

export const MAX_BODY_BYTES = 10_000_000;
/** The same for requests without a token: many senders at once must not fill the memory. */
export const OPEN_BODY_BYTES = 4_000;

/** The parameters of a query, checked by `schema`. Throws for unknown, repeated and invalid ones. */
export function readQuery(
  parameters: URLSearchParams,
  schema: JsonSchema,
): { readonly [name: string]: unknown } {
  const given = new Map<string, string>();
  for (const [name, text] of parameters) {
    if (given.has(name)) throw badRequest(`The query has ${name} twice.`);
    given.set(name, text);
  }
  const checked = compileSchema(schema).validate(Object.fromEntries(given));
  if (checked instanceof Promise) throw badRequest("The query cannot be checked.");
  if (!checked.ok) throw badRequest(`The query does not fit: ${issuesText(checked.issues)}.`);
  return checked.value;
}

/**
 * The JSON of a body, checked by `schema`; without a body it is `{}`. Throws for another media type, for more
 * than `maxBytes`, and for fields that are unknown, missing or invalid.
 */
export async function readBody(request: Request, schema: JsonSchema, maxBytes: number): Promise<unknown> {
  const bytes = await bytesOf(request, maxBytes);
  const type = request.headers.get("content-type");
  if (type === null ? bytes.length > 0 : !/^application\/json *(?:;|$)/i.test(type))
    throw new Refusal(415, "wrong_type", "Send the body as JSON: Content-Type: application/json.");
  const value = bytes.length === 0 ? {} : parseBody(bytes);
  const checked = compileSchema(schema).validate(value);
  if (checked instanceof Promise) throw badRequest("The body cannot be checked.");
  if (!checked.ok) throw badRequest(`The body does not fit: ${issuesText(checked.issues)}.`);
  // A model may write a number as text, a program must not.
  if (checked.value !== value) throw badRequest("The body has a field of a wrong type: see openapi.json.");
  return value;
}

function issuesText(issues: readonly { readonly path: string; readonly message: string }[]): string {
  return issues.map(({ path, message }) => (path === "" ? message : `${path} ${message}`)).join("; ");
}

function parseBody(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw badRequest("The body is not UTF-8.");
  }
  const read = safeParse(text);
  if (read.ok) return read.value;
  throw badRequest("The body is not JSON.");
}

async function bytesOf({ body, headers }: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw tooLong(maxBytes);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body ?? []) {
      length += chunk.length;
      if (length > maxBytes) throw tooLong(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    // The sender is gone, or took too long: this is not a server failure.
    throw badRequest("The body was broken off.", "broken_off");
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function tooLong(maxBytes: number): Refusal {
  const most = maxBytes < 1_000_000 ? `${maxBytes / 1_000} kB` : `${maxBytes / 1_000_000} MB`;
  return new Refusal(413, "too_long", `The body has more than ${most}.`);
}

/** The OpenAPI 3.1 description of the API, generated from the routing table. */
export function openApi(routes: readonly ApiRoute[], version: string, cookie: string): object {
  const paths: { [path: string]: { [method: string]: object } } = {};
  for (const route of routes) {
    const path = `/api${route.path.replaceAll(":id", "{id}")}`;
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "nano-agent",
      version,
      description:
        "Sessions of nano-agent: read, follow, begin and answer. Errors are problems (RFC 9457). Times are milliseconds since the epoch. Unknown fields and parameters are refused.",
    },
    security: [{ token: [] }, { cookie: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        cookie: {
          type: "apiKey",
          in: "cookie",
          name: cookie,
          description: "Set by POST /api/session: HttpOnly, SameSite=Strict.",
        },
      },
      schemas: COMPONENTS,
    },
  };
}

function operation(route: ApiRoute): object {
  const { summary, path, query, body, status, answer, access } = route;
  const isStream = answer === "Events";
  return {
    summary,
    parameters: [
      ...(path.includes(":id") ? [ID_PARAMETER] : []),
      ...parametersOf(query),
      ...(isStream ? [LAST_EVENT_ID_PARAMETER] : []),
    ],
    ...(access === "open" ? { security: [] } : {}),
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: {
      [status]: {
        description: "Done.",
        content: {
          [isStream ? "text/event-stream" : "application/json"]: {
            schema: { $ref: `#/components/schemas/${answer}` },
          },
        },
      },
      ...Object.fromEntries(refusalsOf(route).map((each) => [each, problem(each)])),
      default: problem(0),
    },
  };
}

const ID_PARAMETER = { name: "id", in: "path", required: true, schema: { type: "string" } };
const LAST_EVENT_ID_PARAMETER = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  schema: { type: "string" },
  description: "Continues after this entry; an unknown id begins at the start.",
};

function parametersOf({ properties }: JsonSchema): readonly object[] {
  return Object.entries(properties as { readonly [name: string]: JsonSchema }).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    schema,
  }));
}

function requestBody(schema: JsonSchema): object {
  const isNeeded = Array.isArray(schema["required"]) && schema["required"].length > 0;
  return { required: isNeeded, content: { "application/json": { schema } } };
}

function refusalsOf({ path, body, access }: ApiRoute): readonly number[] {
  return [
    400,
    ...(access === "open" ? [] : [401]),
    403,
    ...(path.includes(":id") ? [404] : []),
    ...(access === "write" ? [409] : []),
    ...(body === undefined ? [] : [413, 415]),
  ];
}

const STATUS_MEANINGS: { readonly [status: number]: string } = {
  0: "Any other fault.",
  400: "The request does not fit: a field that is unknown, missing or wrong.",
  401: "The token is missing or wrong.",
  403: "Of another origin, for another host, or the server only reads.",
  404: "There is nothing of this id.",
  409: "It does not fit the state; `fits` says what would.",
  413: "The body has more than 10 MB, that of a sign-in more than 4 kB.",
  415: "The body is not application/json.",
};

function problem(status: number): object {
  return {
    description: STATUS_MEANINGS[status],
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}
