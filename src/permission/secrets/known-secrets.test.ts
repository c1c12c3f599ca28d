import fc from "fast-check";
import { expect, test } from "vitest";
import { ALNUM, noise } from "../../../test/permission/noise.ts";
import { ENCODINGS, numbersFrom, randomSecret } from "../../../test/permission/secret-encodings.ts";
import { createRedaction, secretsOf } from "./create-redaction.ts";

test.each(ENCODINGS)("random values are found: %s", (_name, encode) => {
  const random = numbersFrom(42);
  const shown = Array.from({ length: 400 }, () => randomSecret(random)).filter((value) => {
    const redact = createRedaction({ secrets: secretsOf({ A_TOKEN: value }), shapes: false });
    return !redact.text(`a ${encode(value)} b`).includes("«redacted:A_TOKEN»");
  });
  expect(shown).toEqual([]);
});

test.each(ENCODINGS)("a value is replaced whole, and what is around it remains: %s", (_name, encode) => {
  const value = 'Zx9-q/4+T_z.w~8 %é"k\\m2Lp07';
  const redact = createRedaction({ secrets: [{ name: "MY_KEY", value }], shapes: false });
  expect(redact.text(`before ${encode(value)} after`)).toMatch(
    /^before [^»]{0,14}«redacted:MY_KEY».{0,6} after$/,
  );
});

test("any part of 16 characters counts, wherever it was cut", () => {
  const value = noise(60, ALNUM);
  const redact = createRedaction({ secrets: [{ name: "K", value }], shapes: false });
  const cut = fc.tuple(fc.nat(44), fc.integer({ min: 16, max: 60 }), fc.string({ maxLength: 40 }));
  fc.assert(
    fc.property(cut, ([start, length, around]) => {
      const part = value.slice(start, start + length);
      expect(redact.text(`${around}|${part}|${around}`)).toContain("|«redacted:K»|");
    }),
  );
});

test("of Base64 that is wrapped, less than 16 characters remain in a line", () => {
  const value = noise(200, ALNUM);
  const redact = createRedaction({ secrets: [{ name: "K", value }], shapes: false });
  const wrapped = Buffer.from(value).toString("base64").replaceAll(/.{76}/g, "$&\n");
  const stream = redact.stream();
  const shown = [...wrapped].map((char) => stream.push(char)).join("") + stream.flush();
  expect(
    shown
      .replaceAll("«redacted:K»", "")
      .split("\n")
      .filter((line) => line.length > 15),
  ).toEqual([]);
});

test("of hundreds of values each is found, with its own name", () => {
  const random = numbersFrom(7);
  const values = Object.fromEntries(
    Array.from({ length: 500 }, (_, at) => [`N${at}_TOKEN`, randomSecret(random)]),
  );
  const redact = createRedaction({ secrets: secretsOf(values), shapes: false });
  const shown = Object.values(values).map((value) => redact.text(`(${value})`).replaceAll(/["\\]/g, ""));
  expect(shown).toEqual(Object.keys(values).map((name) => `(«redacted:${name}»)`));
});
