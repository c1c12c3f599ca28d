import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeLine, encodeRecord } from "./record.ts";

function line(id: string, parent: string | null = null, fields: object = {}): Buffer {
  const { bytes } = encodeRecord({ id, parent, time: 1, type: "note", ...fields });
  return Buffer.from(bytes.subarray(0, -1));
}

const ids = (bytes: Uint8Array): readonly string[] => decodeLine(bytes).records.map(({ id }) => id);

describe("decodeLine", () => {
  it("finds the place of a record in its line", () => {
    const bytes = line("b", "a");
    expect(decodeLine(bytes)).toEqual({
      records: [{ id: "b", parent: "a", time: 1, type: "note", start: 0, end: bytes.length }],
    });
  });

  it("takes a blank line and a converted line end for no damage", () => {
    expect(decodeLine(Buffer.from(""))).toEqual({ records: [] });
    expect(decodeLine(Buffer.concat([line("a"), Buffer.from("\r")])).damage).toBeUndefined();
  });

  it("uses both of two merged records", () => {
    expect(decodeLine(Buffer.concat([line("a"), line("b", "a")]))).toMatchObject({
      records: [{ id: "a" }, { id: "b" }],
      damage: "2 records on one line, all used",
    });
  });

  it("uses a record behind the torn beginning of another, and tells the ids of the torn one", () => {
    const torn = line("a", "z", { text: "some text" }).subarray(0, -40);
    expect(decodeLine(Buffer.concat([torn, line("b", "a")]))).toMatchObject({
      records: [{ id: "b" }],
      damage: "wrong checksum; 1 whole in the same line used",
      ghost: { id: "a", parent: "z" },
    });
  });

  it("uses a record among bytes that are none", () => {
    expect(ids(Buffer.concat([Buffer.alloc(512), line("a"), Buffer.from("\u0000\u0000}")]))).toEqual(["a"]);
  });

  it("looks at the version before the checksum, whatever the order of fields", () => {
    const newer = line("a").toString().replace('"v":1', '"v":3');
    expect(decodeLine(Buffer.from(newer))).toEqual({ records: [], newerVersion: 3 });
    expect(decodeLine(Buffer.from(newer.slice(0, 30)))).toEqual({ records: [], newerVersion: 3 });
    expect(decodeLine(Buffer.from('{"id":"a","v":2}'))).toEqual({ records: [], newerVersion: 2 });
    expect(decodeLine(Buffer.concat([line("a"), Buffer.from(newer)]))).toEqual({
      records: [],
      newerVersion: 3,
    });
  });

  it("does not mistake a version inside a record for that of the line", () => {
    const nested = line("a", null, { input: { v: 9, text: '"}{"v":9,' } });
    expect(decodeLine(nested).damage).toBeUndefined();
    expect(decodeLine(nested.subarray(0, -3))).toMatchObject({ records: [], damage: "cut short" });
  });

  it.each([
    [
      "not JSON at all, but long enough to be a line of its own in some other kind of file, a log perhaps",
      "not a record",
    ],
    ['{"v":0,"id":"a"}', "unknown version 0"],
    ['{"v":"one"}', 'unknown version "one"'],
    ['{"v":1,"id":"a","parent":null}', "cut short"],
  ])("says what is wrong with %s", (text, damage) => {
    expect(decodeLine(Buffer.from(text))).toMatchObject({ records: [], damage });
  });

  it("never believes a line in which a byte was changed", () => {
    const bytes = line("a", null, { text: "täxt \u0000 with everything" });
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        const { records, damage, newerVersion } = decodeLine(changed);
        expect(records).toEqual([]);
        expect(damage ?? newerVersion).toBeDefined();
      }),
      { numRuns: 5_000 },
    );
  });

  it("takes any record back that was encoded", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.jsonValue(), (id, value) => {
        const [record] = decodeLine(line(id, null, { value })).records;
        expect(record?.id).toBe(id.toWellFormed());
      }),
      { numRuns: 2_000 },
    );
  });

  it("never throws and never invents a record", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodeLine(bytes).records).toEqual([]);
      }),
    );
  });
});
