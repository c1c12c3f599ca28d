import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import type { NewEntry } from "../core/agent/entries.ts";
import type { JsonlJournal } from "./jsonl-journal.ts";
import { type SessionFile, SessionStore, workspaceSlug } from "./session-store.ts";

const HELLO: NewEntry = {
  type: "user_message",
  message: { role: "user", content: [{ type: "text", text: "hello" }] },
  source: "input",
};

async function kept(journal: JsonlJournal): Promise<void> {
  await journal.append(HELLO);
  await journal.close();
}

const idsOf = (sessions: readonly SessionFile[]): string[] => sessions.map(({ sessionId }) => sessionId);

describe("SessionStore", () => {
  it("is empty where nothing was ever kept, and makes no folder for looking", () => {
    const root = join(tempFolder(), "sessions");
    const store = new SessionStore(root);
    expect([store.list(), store.list("/w")]).toEqual([[], []]);
    expect(() => store.newest("/w")).toThrow("There is no session of /w");
    expect(statSync(root, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("says which folder cannot be read, and why", () => {
    const file = join(tempFolder(), "state");
    writeFileSync(file, "");
    const root = join(file, "sessions");
    const reading = (): unknown => new SessionStore(root).list();
    expect(reading).toThrow(`${root} cannot be read: a part of the path is not a folder (ENOTDIR).`);
  });

  it("opens a session by its id, whether it is there or not, and gives it back at the end of the block", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    const counts: number[] = [];
    for (const cwd of ["/one", "/one", "/two", undefined, undefined]) {
      await using journal = await store.open("orders", cwd === undefined ? {} : { cwd });
      await journal.append(HELLO);
      counts.push([...journal.entries()].length);
    }
    expect(counts).toEqual([1, 2, 1, 2, 3]);
    await using elsewhere = await store.open("fresh");
    expect(elsewhere.sessionId).toBe("fresh");
    await elsewhere.append(HELLO);
    expect(idsOf(store.list(process.cwd()))).toEqual(["fresh"]);
    await expect(store.open("fresh")).rejects.toThrow("in use by process");
    await expect(store.open("../x")).rejects.toThrow("session id");
  });

  it("closes a journal once, however often it is told to, and leaves no file of an unused one", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    {
      await using journal = await store.open("unused", { cwd: "/w" });
      await journal.close();
    }
    expect(store.list()).toEqual([]);
  });

  it("moves a session to another working folder, unless a process works on it or its id is taken", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    for (const cwd of ["/one", "/two"]) await kept(await store.start(cwd, { sessionId: "a" }));
    await kept(await store.start("/one", { sessionId: "b" }));
    const [b, a] = ["b", "a"].map((id) => store.find(id, "/one"));
    if (a === undefined || b === undefined) throw new Error("no sessions");
    const journal = await store.resume(b);
    await expect(store.move(b, "/two")).rejects.toThrow("in use by process");
    await journal.close();
    await expect(store.move(a, "/two")).rejects.toThrow("There is a session a of /two already");
    const moved = await store.move(b, "/two");
    expect([moved, idsOf(store.list("/one")), readdirSync(dirname(moved.path)).toSorted()]).toEqual([
      store.find("b", "/two"),
      ["a"],
      ["a.jsonl", "b.jsonl", "newest"],
    ]);
  });

  it("keeps the sessions of working folders apart and lists the one worked on last first", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    await kept(await store.start("/one", { sessionId: "a" }));
    await kept(await store.start("/one", { sessionId: "b" }));
    await kept(await store.start("/two", { sessionId: "c" }));
    expect([idsOf(store.list("/one")), idsOf(store.list("/two")), idsOf(store.list()).sort()]).toEqual([
      ["b", "a"],
      ["c"],
      ["a", "b", "c"],
    ]);
    await kept(await store.resume(store.find("a", "/one")));
    expect(store.newest("/one").sessionId).toBe("a");
  });

  it("names the session in which a run began last, however early it was opened", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    const journal = await store.start("/one", { sessionId: "a" });
    await kept(await store.start("/one", { sessionId: "b" }));
    const before = store.newest("/one").sessionId;
    await journal.append({ type: "run_start", sessionId: "a", model: "x/y", tools: [] });
    await journal.close();
    expect([before, store.newest("/one").sessionId]).toEqual(["b", "a"]);
  });

  it("finds the sessions of the folder first, then those of others, by id or its only beginning", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    await kept(await store.start("/one", { sessionId: "abc" }));
    await kept(await store.start("/two", { sessionId: "abd" }));
    expect(
      [store.find("ab", "/one"), store.find("ab", "/two"), store.find("abd", "/one")].map((s) => s.sessionId),
    ).toEqual(["abc", "abd", "abd"]);
    expect(() => store.find("ab", "/three")).toThrow("2 sessions begin with ab");
    expect(() => store.find("x", "/one")).toThrow("There is no session x");
    expect(() => store.find("../abc", "/one")).toThrow("is not a session id");
  });

  it("does not take an id that is in use", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    await kept(await store.start("/one", { sessionId: "a" }));
    await expect(store.start("/one", { sessionId: "a" })).rejects.toThrow("There is a session a already");
  });

  it("refuses a session file that has a second name", async () => {
    const root = join(tempFolder(), "sessions");
    const store = new SessionStore(root);
    await kept(await store.start("/one", { sessionId: "a" }));
    const session = store.newest("/one");
    linkSync(session.path, join(root, "second"));
    await expect(store.resume(session)).rejects.toThrow("has a second name");
  });

  it("lists only what is named like a session", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    await kept(await store.start("/one", { sessionId: "a" }));
    const folder = dirname(store.newest("/one").path);
    for (const name of ["b.json", "-c.jsonl", "d e.jsonl", ".jsonl"]) writeFileSync(join(folder, name), "");
    mkdirSync(join(folder, "f.jsonl"));
    expect(idsOf(store.list("/one"))).toEqual(["a"]);
  });

  it("removes a session, but not one in use", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    const journal = await store.start("/one", { sessionId: "a" });
    await journal.append(HELLO);
    await expect(store.remove(store.newest("/one"))).rejects.toMatchObject({ code: "journal" });
    await journal.close();
    const session = store.newest("/one");
    await store.remove(session);
    expect(readdirSync(dirname(session.path))).toEqual(["newest"]);
  });

  it("copies a session while it is written", async () => {
    const store = new SessionStore(join(tempFolder(), "sessions"));
    const journal = await store.start("/one", { sessionId: "a" });
    await journal.append(HELLO);
    const copy = await store.start("/two", { sessionId: "b", copyOf: store.newest("/one") });
    expect([...copy.entries()]).toMatchObject([HELLO]);
    await Promise.all([copy.close(), journal.close()]);
    expect(readFileSync(store.newest("/two").path, "utf8")).toContain('"forkedFrom":{"sessionId":"a"');
  });
});

describe("workspaceSlug", () => {
  it("is a file name that tells folders apart", () => {
    const slugs = ["/", "/a/b", "/a-b", "/ä/ö", `/${"long/".repeat(200)}`, "/..", "/a\n/b"].map(
      workspaceSlug,
    );
    expect(slugs.filter((slug) => !/^[A-Za-z0-9][A-Za-z0-9.-]{0,100}$/.test(slug))).toEqual([]);
    expect(new Set(slugs).size).toBe(slugs.length);
  });
});

it("goes on with a session by its id alone, whatever folder it belongs to", async () => {
  const store = new SessionStore(tempFolder());
  await kept(await store.start("tenant 1", { sessionId: "ticket-42" }));
  const again = await store.resume("ticket-42");
  await again.close();
  expect([again.sessionId, store.find("ticket").sessionId]).toEqual(["ticket-42", "ticket-42"]);
  await expect(store.resume("ticket-43")).rejects.toThrow("There is no session ticket-43");
});
