import fc from "fast-check";
import { expect, it } from "vitest";
import { readNoProxy } from "./http-proxy.ts";

it.each<readonly [entry: string, covered: readonly string[], others: readonly string[]]>([
  [
    "10.0.0.0/8",
    ["http://10.1.2.3", "https://10.255.0.1:8443", "http://[::ffff:10.1.2.3]"],
    ["http://11.0.0.1", "http://10.example.com"],
  ],
  ["192.168.1.7/24", ["http://192.168.1.200"], ["http://192.168.2.1"]],
  ["0.0.0.0/0", ["http://8.8.8.8"], ["http://example.com"]],
  ["10.*", ["http://10.1.2.3"], ["http://110.1.2.3", "http://10.example.com"]],
  ["192.168.*.1", ["http://192.168.7.1"], ["http://192.168.7.2"]],
  ["fd00::/8", ["http://[fd00::1]", "http://[fdff:1::2]:8080"], ["http://[fe80::1]", "http://10.0.0.1"]],
  ["fd00::1", ["http://[fd00::1]", "http://[fd00:0:0::1]:99"], ["http://[fd00::2]"]],
  ["[FD00::1]", ["http://[fd00::1]"], ["http://[fd00::2]"]],
  ["[fd00::1]:8080", ["http://[fd00::1]:8080"], ["http://[fd00::1]", "http://[fd00::2]:8080"]],
  ["[fd00::]/8", ["http://[fd00::1]"], ["http://[fe80::1]"]],
  ["10.0.0.1:8080", ["http://10.0.0.1:8080"], ["http://10.0.0.1", "http://10.0.0.2:8080"]],
  [".example.com", ["http://example.com", "http://a.b.example.com"], ["http://notexample.com"]],
  ["*.example.com", ["http://a.example.com"], ["http://notexample.com"]],
  ["example.com:443", ["https://a.example.com", "http://example.com:443"], ["http://example.com"]],
  ["db-*.example.com", ["http://db-1.example.com"], ["http://db.example.com", "http://example.com"]],
  [
    "MÜNCHEN.example",
    ["http://münchen.example", "http://a.xn--mnchen-3ya.example"],
    ["http://munchen.example"],
  ],
  ["my_host", ["http://my_host"], ["http://my-host"]],
])("%s covers what curl and Go take it for", (entry, covered, others) => {
  const { covers, invalid } = readNoProxy(`unrelated.test,${entry}`);
  expect(invalid).toEqual([]);
  expect(covered.filter((url) => !covers(new URL(url)))).toEqual([]);
  expect(others.filter((url) => covers(new URL(url)))).toEqual([]);
});

it("an entry that cannot be read is named and covers nothing; the others hold", () => {
  const odd = [
    "10.0.0.0/99",
    "http://a.test",
    "a.test:x",
    "a.test:99999",
    "[fd00::1",
    "fd00::/129",
    "10.0.0/8",
    "a?b",
    ":80",
  ];
  const { covers, invalid } = readNoProxy(`ok.test, ${odd.join(", ")}`);
  expect(invalid).toEqual(odd);
  expect(["http://ok.test", "http://a.test", "http://10.0.0.1"].map((url) => covers(new URL(url)))).toEqual([
    true,
    false,
    false,
  ]);
});

it("a range covers exactly the addresses with its first bits", () => {
  const address = fc.nat(0xffff_ffff).map((bits) => bits >>> 0);
  const dotted = (bits: number): string => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".");
  fc.assert(
    fc.property(address, address, fc.nat(32), (range, host, length) => {
      const shift = 32 - length;
      const isIn = shift === 32 || range >>> shift === host >>> shift;
      const { covers } = readNoProxy(`${dotted(range)}/${length}`);
      expect(covers(new URL(`http://${dotted(host)}`))).toBe(isIn);
      expect(covers(new URL(`http://${dotted(range)}`))).toBe(true);
    }),
  );
});

it("no list of entries makes it throw", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(typeof readNoProxy(text).covers(new URL("http://10.0.0.1"))).toBe("boolean");
    }),
  );
});
