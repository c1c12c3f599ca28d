import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALNUM, noise } from "../../../test/permission/noise.ts";
import { ENCODINGS, numbersFrom, randomSecret } from "../../../test/permission/secret-encodings.ts";
import { createRedaction } from "./create-redaction.ts";
import { secretsOf } from "./known-values.ts";

describe("known values", () => {
  test.each(ENCODINGS)("whatever they are made of, written with %s", (_name, encode) => {
    const random = numbersFrom(42);
    const values = Array.from({ length: 400 }, () => randomSecret(random));
    const shown = values.filter((value) => {
      const secrets = secretsOf({ A_TOKEN: value });
      return !createRedaction({ secrets, shapes: false })
        .text(`a ${encode(value)} b`)
        .includes("«redacted:A_TOKEN»");
    });
    expect(shown).toEqual([]);
  });

  test("whatever else a text holds, all of a value is taken out, and the rest stays", () => {
    const secret = "Zx9qT4wL8p2K7mVb3NcR";
    const redact = createRedaction({ secrets: [{ name: "K", value: secret }], shapes: false });
    const rest = fc.stringMatching(/^[ .,;\n!?]{0,20}$/);
    const split = fc.constantFrom("", "\n", " ", "-", "\\\n", "'\"'\"'", "  ");
    fc.assert(
      fc.property(rest, split, rest, (before, between, after) => {
        const text = `${before}${[...secret].join(between)}${after}`;
        const shown = redact.text(text);
        expect(shown.replaceAll("«redacted:K»", "")).not.toMatch(/[A-Za-z0-9]/);
        expect([shown.startsWith(before), shown.endsWith(after)]).toEqual([true, true]);
      }),
    );
  });

  const value = 'Zx9-q/4+T_z.w~8 %é"k\\m2Lp07';
  const known = createRedaction({ secrets: [{ name: "MY_KEY", value }], shapes: false });
  const forms: readonly (readonly [name: string, text: string])[] = [
    ["as it is", value],
    ["in JSON", JSON.stringify(value).slice(1, -1)],
    ["percent-encoded", encodeURIComponent(value)],
    ["in hexadecimal", Buffer.from(value).toString("hex")],
    ["in Base64", Buffer.from(value).toString("base64")],
    ["in Base64 behind a user's name", Buffer.from(`user:${value}`).toString("base64")],
    ["in Base64 for addresses", Buffer.from(`ab${value}cd`).toString("base64url")],
  ];
  test.each(forms)("are found %s", (_name, text) => {
    const shown = known.text(`before ${text} after`);
    expect(shown).toMatch(/^before .{0,8}«redacted:MY_KEY».{0,8} after$/);
  });

  test("any part of 16 characters counts, wherever it was cut", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: value.length - 16 }),
        fc.integer({ min: 16, max: value.length }),
        fc.string({ maxLength: 40 }),
        (start, length, around) => {
          const part = value.slice(start, start + length);
          fc.pre(part.length >= 16);
          expect(known.text(`${around}|${part}|${around}`)).not.toContain(part);
        },
      ),
    );
  });

  test("Base64 that is wrapped at 76 columns is found line by line", () => {
    const long = noise(200, ALNUM);
    const wide = createRedaction({ secrets: [{ name: "K", value: long }], shapes: false });
    const wrapped = Buffer.from(long).toString("base64").replaceAll(/.{76}/g, "$&\n");
    expect(wide.text(wrapped).replaceAll("«redacted:K»", "").replaceAll(/\s/g, "").length).toBeLessThan(20);
  });
});
