import { expect, test } from "vitest";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { FollowOptions } from "../../../server/create-reader.ts";
import { createReader, type Reader, ServerProblem } from "../../../server/create-reader.ts";
import type { SessionDetail, StreamItem } from "../../../server/server-api.ts";
import { type FollowedSession, followSession } from "./session-feed.ts";

const DETAIL: SessionDetail = {
  id: "s",
  cwd: "/w",
  state: "idle",
  createdAt: 1,
  updatedAt: 2,
  messageCount: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  cost: 0,
  files: [],
  lines: { added: 0, removed: 0 },
  trace: "",
  messages: [],
  readOnly: false,
  queue: [],
  queueHeld: false,
  questions: [],
};
const START: JournalEntry = {
  id: "e1",
  parent: null,
  time: 1,
  type: "run_start",
  sessionId: "s",
  model: "a/one",
  tools: [],
};
const ready: StreamItem = { type: "passing", passing: { type: "ready" } };
const running: StreamItem = { type: "passing", passing: { type: "state", state: "running" } };

/** A client that plays a stream, and counts how often the details are asked for. */
function playing(
  stream: (tell: NonNullable<FollowOptions["onConnection"]>) => AsyncIterable<StreamItem>,
  session: Reader["session"] = async () => DETAIL,
): Reader {
  return {
    ...createReader(),
    session,
    follow: (_id, { onConnection = () => undefined } = {}) => stream(onConnection),
  };
}

async function seen(
  reader: Reader,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly FollowedSession[]> {
  const all: FollowedSession[] = [];
  await followSession(reader, "s", signal, (now) => all.push(now()));
  // The details come behind the stream.
  await new Promise(setImmediate);
  return all;
}

test("nothing is drawn before all entries are there, and then all at once", async () => {
  const all = await seen(
    playing(async function* () {
      yield { type: "entry", entry: START };
      yield { type: "entry", entry: { ...START, id: "e2" } };
      yield ready;
    }),
  );
  expect(all.map(({ isReady, entries, detail }) => [isReady, entries.length, detail?.id])).toEqual([
    [true, 2, undefined],
    [true, 2, "s"],
  ]);
});

test("details that are older than what the stream has told are asked for again", async () => {
  const given: (() => void)[] = [];
  const session = (): Promise<SessionDetail> => {
    const state = given.length === 0 ? "idle" : "running";
    return new Promise((resolve) => given.push(() => resolve({ ...DETAIL, state })));
  };
  const all = await seen(
    playing(async function* () {
      yield ready;
      yield running;
      given[0]?.();
      await new Promise(setImmediate);
      given[1]?.();
    }, session),
  );
  expect([given.length, all.at(-1)?.view.state, all.some(({ detail }) => detail?.state === "idle")]).toEqual([
    2,
    "running",
    false,
  ]);
});

test("a connection that breaks is told, and what passed meanwhile is asked for when it stands again", async () => {
  let asked = 0;
  const all = await seen(
    playing(
      async function* (tell) {
        tell("open");
        yield ready;
        tell("lost", { inMs: 4_000, now: () => undefined });
        tell("open");
        yield ready;
      },
      async () => {
        asked++;
        return DETAIL;
      },
    ),
  );
  expect([
    all.find(({ retry }) => retry !== undefined)?.retry?.inMs,
    all.at(-1)?.retry === undefined,
    asked >= 2,
  ]).toEqual([4_000, true, true]);
});

test("a refusal is told as it is", async () => {
  const refusal = new ServerProblem({
    type: "",
    title: "",
    status: 404,
    detail: "There is no such session.",
    code: "x",
  });
  const all = await seen(
    playing(() => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(refusal) }) })),
  );
  expect(all.map(({ error }) => error)).toEqual([refusal]);
});

test("nothing is told to who has left", async () => {
  const leaving = new AbortController();
  const all = await seen(
    playing(async function* () {
      yield { type: "entry", entry: START };
      leaving.abort();
      yield ready;
    }),
    leaving.signal,
  );
  expect(all).toEqual([]);
});
