import { chmodSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { Agent } from "../../agent/agent.ts";
import { defineTool } from "../../core/tool/tool.ts";
import { createRedaction } from "../../permission/secrets/create-redaction.ts";
import { calls, type ScriptStep, says } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { SessionStore } from "../session-store.ts";
import { findSessions, indexSessions } from "./find-sessions.ts";
import { searchWords, wordSegmenter } from "./search-words.ts";

interface KeptSession {
  readonly sessionId: string;
  readonly input: string;
  readonly steps: readonly ScriptStep[];
}

async function kept(
  store: SessionStore,
  cwd: string,
  { sessionId, input, steps }: KeptSession,
): Promise<void> {
  const exists = store.list(cwd).find((session) => session.sessionId === sessionId);
  const journal = exists === undefined ? await store.start(cwd, { sessionId }) : await store.resume(exists);
  const look = defineTool({
    name: "look",
    description: "Looks.",
    parameters: { type: "object" },
    execute: () => "Found: the quick brown fox",
  });
  await new Agent({ model: new ScriptedModel(steps), tools: [look], journal }).run(input);
  await journal.close();
}

async function library(): Promise<{
  readonly store: SessionStore;
  readonly root: string;
  readonly cwd: string;
}> {
  const cwd = tempFolder();
  const root = join(cwd, "state", "sessions");
  const store = new SessionStore(root);
  await kept(store, cwd, {
    sessionId: "english",
    input: "Please fix the Flaky-Test in parser.ts",
    steps: [calls("look", {}), says("Fixed it.")],
  });
  await kept(store, cwd, {
    sessionId: "chinese",
    input: "帮我重构代码库里的慢测试",
    steps: [says("好的，已经完成。")],
  });
  return { store, root, cwd };
}

const ids = async (store: SessionStore, text: string): Promise<readonly string[]> =>
  (await findSessions(store, text)).sessions.map(({ sessionId }) => sessionId).sort();

test("sessions are found by words and beginnings of words, in English and Chinese, in input, answers, calls and results", async () => {
  const { store } = await library();
  for (const text of ["flaky", "FLAKY test", "pars", "fixed", "brown fox", "parser.ts", "fixed brown flaky"])
    expect([text, await ids(store, text)]).toEqual([text, ["english"]]);
  for (const text of ["代码", "码库", "慢测试", "重构 完成"])
    expect([text, await ids(store, text)]).toEqual([text, ["chinese"]]);
  for (const text of ["laky", "测代", "fixed 代码", '"', "*", "a OR b", "NEAR(", ""])
    expect([text, await ids(store, text)]).toEqual([text, []]);
});

test("what is found is shown with its step and a piece of the text", async () => {
  const { store } = await library();
  const { sessions, by, notices } = await findSessions(store, "brown");
  expect([by, notices, sessions]).toMatchObject([
    "index",
    [],
    [{ sessionId: "english", step: 1, excerpt: "Found: the quick brown fox", passages: 1 }],
  ]);
});

test("secrets are taken out of what is shown, also where a long text ends for the search", async () => {
  const store = new SessionStore(join(tempFolder(), "sessions"));
  const key = `ghp_${"aB3dE6gH9jK2".repeat(3)}`;
  const filler = "word ".repeat(6_396);
  for (const [sessionId, input] of [
    ["long", `${filler}needle ${key}`],
    ["short", `needle ${key}`],
  ] as const)
    await kept(store, "/work", { sessionId, input, steps: [says("Done.")] });
  const { sessions } = await findSessions(store, "needle", { redaction: createRedaction() });
  expect(new Map(sessions.map(({ sessionId, excerpt }) => [sessionId, excerpt.slice(-32)]))).toEqual(
    new Map([
      ["long", " word word word word word needle"],
      ["short", "needle «redacted:github-token»"],
    ]),
  );
});

test("the index follows sessions that go on and sessions that are removed", async () => {
  const { store, cwd } = await library();
  expect(await ids(store, "zebra")).toEqual([]);
  await kept(store, cwd, { sessionId: "english", input: "Now a zebra", steps: [says("ok")] });
  expect(await ids(store, "zebra")).toEqual(["english"]);
  expect(await ids(store, "flaky")).toEqual(["english"]);
  await store.remove(store.find("english", cwd));
  expect(await ids(store, "zebra")).toEqual([]);
});

test("the index is the user's alone; a damaged one is set aside, named and made anew", async () => {
  const { store, root } = await library();
  await ids(store, "fixed");
  const path = join(root, "search.sqlite");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, "this is not a database, but it was the index once upon a time");
  const { sessions, by, notices } = await findSessions(store, "fixed");
  expect([by, sessions.length]).toEqual(["index", 1]);
  expect(notices).toEqual([
    expect.stringMatching(
      /^the search index was damaged and is rebuilt; the old one is .*search\.sqlite\.damaged-\d+$/,
    ),
  ]);
  expect(readdirSync(root).filter((name) => name.includes("damaged"))).toHaveLength(1);
});

test("where the index cannot be used, the files themselves are searched", async () => {
  const { store, root, cwd } = await library();
  const victim = join(cwd, "victim");
  writeFileSync(victim, "keep");
  symlinkSync(victim, join(root, "search.sqlite"));
  for (const [text, expected] of [
    ["flaky", "english"],
    ["代码", "chinese"],
    ["brown", "english"],
  ] as const) {
    const { sessions, by, notices } = await findSessions(store, text);
    expect([by, sessions.map(({ sessionId }) => sessionId), notices]).toEqual([
      "scan",
      [expected],
      [expect.stringContaining("cannot be used")],
    ]);
  }
  const { notices, sessions } = await findSessions(store, "flaky", { maxScanBytes: 1 });
  expect([sessions, notices.at(-1)]).toEqual([[], "2 older sessions were not looked at"]);
  expect(statSync(victim).size).toBe(4);
});

test("a session that cannot be read hides no other", async () => {
  const { store } = await library();
  const broken = store.list().find(({ sessionId }) => sessionId === "chinese")?.path ?? "";
  writeFileSync(broken, '{"v":9,"id":"x"}\n');
  chmodSync(broken, 0o600);
  expect(await ids(store, "fixed")).toEqual(["english"]);
});

test("a long session that was indexed in part is found once whole, and every passage of it once", async () => {
  const store = new SessionStore(join(tempFolder(), "sessions"));
  const journal = await store.start("/work", { sessionId: "long" });
  const content = [{ type: "text", text: `zebra ${"word ".repeat(2_000)}` }] as const;
  for (let count = 0; count < 30; count++)
    await journal.append({ type: "user_message", source: "input", message: { role: "user", content } });
  await journal.close();
  const found = async (asItIs: boolean): Promise<readonly number[]> =>
    (await findSessions(store, "zebra", { asItIs })).sessions.map(({ passages }) => passages);
  const closing = new AbortController();
  let rests = 0;
  const rest = async (): Promise<void> => {
    if (++rests === 20) closing.abort();
  };
  await indexSessions(store, { signal: closing.signal, rest });
  const [early = 0] = await found(true);
  expect([early > 0, early < 30]).toEqual([true, true]);
  expect([await found(false), await found(true)]).toEqual([[30], [30]]);
});

test("any part of a Chinese text, and any whole word of another, is among its words", () => {
  const segmenter = wordSegmenter();
  const chinese = fc
    .array(fc.constantFrom(..."代码测试重构的了我们慢快"), { minLength: 1, maxLength: 12 })
    .map((list) => list.join(""));
  fc.assert(
    fc.property(chinese, fc.nat(11), fc.nat(11), fc.string({ maxLength: 8 }), (text, from, to, around) => {
      const part = text.slice(Math.min(from, to) % text.length) || text;
      const among = (words: readonly string[], whole: string): boolean =>
        searchWords(whole, segmenter).some((each) => `|${each.join("|")}|`.includes(`|${words.join("|")}|`));
      for (const words of searchWords(part)) expect(among(words, `${around} ${text} ${around}`)).toBe(true);
      for (const words of searchWords(around)) expect(among(words, `${text} ${around}`)).toBe(true);
    }),
  );
});
