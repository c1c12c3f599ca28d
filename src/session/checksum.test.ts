import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { checksum, checksumFor } from "./record.ts";

it("is CRC-32 in eight hex digits", () => {
  expect([checksum(Buffer.from("123456789")), checksum(Buffer.from(""))]).toEqual(["cbf43926", "00000000"]);
});

it("is the same whichever way it is computed", () => {
  const native = checksumFor(1e9);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), (bytes) => {
      expect([native(bytes), Number.parseInt(checksum(bytes), 16)]).toEqual([checksum(bytes), crc32(bytes)]);
    }),
  );
});
