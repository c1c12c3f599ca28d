import type { JsonSchema } from "../core/base/schema.ts";

const text = (description?: string): JsonSchema => ({
  type: "string",
  ...(description === undefined ? {} : { description }),
});
const count: JsonSchema = { type: "integer", minimum: 0 };
const time: JsonSchema = { type: "number", description: "Milliseconds since the epoch." };
const cost: JsonSchema = { type: ["number", "null"], description: "USD; null when a price is unknown." };
const listOf = (items: JsonSchema): JsonSchema => ({ type: "array", items });
const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

function exactly(
  properties: { readonly [name: string]: JsonSchema },
  required: readonly string[] = [],
): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** An object of given fields, to which later versions may add. */
function having(
  properties: { readonly [name: string]: JsonSchema },
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

const filled: JsonSchema = { type: "string", pattern: "\\S" };

type BodyName = "signIn" | "newSession" | "message" | "nothing" | "fork" | "undo" | "answer";

/** The bodies of requests: what is not named here is refused. */
export const BODIES: { readonly [name in BodyName]: JsonSchema } = {
  signIn: exactly({ token: text("The token that the server was started with.") }, ["token"]),
  newSession: exactly(
    {
      cwd: text("Working folder, absolute. Default: that of the server."),
      prompt: filled,
      model: text("provider/id[:effort]. Default: what the server was started with."),
      permissionMode: { enum: ["default", "acceptEdits", "auto", "plan", "dontAsk", "bypassPermissions"] },
      limits: exactly({
        maxTurns: { type: "integer", minimum: 1 },
        maxBudgetUsd: { type: "number", exclusiveMinimum: 0 },
        maxWallTime: text("90s, 10m, 1h"),
      }),
    },
    ["prompt"],
  ),
  message: exactly(
    {
      text: filled,
      when: {
        enum: ["now", "after"],
        description: "now: with the next request of the run at work · after: when it has ended.",
      },
    },
    ["text", "when"],
  ),
  nothing: exactly({}),
  fork: exactly({ from: text("The last entry taken over. Default: the newest.") }),
  undo: exactly({
    to: exactly({ run: { type: "integer", minimum: 1 }, turn: count }, ["run"]),
    paths: listOf(text()),
    force: { type: "boolean", description: "Also puts back what somebody else changed since." },
  }),
  answer: exactly(
    {
      choice: { enum: ["once", "edits", "always", "no", "stop"] },
      reason: text("Reaches the model, with no and stop."),
      rule: text("The rule to add: the one that is offered, which is the default."),
      value: { description: "For a question that asks for a value; choice is once then." },
      sessionId: text("Whose question it is, where a copy of the session has it too."),
    },
    ["choice"],
  ),
};

const usage = having(
  { inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count },
  ["cacheReadTokens", "cacheWriteTokens"],
);

const listed = {
  id: text(),
  cwd: text("The working folder."),
  title: text("The first text a person wrote."),
  state: { enum: ["idle", "running", "waiting"] },
  model: text(),
  createdAt: time,
  updatedAt: time,
  messageCount: count,
  usage: ref("Usage"),
  cost,
  files: listOf(text("A file that calls have changed.")),
  lines: having({ added: count, removed: count }),
  trace: text(
    "The newest 24 steps, each a letter (looked, bash, edited, waited, failed) and a digit for its time.",
  ),
  runAt: time,
  end: {
    ...having({ reason: text("The stop reason."), time, limit: text(), detail: text() }, ["limit", "detail"]),
    description: "How the newest run ended; absent while it has no end.",
  },
  passages: listOf(text("Of a search: text around what was found.")),
} satisfies { readonly [name: string]: JsonSchema };
const OPTIONAL = ["title", "model", "runAt", "end", "passages"];

const question = {
  id: text(),
  type: { enum: ["permission", "elicitation", "choice"] },
  time,
  callId: text(),
  agent: text("The subagent that asks."),
  tool: text(),
  input: { type: "object" },
  reason: text("Why it is asked, beyond what the mode says; else empty."),
  runs: { enum: ["inside", "network", "outside"], description: "Where the command would run." },
  outside: text("The place outside the workspace that the call would reach."),
  diff: ref("FileDiff"),
  choices: listOf(
    having({ choice: { enum: ["once", "edits", "always", "no", "stop"] }, rule: text() }, ["rule"]),
  ),
  options: listOf(having({ value: text(), label: text() })),
  schema: { type: "object", description: "The form of the value, as JSON Schema." },
} satisfies { readonly [name: string]: JsonSchema };
const OF_SOME_QUESTIONS = [
  "callId",
  "agent",
  "tool",
  "input",
  "runs",
  "outside",
  "diff",
  "options",
  "schema",
];

const kind: JsonSchema = { enum: ["created", "changed", "deleted"] };
const row = having(
  {
    key: text(),
    sessions: count,
    runs: count,
    turns: count,
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    cacheShare: { type: "number", minimum: 0, maximum: 1 },
    cost,
    unpriced: count,
    failures: count,
    added: count,
    removed: count,
    asked: count,
    askedMs: time,
    models: listOf(having({ model: text(), runs: count, tokens: count, cost })),
  },
  ["models"],
);

export const COMPONENTS: { readonly [name in AnswerName]: JsonSchema } = {
  Problem: having(
    {
      type: text(),
      title: text(),
      status: count,
      detail: text(),
      code: text("A stable name of the fault."),
      fits: listOf(text("What fits the state.")),
    },
    ["fits"],
  ),
  Health: having({ ok: { const: true }, version: text() }),
  Usage: usage,
  Session: having(listed, OPTIONAL),
  SessionPage: having(
    {
      sessions: listOf(ref("Session")),
      next: text("To be given as before."),
      searched: having({ sessions: count, of: count }),
    },
    ["next", "searched"],
  ),
  SessionDetail: having(
    {
      ...listed,
      messages: listOf({ type: "object", description: "{ role, content: blocks }" }),
      readOnly: { type: "boolean" },
      permissionMode: text("Absent where it is not known."),
      heldBy: {
        ...having({ pid: count, since: time }),
        description: "The other process that writes to it.",
      },
      windowTokens: { ...count, description: "Tokens that a request and its answer may have." },
      queue: listOf(having({ id: text(), text: text() })),
      queueHeld: { type: "boolean" },
      questions: listOf(ref("Question")),
      goOn: text("The command that goes on with it in a terminal."),
      damaged: {
        ...listOf(having({ line: count, reason: text() })),
        description: "Lines of its file that are damaged and left out, at most 100 of them.",
      },
    },
    [...OPTIONAL, "permissionMode", "heldBy", "windowTokens", "goOn", "damaged"],
  ),
  FileDiff: having({
    path: text(),
    hunks: listOf(having({ oldStart: count, newStart: count, lines: listOf(text()) })),
    added: count,
    removed: count,
    isNew: { type: "boolean" },
  }),
  Question: having(question, OF_SOME_QUESTIONS),
  Approvals: having({ approvals: listOf(having({ ...question, sessionId: text() }, OF_SOME_QUESTIONS)) }),
  Id: having({ id: text() }),
  Accepted: exactly({}),
  Description: { type: "object", description: "OpenAPI 3.1." },
  UndoResult: having({
    status: { enum: ["done", "finished"] },
    changes: listOf(having({ path: text(), kind })),
    failed: listOf(text()),
  }),
  Changes: having({
    changes: listOf(
      having(
        {
          entryId: text(),
          callId: text(),
          run: count,
          turn: count,
          time,
          path: text(),
          kind,
          diff: ref("FileDiff"),
          added: count,
          removed: count,
          binary: { type: "boolean" },
        },
        ["diff", "binary"],
      ),
    ),
  }),
  Files: {
    oneOf: [
      having({
        files: listOf(
          having({ path: text(), kind, diff: ref("FileDiff"), added: count, removed: count }, [
            "diff",
            "added",
            "removed",
          ]),
        ),
      }),
      { ...having({ path: text(), text: text() }), description: "With path." },
    ],
  },
  Stats: having({ by: { enum: ["day", "model", "cwd"] }, rows: listOf(row), total: row }),
  Events: {
    type: "string",
    description:
      "Server-sent events. `event: entry`: a journal entry, `id` is its id. `event: passing`, without an id: { type: event | state | question | question_closed | queue | ready | reset, … }; it is not stored. A comment comes at least every 30 s.",
  },
};

export type AnswerName =
  | "Problem"
  | "Health"
  | "Usage"
  | "Session"
  | "SessionPage"
  | "SessionDetail"
  | "FileDiff"
  | "Question"
  | "Approvals"
  | "Id"
  | "Accepted"
  | "Description"
  | "UndoResult"
  | "Changes"
  | "Files"
  | "Stats"
  | "Events";

type QueryName = "list" | "files" | "stats" | "nothing";

export const QUERIES: { readonly [name in QueryName]: JsonSchema } = {
  list: exactly({
    cwd: text("Only sessions of this folder."),
    q: text("Only sessions in which this is said."),
    limit: { type: "integer", minimum: 1, maximum: 200, description: "Default 50." },
    before: text("next of the page before."),
  }),
  files: exactly({
    at: text("Id of the entry right after which. Default: the newest."),
    path: text("The text of this file instead of the list."),
  }),
  stats: exactly({
    by: { enum: ["day", "model", "cwd"], description: "Default day." },
    from: text("First day: 2026-01-31. Default: the first of all."),
    to: text("Last day. Default: the last of all."),
    model: text("Only this model."),
    cwd: text("Only sessions of this folder."),
  }),
  nothing: exactly({}),
};
