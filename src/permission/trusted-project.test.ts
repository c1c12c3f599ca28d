import fc from "fast-check";
import { expect, test } from "vitest";
import { isNanoAgentError } from "../core/base/errors.ts";
import {
  contentHash,
  parseTrustRecord,
  TrustedProject,
  type TrustItem,
  type TrustRecord,
  trustRecordText,
  withTrusted,
} from "./trusted-project.ts";

const item = (path: string, content: string): TrustItem => ({
  kind: "mcp_server",
  path,
  hash: contentHash(content),
  does: "starts x",
});

test("a content is trusted in its folder, under its path, as long as it stays the same", () => {
  const record = withTrusted(new Map(), "/a", [item(".mcp.json#db", "one")]);
  const may = (folder: string, kind: TrustItem["kind"], path: string, content: string): boolean =>
    new TrustedProject(folder, record.get(folder)).isTrusted(kind, path, contentHash(content));
  expect([
    may("/a", "mcp_server", ".mcp.json#db", "one"),
    may("/a", "mcp_server", ".mcp.json#db", "two"),
    may("/a", "mcp_server", ".mcp.json#other", "one"),
    may("/a", "skill", ".mcp.json#db", "one"),
    may("/b", "mcp_server", ".mcp.json#db", "one"),
  ]).toEqual([true, false, false, false, false]);
});

test("what may not act is remembered once, and what is blocked never acts", () => {
  const blocked = { ...item("skill", ""), hash: "", blocked: "it is a link" };
  const record = withTrusted(new Map(), "/a", [blocked, item("x", "1")]);
  const project = new TrustedProject("/a", record.get("/a"));
  const admitted = [blocked, item("x", "1"), item("x", "2"), item("x", "2")].map((each) =>
    project.admits(each),
  );
  expect({ admitted, left: project.leftOut.map(({ path, hash }) => [path, hash]) }).toEqual({
    admitted: [false, true, false, false],
    left: [
      ["skill", ""],
      ["x", contentHash("2")],
    ],
  });
});

test("approving adds to what is approved in a folder", () => {
  const record = withTrusted(withTrusted(new Map(), "/a", [item("x", "1")]), "/a", [item("y", "1")]);
  expect([...(record.get("/a") ?? []).keys()]).toEqual(["mcp_server x", "mcp_server y"]);
});

test("a record is read back as it was written, whatever paths are called", () => {
  const items = fc.array(
    fc.record({
      kind: fc.constantFrom("config", "hook", "mcp_server", "skill", "extension"),
      path: fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor")),
      hash: fc.string().map(contentHash),
      does: fc.constant(""),
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), items)), (folders) => {
      const record = folders.reduce<TrustRecord>(
        (each, [folder, list]) => withTrusted(each, folder, list),
        new Map(),
      );
      expect(parseTrustRecord(trustRecordText(record), "trust.json")).toEqual(record);
    }),
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
])("%j is not a record, and is never taken for one that approves something", (text) => {
  try {
    parseTrustRecord(text, "trust.json");
    expect.unreachable();
  } catch (error) {
    expect(isNanoAgentError(error, "invalid_config")).toBe(true);
  }
});
