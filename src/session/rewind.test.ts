import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { Agent } from "../agent/agent.ts";
import { messageText } from "../core/message/message.ts";
import { sessionSteps } from "../journal/steps.ts";
import { says } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { readSession, recordBeforeStep, verifySession } from "./read-session.ts";
import { SessionStore } from "./session-store.ts";

async function threeTurns(): Promise<{
  readonly store: SessionStore;
  readonly folder: string;
  readonly path: string;
}> {
  const folder = tempFolder();
  const store = new SessionStore(join(folder, "sessions"));
  const journal = await store.start(folder, { sessionId: "s" });
  const agent = new Agent({ model: new ScriptedModel([says("1"), says("2"), says("3")]), journal });
  for (const input of ["one", "two", "three"]) await agent.run(input);
  await journal.close();
  return { store, folder, path: journal.path };
}

async function conversation(store: SessionStore, folder: string, id = "s"): Promise<readonly string[]> {
  const journal = await store.resume(store.find(id, folder));
  const { messages } = new Agent({ model: new ScriptedModel([]), journal }).getState();
  await journal.close();
  return messages.map((message) => messageText(message));
}

test("after a rewind the conversation goes on from the older record; nothing in the file is changed", async () => {
  const { store, folder, path } = await threeTurns();
  const before = readFileSync(path, "utf8");
  const journal = await store.resume(store.newest(folder));
  await journal.rewind(recordBeforeStep(path, 2));
  await journal.close();
  expect(await conversation(store, folder)).toEqual(["one", "1", "two"]);
  expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
  expect(verifySession(path)).toMatchObject({ ok: true });

  const again = await store.resume(store.newest(folder));
  const agent = new Agent({ model: new ScriptedModel([says("2b")]), journal: again });
  expect((await agent.run()).text).toBe("2b");
  await again.close();
  expect(await conversation(store, folder)).toEqual(["one", "1", "two", "2b"]);
  expect(sessionSteps(readSession(path).entries).map(({ number }) => number)).toEqual([1, 2]);
  expect(readSession(path).otherTypes).toEqual({});
});

test("what was set aside can be gone back to, by the id of its records", async () => {
  const { store, folder, path } = await threeTurns();
  const last = readSession(path).entries.at(-1)?.id ?? "";
  const journal = await store.resume(store.newest(folder));
  await journal.rewind(recordBeforeStep(path, 1));
  await expect(journal.rewind(last)).rejects.toMatchObject({ code: "invalid_argument" });
  await journal.close();
  expect(await conversation(store, folder)).toEqual(["one"]);
});

test("a copy up to a record holds what stands before it", async () => {
  const { store, folder, path } = await threeTurns();
  const copy = await store.start(folder, {
    sessionId: "c",
    copyOf: store.find("s", folder),
    copyUpTo: recordBeforeStep(path, 3),
  });
  await copy.close();
  expect(await conversation(store, folder, "c")).toEqual(["one", "1", "two", "2", "three"]);
  expect(await conversation(store, folder)).toHaveLength(6);
});

test("a copy of a session that was rewound holds the conversation alone", async () => {
  const { store, folder, path } = await threeTurns();
  const journal = await store.resume(store.newest(folder));
  await journal.rewind(recordBeforeStep(path, 2));
  await journal.close();
  await (await store.start(folder, { sessionId: "c", copyOf: store.find("s", folder) })).close();
  expect(await conversation(store, folder, "c")).toEqual(["one", "1", "two"]);
});

test("a step that is not there is named, with the ones that are", async () => {
  const { path } = await threeTurns();
  for (const step of [0, 4, 1.5])
    expect(() => recordBeforeStep(path, step)).toThrow(`Step ${step}: the session has the steps 1 to 3.`);
});
