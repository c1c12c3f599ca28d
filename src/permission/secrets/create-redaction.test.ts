import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALNUM, BASE64, HEX, noise, TOKEN, UPPER } from "../../../test/permission/noise.ts";
import { createRedaction } from "./create-redaction.ts";

const DIGITS = "0123456789";
const FORMATS: readonly (readonly [name: string, token: string])[] = [
  ["Anthropic", `sk-ant-api03-${noise(80, TOKEN)}-${noise(6, TOKEN)}AA`],
  ["OpenAI project", `sk-proj-${noise(74, TOKEN)}T3BlbkFJ${noise(74, TOKEN)}`],
  ["OpenAI service account", `sk-svcacct-${noise(60, TOKEN)}`],
  ["OpenAI legacy", `sk-${noise(20, ALNUM)}T3BlbkFJ${noise(20, ALNUM)}`],
  ["OpenRouter", `sk-or-v1-${noise(64, HEX)}`],
  ["Google API", `AIza${noise(35, TOKEN)}`],
  ["Google OAuth", `ya29.${noise(60, TOKEN)}`],
  ["Google client secret", `GOCSPX-${noise(28, TOKEN)}`],
  ["AWS key id", `AKIA${noise(16, UPPER)}`],
  ["AWS temporary key id", `ASIA${noise(16, UPPER)}`],
  ["Azure client secret", `abc8Q~${noise(34, ALNUM)}`],
  ["GitHub personal", `ghp_${noise(36, ALNUM)}`],
  ["GitHub server", `ghs_${noise(36, ALNUM)}`],
  ["GitHub fine-grained", `github_pat_11${noise(20, UPPER)}_${noise(59, ALNUM)}`],
  ["GitLab", `glpat-${noise(20, TOKEN)}`],
  ["GitLab routable", `glpat-${noise(27, TOKEN)}.01.${noise(9, HEX)}`],
  ["Slack bot", `xoxb-${noise(12, DIGITS)}-${noise(12, DIGITS)}-${noise(24, ALNUM)}`],
  ["Slack app", `xapp-1-A${noise(10, UPPER)}-${noise(13, DIGITS)}-${noise(64, HEX)}`],
  ["Stripe", `sk_live_${noise(24, ALNUM)}`],
  ["Stripe webhook", `whsec_${noise(32, ALNUM)}`],
  ["npm", `npm_${noise(36, ALNUM)}`],
  ["PyPI", `pypi-AgEIcHlwaS5vcmc${noise(90, TOKEN)}`],
  ["Docker", `dckr_pat_${noise(27, TOKEN)}`],
  ["Hugging Face", `hf_${noise(34, ALNUM)}`],
  ["SendGrid", `SG.${noise(22, TOKEN)}.${noise(43, TOKEN)}`],
  ["Twilio", `SK${noise(32, HEX)}`],
  ["DigitalOcean", `dop_v1_${noise(64, HEX)}`],
  ["Telegram", `${noise(10, "123456789")}:AA${noise(33, TOKEN)}`],
  ["Shopify", `shpat_${noise(32, HEX)}`],
  ["Atlassian", `ATATT3xFfGF0${noise(180, TOKEN)}=${noise(8, UPPER)}`],
  ["JSON Web Token", `eyJ${noise(33, ALNUM)}.eyJ${noise(70, TOKEN)}.${noise(43, TOKEN)}`],
];

const redaction = createRedaction();

test.each(FORMATS)("%s tokens are replaced whole, and nothing around them", (_name, token) => {
  const mark = /«redacted:[\w.-]+»/.exec(redaction.text(token))?.[0];
  const around = (text: string): readonly string[] => [
    text,
    `key="${text}", next`,
    `https://x.example/?k=${text}&b=1`,
    JSON.stringify({ log: `first\n${text}\nlast` }),
    `Use ${text}.`,
  ];
  expect(mark).toBeDefined();
  expect(around(token).map((text) => redaction.text(text))).toEqual(around(mark ?? ""));
});

test.each([
  ["AWS secret key", "aws_secret_access_key = ", noise(40, BASE64), ""],
  ["AWS secret key in JSON", '"SecretAccessKey": "', noise(40, BASE64), '"'],
  ["Azure storage key", "AccountName=a;AccountKey=", `${noise(86, BASE64)}==`, ";X=1"],
  ["npm login", "//registry.example/:_authToken=", noise(36, ALNUM), "\n"],
  ["Slack webhook", "https://hooks.slack.com/services/", `T0/B0/${noise(24, ALNUM)}`, " "],
  ["Discord webhook", "https://discord.com/api/webhooks/123456789012345678/", noise(68, TOKEN), '"'],
  ["address", "postgres://app:", noise(20, ALNUM), "@db.example/app"],
  ["token as the user of an address", "https://", noise(24, ALNUM), "@git.example/a"],
])("the secret of a %s is replaced, and its place remains", (_name, before, secret, after) => {
  const shown = redaction.text(before + secret + after);
  expect([shown.startsWith(`${before}«redacted:`), shown.endsWith(`»${after}`)]).toEqual([true, true]);
});

test.each([
  ["a commit", `commit ${noise(40, HEX)}`],
  ["a UUID", "123e4567-e89b-42d3-a456-426614174000"],
  ["an integrity hash", `"integrity": "sha512-${noise(86, BASE64)}=="`],
  ["an image", `data:image/png;base64,${noise(5_000, BASE64)}=`],
  ["a source map", `data:application/json;base64,eyJ2ZXJzaW9uIjozfQ${noise(900, ALNUM)}`],
  ["minified code", 'function a(b,c){return b.token=c.password||"",sk-b}var d=e.AIza,f="sk-";'],
  ["class names", '<div class="sk-folding-cube-animation-wrapper task-list-item-checkbox">'],
  ["expansions", 'curl -H "Authorization: Bearer $TOKEN" https://$USER:$PASSWORD1@host.example'],
  ["a template", "postgres://app:${DB_PASSWORD_1}@db/app and _authToken=${NPM_TOKEN_WITH_LONG_NAME}"],
  ["a default password", "postgres://postgres:postgres@localhost:5432/db"],
  ["an address with a port", "http://localhost:8080/a@b"],
  ["a public key", `-----BEGIN PUBLIC KEY-----\n${noise(64, BASE64)}\n-----END PUBLIC KEY-----`],
  ["a certificate", `-----BEGIN CERTIFICATE-----\n${noise(64, BASE64)}\n-----END CERTIFICATE-----`],
  ["code about keys", 'if (text.startsWith("-----BEGIN PRIVATE KEY-----")) return parse(text);'],
  ["a setting of no known format", `DB_PASSWORD=${noise(16, ALNUM)}`],
])("%s remains", (_name, text) => {
  expect(redaction.text(text)).toBe(text);
});

describe("private keys", () => {
  const lines = Array.from({ length: 6 }, (_, line) => noise(64 - line, BASE64));
  const [begin, end] = ["-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"];
  const key = [begin, ...lines, end].join("\n");
  const numbered = key.replaceAll(/^/gm, "    12\t");

  test.each([
    ["whole", `a\n${key}\nb`, "a\n«redacted:private-key»\nb"],
    [
      "with headers",
      `${key.replace("\n", "\nDEK-Info: AES-128-CBC,AB12\n\n")}\nb`,
      "«redacted:private-key»\nb",
    ],
    [
      "of PGP",
      `${key.replaceAll("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK")}\nb`,
      "«redacted:private-key»\nb",
    ],
    ["with line numbers", numbered, "    12\t«redacted:private-key»"],
    ["in JSON", JSON.stringify({ key }), '{"key":"«redacted:private-key»"}'],
    ["without its end", `${[begin, ...lines].join("\n")}\nafter`, "«redacted:private-key»\nafter"],
    ["without its end, numbered", numbered.slice(0, -80), "    12\t«redacted:private-key»"],
    ["without its beginning", `cut\n${[...lines, end].join("\n")}\nb`, "cut\n«redacted:private-key»\nb"],
    ["twice", `${key}\n${key}`, "«redacted:private-key»\n«redacted:private-key»"],
  ])("%s", (_name, text, shown) => {
    expect(redaction.text(text).replace(/(key»)\n\s+12.*$/, "$1")).toBe(shown);
  });
});

describe("any text", () => {
  const github = `ghp_${noise(36, ALNUM)}`;
  const secret = { name: "A_KEY", value: noise(40, TOKEN) };
  const full = createRedaction({ secrets: [secret] });
  const parts = fc.array(
    fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom(github, secret.value, secret.value.slice(5, 30), "\n", "\\", '"', "://u:", "@h"),
      fc.constantFrom("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", noise(64, BASE64)),
    ),
    { maxLength: 12 },
  );

  test("JSON remains JSON of the same form, twice encoded too", () => {
    const shapeOf = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shapeOf);
      return typeof value === "object" && value !== null ? Object.keys(value).length : typeof value;
    };
    fc.assert(
      fc.property(fc.array(fc.record({ a: parts.map((all) => all.join("")), b: fc.integer() })), (value) => {
        const shown: unknown = JSON.parse(full.text(JSON.stringify(value)));
        expect(shapeOf(shown)).toEqual(shapeOf(value));
        const { text } = JSON.parse(full.text(JSON.stringify({ text: JSON.stringify(value) })));
        expect(shapeOf(JSON.parse(text))).toEqual(shapeOf(value));
      }),
      { numRuns: 300 },
    );
  });

  test("in pieces, however cut, no secret shows and no other text is lost", () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${noise(64, BASE64)}\n-----END PRIVATE KEY-----`;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sizes) => {
        const text = `one ${secret.value} two\nthree ${github}\nfour\n${key}\nfive`;
        expect(streamed(full.stream(), text, sizes)).toBe(full.text(text));
      }),
    );
  });

  test("a line that does not end is passed on, and no secret in it is cut", () => {
    for (let filler = 11_800; filler < 12_100; filler += 7) {
      const text = `${"a".repeat(filler)},${secret.value},${"b".repeat(filler)},${github},${"c".repeat(20_000)}`;
      const stream = full.stream();
      const shown = stream.push(text.slice(0, 30_000)) + stream.push(text.slice(30_000));
      expect([shown.length > 20_000, shown + stream.flush()]).toEqual([true, full.text(text)]);
    }
  });

  function streamed(stream: ReturnType<typeof full.stream>, text: string, sizes: readonly number[]): string {
    let shown = "";
    let at = 0;
    for (let turn = 0; at < text.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1;
      shown += stream.push(text.slice(at, at + size));
      at += size;
    }
    return shown + stream.flush();
  }
});

// Work that grew with the square of the length would take minutes.
test.each([
  "a",
  "eyJ",
  `eyJ${"a".repeat(20)}.`,
  "SG.",
  "://a:",
  "://",
  "sk-ant-",
  "ghp_",
  "a8Q~",
  "1234567:AA",
  "secret_access_key: ",
  " ",
  "\n",
  "\\",
  "%25",
  noise(15, TOKEN),
  `${noise(64, BASE64)}\n`,
  "-----END PRIVATE KEY-----",
  `-----BEGIN PRIVATE KEY-----${"A".repeat(50)}`,
  `-----BEGIN PRIVATE KEY-----\n${"A".repeat(50)}\n`,
])("a hostile text of %j is processed in linear time", (unit) => {
  const known = createRedaction({ secrets: [{ name: "K", value: noise(40, TOKEN) }] });
  const text = unit.repeat(Math.ceil(300_000 / unit.length));
  const stream = known.stream();
  let shown = "";
  for (let at = 0; at < text.length; at += 10_000) shown += stream.push(text.slice(at, at + 10_000));
  expect([known.text(text), shown + stream.flush()]).not.toContain("");
});
