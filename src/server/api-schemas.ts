import type { JsonSchema } from "../core/base/schema.ts";

export const string = (description?: string): JsonSchema => ({
  type: "string",
  ...(description === undefined ? {} : { description }),
});
export const count: JsonSchema = { type: "integer", minimum: 0 };
export const listOf = (items: JsonSchema): JsonSchema => ({ type: "array", items });
const time: JsonSchema = { type: "number", description: "Milliseconds since the epoch." };
const cost: JsonSchema = { type: ["number", "null"], description: "USD; null when a price is unknown." };
const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

interface Fields {
  readonly [name: string]: JsonSchema;
}

/** An object with these fields, to which later versions may add. Names of optional ones end in `?`. */
function openObject(fields: Fields, description?: string): JsonSchema {
  const named = Object.entries(fields).map(([name, schema]) => [name.replace(/\?$/, ""), schema] as const);
  const required = Object.keys(fields).filter((name) => !name.endsWith("?"));
  const about = description === undefined ? {} : { description };
  return { type: "object", properties: Object.fromEntries(named), required, ...about };
}

/** An object that accepts no other fields. */
export function closedObject(fields: Fields): JsonSchema {
  return { ...openObject(fields), additionalProperties: false };
}

const listed: Fields = {
  id: string(),
  cwd: string("The working folder."),
  "title?": string("The first text a person wrote."),
  state: { enum: ["idle", "running", "waiting"] },
  "model?": string(),
  createdAt: time,
  updatedAt: time,
  messageCount: count,
  usage: ref("Usage"),
  cost,
  files: listOf(string("A file that calls have changed.")),
  lines: openObject({ added: count, removed: count }),
  trace: string(
    "The newest 24 steps, each a letter (looked, bash, edited, waited, failed) and a digit for its time.",
  ),
  "runAt?": time,
  "end?": openObject(
    { reason: string("The stop reason."), time, "limit?": string(), "detail?": string() },
    "How the newest run ended; absent while it has no end.",
  ),
  "passages?": listOf(string("Of a search: text around what was found.")),
};

export const CHOICE: JsonSchema = { enum: ["once", "edits", "always", "no", "stop"] };

const question: Fields = {
  id: string(),
  type: { enum: ["permission", "elicitation", "choice"] },
  time,
  "callId?": string(),
  "agent?": string("The subagent that asks."),
  "tool?": string(),
  "input?": { type: "object" },
  reason: string("Why it is asked, beyond what the mode says; else empty."),
  "runs?": { enum: ["inside", "network", "outside"], description: "Where the command would run." },
  "outside?": string("The place outside the workspace that the call would reach."),
  "diff?": ref("FileDiff"),
  choices: listOf(openObject({ choice: CHOICE, "rule?": string() })),
  "options?": listOf(openObject({ value: string(), label: string() })),
  "schema?": { type: "object", description: "The form of the value, as JSON Schema." },
};

const kind: JsonSchema = { enum: ["created", "changed", "deleted"] };
const row = openObject({
  key: string(),
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
  "models?": listOf(openObject({ model: string(), runs: count, tokens: count, cost })),
});

/** The answers of the API, by the names that routes use for them. */
export const COMPONENTS: Fields = {
  Problem: openObject({
    type: string(),
    title: string(),
    status: count,
    detail: string(),
    code: string("A stable name of the fault."),
    "fits?": listOf(string("What fits the state.")),
  }),
  Health: openObject({ ok: { const: true }, version: string() }),
  Usage: openObject({
    inputTokens: count,
    outputTokens: count,
    "cacheReadTokens?": count,
    "cacheWriteTokens?": count,
  }),
  Session: openObject(listed),
  SessionPage: openObject({
    sessions: listOf(ref("Session")),
    "next?": string("To be given as before."),
    "searched?": openObject({ sessions: count, of: count }),
  }),
  SessionDetail: openObject({
    ...listed,
    messages: listOf({ type: "object", description: "{ role, content: blocks }" }),
    readOnly: { type: "boolean" },
    "permissionMode?": string("Absent where it is not known."),
    "heldBy?": openObject({ pid: count, since: time }, "The other process that writes to it."),
    "windowTokens?": { ...count, description: "Tokens that a request and its answer may have." },
    queue: listOf(openObject({ id: string(), text: string() })),
    queueHeld: { type: "boolean" },
    questions: listOf(ref("Question")),
    "goOn?": string("The command that resumes it in a terminal."),
    "damaged?": {
      ...listOf(openObject({ line: count, reason: string() })),
      description: "Lines of its file that are damaged and left out, at most 100 of them.",
    },
  }),
  FileDiff: openObject({
    path: string(),
    hunks: listOf(openObject({ oldStart: count, newStart: count, lines: listOf(string()) })),
    added: count,
    removed: count,
    isNew: { type: "boolean" },
  }),
  Question: openObject(question),
  Approvals: openObject({ approvals: listOf(openObject({ ...question, sessionId: string() })) }),
  Id: openObject({ id: string() }),
  Accepted: closedObject({}),
  Description: { type: "object", description: "OpenAPI 3.1." },
  UndoResult: openObject({
    status: { enum: ["done", "finished"] },
    changes: listOf(openObject({ path: string(), kind })),
    failed: listOf(string()),
  }),
  Changes: openObject({
    changes: listOf(
      openObject({
        entryId: string(),
        callId: string(),
        run: count,
        turn: count,
        time,
        path: string(),
        kind,
        "diff?": ref("FileDiff"),
        added: count,
        removed: count,
        "binary?": { type: "boolean" },
      }),
    ),
  }),
  Files: {
    oneOf: [
      openObject({
        files: listOf(
          openObject({ path: string(), kind, "diff?": ref("FileDiff"), "added?": count, "removed?": count }),
        ),
      }),
      openObject({ path: string(), text: string() }, "With path."),
    ],
  },
  Stats: openObject({ by: { enum: ["day", "model", "cwd"] }, rows: listOf(row), total: row }),
  Events: string(
    "Server-sent events. `event: entry`: a journal entry, `id` is its id. `event: passing`, without an id: { type: event | state | question | question_closed | queue | ready | reset, … }; it is not stored. A comment comes at least every 30 s.",
  ),
};
