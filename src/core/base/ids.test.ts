import { describe, expect, it } from "vitest";
import { createIds, newId, newUuid } from "./ids.ts";

describe("createIds", () => {
  it("makes ids that differ, sort by age and hold only safe characters", () => {
    const id = createIds();
    const ids = Array.from({ length: 10_000 }, () => id("entry"));
    expect(new Set(ids).size).toBe(10_000);
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.filter((each) => !/^entry_[0-9a-z]{22}$/.test(each))).toEqual([]);
  });

  it("keeps sources made in the same millisecond apart", () => {
    const ids = Array.from({ length: 1000 }, () => createIds(1_700_000_000_000)("s"));
    expect(new Set(ids).size).toBe(1000);
  });

  it("sorts a later source behind an earlier one", () => {
    expect(createIds(1_700_000_000_001)("s") > createIds(1_700_000_000_000)("s")).toBe(true);
  });
});

describe("newId", () => {
  it("makes a single id with the prefix", () => {
    expect(newId("session")).toMatch(/^session_[0-9a-z]{22}$/);
  });
});

it("makes UUIDs of version 4, each another", () => {
  const uuids = Array.from({ length: 1000 }, newUuid);
  expect(new Set(uuids).size).toBe(1000);
  for (const uuid of uuids)
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
