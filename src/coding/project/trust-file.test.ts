import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { isNanoAgentError } from "../../core/base/errors.ts";
import type { LeftOut } from "../../view/notice.ts";
import { changeTrust, contentHash, openTrustedProject, readTrust } from "./acting-files.ts";

const item = (path: string, content: string, kind: LeftOut["kind"] = "mcp_server"): LeftOut => ({
  kind,
  path,
  hash: contentHash(content),
  does: "starts x",
});

test("a content is trusted in its folder, under its path, as long as it stays the same", async () => {
  const paths = { stateFolder: tempFolder() };
  await changeTrust(paths, "/a", [item(".mcp.json#db", "one")], { keeps: true });
  const may = (folder: string, each: LeftOut): boolean => openTrustedProject(folder, paths).isTrusted(each);
  expect([
    may("/a", item(".mcp.json#db", "one")),
    may("/a", item(".mcp.json#db", "two")),
    may("/a", item(".mcp.json#other", "one")),
    may("/a", item(".mcp.json#db", "one", "skill")),
    may("/b", item(".mcp.json#db", "one")),
  ]).toEqual([true, false, false, false, false]);
});

test("what may not act is remembered once, and what is blocked never acts", async () => {
  const paths = { stateFolder: tempFolder() };
  const blocked = { ...item("skill", ""), blocked: "it is a link" };
  await changeTrust(paths, "/a", [blocked, item("x", "1")], { keeps: true });
  const project = openTrustedProject("/a", paths);
  const admitted = [blocked, item("x", "1"), item("x", "2"), item("x", "2")].map((each) =>
    project.admits(each),
  );
  expect({ admitted, left: project.leftOut.map(({ path, hash }) => [path, hash]) }).toEqual({
    admitted: [false, true, false, false],
    left: [
      ["skill", contentHash("")],
      ["x", contentHash("2")],
    ],
  });
});

test("approving adds to what is approved in a folder, or takes its place", async () => {
  const paths = { stateFolder: tempFolder() };
  const approved = (): unknown =>
    Object.fromEntries([...readTrust(paths)].map(([at, all]) => [at, [...all.keys()]]));
  await changeTrust(paths, "/a", [item("x", "1")], { keeps: true });
  await changeTrust(paths, "/a", [item("y", "1")], { keeps: true });
  const both = approved();
  await changeTrust(paths, "/a", [item("z", "1")], { keeps: false });
  const last = approved();
  await changeTrust(paths, "/a", [], { keeps: false });
  expect([both, last, approved()]).toEqual([
    { "/a": ["mcp_server x", "mcp_server y"] },
    { "/a": ["mcp_server z"] },
    {},
  ]);
});

test("a record is read back as it was written, whatever paths are called", async () => {
  const items = fc.array(
    fc.record({
      kind: fc.constantFrom("config", "hook", "mcp_server", "skill", "extension"),
      path: fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor")),
      hash: fc.string().map(contentHash),
      does: fc.constant(""),
    }),
    { minLength: 1 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.string(), items), { selector: ([name]) => name, maxLength: 3 }),
      async (folders) => {
        const paths = { stateFolder: tempFolder() };
        for (const [folder, list] of folders) await changeTrust(paths, folder, list, { keeps: true });
        const wanted = folders.map(
          ([folder, list]) =>
            [folder, new Map(list.map(({ kind, path, hash }) => [`${kind} ${path}`, hash]))] as const,
        );
        expect(readTrust(paths)).toEqual(new Map(wanted));
      },
    ),
    { numRuns: 30 },
  );
});

test.each([
  "",
  "null",
  "[]",
  "{}",
  '{"version":2,"folders":{}}',
  '{"version":1}',
  '{"version":1,"folders":[]}',
  '{"version":1,"folders":{"/a":[]}}',
  '{"version":1,"folders":{"/a":{"config x":"yes"}}}',
  '{"version":1,"folders":{"/a":{"config x":true}}}',
])("%j is not a record, is never taken for one that approves something, and stays as it is", async (text) => {
  const stateFolder = tempFolder({ "trust.json": text });
  for (const use of [
    async () => readTrust({ stateFolder }),
    () => changeTrust({ stateFolder }, "/a", [item("x", "1")], { keeps: true }),
  ])
    await expect(use()).rejects.toSatisfy((error) => isNanoAgentError(error, "invalid_config"));
  expect(readFileSync(join(stateFolder, "trust.json"), "utf8")).toBe(text);
});
