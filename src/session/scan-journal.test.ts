import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { type JournalScan, recordPath, scanJournal } from "./read-session.ts";
import { encodeRecord } from "./record.ts";

interface GivenRecord {
  readonly id: string;
  readonly parent: string | null;
}

function line({ id, parent }: GivenRecord): string {
  return Buffer.from(
    encodeRecord({ id, parent, time: 0, type: "note", text: `text of ${id}` }).bytes,
  ).toString();
}

/** A chain of records: `chain("a", "b")` is a, then b behind it. */
function chain(...ids: readonly string[]): string[] {
  return ids.map((id, at) => line({ id, parent: ids[at - 1] ?? null }));
}

function scan(text: string): JournalScan {
  const path = join(tempFolder(), "s.jsonl");
  writeFileSync(path, text);
  const descriptor = openSync(path, "r");
  try {
    return scanJournal(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const path = (text: string): string =>
  recordPath(scan(text))
    .map(({ id }) => id)
    .join("");

describe("scanJournal", () => {
  it("finds nothing wrong with whole records", () => {
    const { records, damaged, newer } = scan(chain("a", "b", "c").join(""));
    expect([records.map(({ id }) => id), damaged, newer]).toEqual([["a", "b", "c"], [], undefined]);
  });

  it("counts a last line without its newline as whole", () => {
    expect(scan(chain("a", "b").join("").trimEnd())).toMatchObject({
      records: [{ id: "a" }, { id: "b" }],
      damaged: [],
    });
  });

  it("names damaged lines, and no line behind them for the gap they leave", () => {
    const [a = "", b = "", c = ""] = chain("a", "b", "c");
    expect(scan(a + b.replace("text", "tixt") + c).damaged).toEqual([{ line: 2, reason: "wrong checksum" }]);
    expect(scan(`${a}${b.slice(0, 30)}\n${c}`).damaged).toEqual([{ line: 2, reason: "cut short" }]);
  });

  it("names the record behind a line that was taken out", () => {
    const [a = "", , c = ""] = chain("a", "b", "c");
    expect(scan(a + c).damaged).toEqual([{ line: 2, reason: "the record before it is missing (b)" }]);
  });

  it("uses a record that is there twice once, and says so", () => {
    const [a = "", b = ""] = chain("a", "b");
    expect(scan(a + b + b)).toMatchObject({
      records: [{ id: "a" }, { id: "b" }],
      damaged: [{ line: 3, reason: "the record of line 2 again" }],
    });
  });

  it("stops at a newer version and names its line", () => {
    const [a = "", b = ""] = chain("a", "b");
    expect(scan(a + b.replace('"v":1', '"v":7')).newer).toEqual({ line: 2, version: 7 });
  });

  it("reads lines that are longer than its buffer", () => {
    const long = encodeRecord({
      id: "long",
      parent: "a",
      time: 0,
      type: "note",
      text: "é".repeat(3_000_000),
    });
    const text = `${line({ id: "a", parent: null })}${Buffer.from(long.bytes).toString()}${line({ id: "b", parent: "long" })}`;
    expect([path(text), scan(text).damaged]).toEqual(["alongb", []]);
  });
});

describe("recordPath", () => {
  it("follows the newest branch and leaves what a rewind put aside", () => {
    const text = [
      ...chain("a", "b", "c"),
      line({ id: "d", parent: "a" }),
      line({ id: "e", parent: "d" }),
    ].join("");
    expect(path(text)).toBe("ade");
  });

  it("begins anew with a record that has no parent", () => {
    expect(path([...chain("a", "b"), line({ id: "c", parent: null })].join(""))).toBe("c");
  });

  it("keeps the records on either side of a damaged one", () => {
    const lines = chain("a", "b", "c", "d");
    for (let at = 0; at < 3; at++) {
      const cut = lines.toSpliced(at, 1, `${lines[at]?.slice(0, 12)}\n`).join("");
      expect(path(cut)).toBe("abcd".replace("abcd"[at] ?? "", ""));
    }
  });

  it("stays on its branch where the damaged record still shows its ids", () => {
    const [a = "", b = ""] = chain("a", "b");
    const c = line({ id: "c", parent: "a" }).replace("text", "tixt");
    expect(path(a + b + c + line({ id: "d", parent: "c" }))).toBe("ad");
  });

  it("ends for any parents, also circles, and never goes forward", () => {
    const text = [
      line({ id: "a", parent: "c" }),
      line({ id: "b", parent: "b" }),
      line({ id: "x", parent: "y" }).replace("text", "tixt"),
      line({ id: "y", parent: "x" }).replace("text", "tixt"),
      line({ id: "c", parent: "x" }),
    ].join("");
    expect(path(text)).toBe("abc");
  });
});
