import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { filesRoom, followUntil, isRunEnd } from "./server-room.ts";

const LINES = Array.from({ length: 8 }, (_, at) => `${at}QxWz`.repeat(12) + at);
const pem = (lines: readonly string[]): string =>
  `# deploy\n-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;

test("no line of a private key is in the changes of files, a line in its middle neither", async () => {
  const content = pem(LINES);
  const edits = [{ old_string: LINES[4] ?? "", new_string: LINES[4]?.toLowerCase() ?? "" }];
  const room = await filesRoom(
    [
      calls("write", { path: "key.pem", content }),
      calls("edit", { path: "key.pem", edits }),
      calls("edit", { path: "key.pem", edits: [{ old_string: "# deploy", new_string: "# deploys" }] }),
      says("Done."),
    ],
    { session: { permissionMode: "bypassPermissions" } },
  );
  const { id } = await room.reader.start({ prompt: "Write it", cwd: room.cwd });
  await followUntil(room.reader, id, isRunEnd);
  const changes = await room.reader.changes(id);
  expect(changes.map(({ kind, diff }) => [kind, diff?.hunks.flatMap(({ lines }) => lines)])).toEqual([
    ["created", ["+# deploy", "+«redacted:private-key»"]],
    ["changed", undefined],
    ["changed", ["-# deploy", "+# deploys", " «redacted:private-key»"]],
  ]);
});

test("no part of a key is in a title or in what a search shows, wherever they are cut", async () => {
  const key = `sk-ant-api03-${"aB3dE6gH9jK2".repeat(7)}xyzAA`;
  const room = await filesRoom(() => says("Done."));
  const { reader, ask, cwd } = room;
  const before = [20, 31, 34, 35];
  for (const words of before) {
    const { id } = await reader.start({ prompt: `${"word ".repeat(words)}${key} needle`, cwd });
    await followUntil(reader, id, isRunEnd);
  }
  const queries = ["", "?q=needle", "?q=word", `?q=${key.slice(10, 30)}`, `?q=${key} needle`];
  const lists = await Promise.all(queries.map(async (query) => (await ask(`/api/sessions${query}`)).text()));
  expect(lists.filter((text) => /aB3|dE6|gH9|jK2/.test(text))).toEqual([]);
  const { sessions } = await reader.sessions({ q: "needle" });
  expect(sessions.map(({ passages }) => passages?.join())).toEqual(
    before.map(() => expect.stringContaining("«redacted:anthropic-key» needle")),
  );
});
