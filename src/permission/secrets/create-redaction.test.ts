import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALNUM, BASE64, HEX, noise, TOKEN, UPPER } from "../../../test/permission/noise.ts";
import { numbersFrom, PLACES, randomSecret } from "../../../test/permission/secret-encodings.ts";
import { createRedaction } from "./create-redaction.ts";

const FORMATS: readonly (readonly [name: string, token: string])[] = [
  ["Anthropic", `sk-ant-api03-${noise(80, TOKEN)}-${noise(6, TOKEN)}AA`],
  ["OpenAI project", `sk-proj-${noise(74, TOKEN)}T3BlbkFJ${noise(74, TOKEN)}`],
  ["OpenAI service account", `sk-svcacct-${noise(60, TOKEN)}`],
  ["OpenAI legacy", `sk-${noise(20, ALNUM)}T3BlbkFJ${noise(20, ALNUM)}`],
  ["OpenRouter", `sk-or-v1-${noise(64, HEX)}`],
  ["DeepSeek", `sk-${noise(32, HEX)}`],
  ["Google API", `AIza${noise(35, TOKEN)}`],
  ["Google OAuth", `ya29.${noise(60, TOKEN)}`],
  ["Google client secret", `GOCSPX-${noise(28, TOKEN)}`],
  ["AWS key id", `AKIA${noise(16, UPPER)}`],
  ["AWS temporary key id", `ASIA${noise(16, UPPER)}`],
  ["GitHub personal", `ghp_${noise(36, ALNUM)}`],
  ["GitHub OAuth", `gho_${noise(36, ALNUM)}`],
  ["GitHub server", `ghs_${noise(36, ALNUM)}`],
  ["GitHub fine-grained", `github_pat_11${noise(20, UPPER)}_${noise(59, ALNUM)}`],
  ["GitLab", `glpat-${noise(20, TOKEN)}`],
  ["GitLab routable", `glpat-${noise(27, TOKEN)}.01.${noise(9, HEX)}`],
  ["Slack bot", `xoxb-${noise(12, "0123456789")}-${noise(12, "0123456789")}-${noise(24, ALNUM)}`],
  ["Slack app", `xapp-1-A${noise(10, UPPER)}-${noise(13, "0123456789")}-${noise(64, HEX)}`],
  ["Stripe", `sk_live_${noise(24, ALNUM)}`],
  ["Stripe restricted", `rk_live_${noise(24, ALNUM)}`],
  ["webhook", `whsec_${noise(32, ALNUM)}`],
  ["npm", `npm_${noise(36, ALNUM)}`],
  ["PyPI", `pypi-AgEIcHlwaS5vcmc${noise(90, TOKEN)}`],
  ["Hugging Face", `hf_${noise(34, ALNUM)}`],
  ["Groq", `gsk_${noise(52, ALNUM)}`],
  ["xAI", `xai-${noise(80, ALNUM)}`],
  ["SendGrid", `SG.${noise(22, TOKEN)}.${noise(43, TOKEN)}`],
  ["Twilio", `SK${noise(32, HEX)}`],
  ["DigitalOcean", `dop_v1_${noise(64, HEX)}`],
  ["Telegram", `${noise(10, "123456789")}:AA${noise(33, TOKEN)}`],
  ["Azure client secret", `abc8Q~${noise(34, ALNUM)}`],
  ["Shopify", `shpat_${noise(32, HEX)}`],
  ["Square", `sq0atp-${noise(22, TOKEN)}`],
  ["Mailchimp", `${noise(32, HEX)}-us12`],
  ["Databricks", `dapi${noise(32, HEX)}`],
  ["New Relic", `NRAK-${noise(27, UPPER)}`],
  ["Linear", `lin_api_${noise(40, ALNUM)}`],
  ["Notion", `ntn_${noise(46, ALNUM)}`],
  ["Atlassian", `ATATT3xFfGF0${noise(180, TOKEN)}=${noise(8, UPPER)}`],
  ["Vault", `hvs.${noise(95, TOKEN)}`],
  ["Terraform", `${noise(14, ALNUM)}.atlasv1.${noise(67, TOKEN)}`],
  ["Grafana", `glsa_${noise(32, ALNUM)}_${noise(8, HEX)}`],
  ["Docker", `dckr_pat_${noise(27, TOKEN)}`],
  ["RubyGems", `rubygems_${noise(48, HEX)}`],
  ["Airtable", `pat${noise(14, ALNUM)}.${noise(64, HEX)}`],
  ["JSON Web Token", `eyJ${noise(33, ALNUM)}.eyJ${noise(70, TOKEN)}.${noise(43, TOKEN)}`],
];

/** Where people's own passwords stand, which are no random text: a digit and a sign among letters. */
const PASSWORD_PLACES: readonly ((password: string) => string)[] = [
  (password) => `mysqldump -ubob -p${password} db`,
  (password) => `docker login -u bob -p ${password}`,
  (password) => `sshpass -p '${password}' ssh host`,
  (password) => `redis-cli -h db -a ${password} ping`,
  (password) => `openssl enc -aes256 -pass pass:${password}`,
  (password) => `wget --http-password=${password} https://host`,
  (password) => `mysql --password ${password}`,
  (password) => `Server=db;User Id=sa;Password=${password};Encrypt=true`,
  (password) => `jdbc:mysql://db/shop?user=a&password=${password}`,
  (password) => `<server><password>${password}</password></server>`,
  (password) => `<server password="${password}"/>`,
  (password) => `[db]\npassword=${password}\n`,
  (password) => `stringData:\n  password: ${password}\n`,
  (password) => `spring.datasource.password=${password}`,
  (password) => `Config{Password:"${password}"}`,
];

const redaction = createRedaction();
const MARK = /^«redacted:[\w.-]+»$/;

describe("formats", () => {
  test.each(FORMATS)("%s tokens are taken out whole", (_name, token) => {
    expect(redaction.text(token)).toMatch(MARK);
    expect(redaction.text(`key="${token}", next`)).toMatch(/^key="«redacted:[\w.-]+»", next$/);
    expect(redaction.text(`https://x.example/?k=${token}&b=1`)).toMatch(/^https:.*k=«redacted:[\w.-]+»&b=1$/);
  });

  test("a token leaves the sentence around it as it was", () => {
    expect(redaction.text(`Use ghp_${noise(36, ALNUM)}. Then go on.`)).toBe(
      "Use «redacted:github-token». Then go on.",
    );
  });

  const CONTEXTS: readonly (readonly [name: string, text: string, secret: string])[] = [
    ["bearer header", `Authorization: Bearer ${noise(30, ALNUM)}`, noise(30, ALNUM)],
    ["basic header", `authorization: Basic ${noise(30, BASE64)}==`, noise(30, BASE64)],
    ["header in JSON", `{"Authorization":"Bearer ${noise(40, ALNUM)}"}`, noise(40, ALNUM)],
    ["bearer alone", `curl -H 'X: Bearer ${noise(24, ALNUM)}'`, noise(24, ALNUM)],
    ["x-api-key", `x-api-key: ${noise(32, HEX)}`, noise(32, HEX)],
    ["AWS secret key", `aws_secret_access_key = ${noise(40, BASE64)}`, noise(40, BASE64)],
    ["AWS secret key in JSON", `"SecretAccessKey": "${noise(40, BASE64)}"`, noise(40, BASE64)],
    ["Azure storage", `AccountName=a;AccountKey=${noise(86, BASE64)}==;X=1`, noise(86, BASE64)],
    ["Azure signature", `https://a.example/b?sv=1&sig=${noise(43, ALNUM)}%3D`, noise(43, ALNUM)],
    ["address", `postgres://app:${noise(20, ALNUM)}@db.example/app`, noise(20, ALNUM)],
    ["npm login", `//registry.example/:_authToken=${noise(36, ALNUM)}`, noise(36, ALNUM)],
    ["netrc", `machine api.example login me password ${noise(12, ALNUM)}`, noise(12, ALNUM)],
    ["registry login", `"auth": "${Buffer.from("me:pass1234").toString("base64")}"`, "bWU6cGFzczEyMzQ"],
    ["dotenv", `TWILIO_AUTH_TOKEN=${noise(32, HEX)}`, noise(32, HEX)],
    ["numbered line", `     3\tDB_PASSWORD='${noise(16, ALNUM)}'`, noise(16, ALNUM)],
    ["setting in quotes", `SECRET="${noise(6, ALNUM)} ${noise(9, ALNUM)}"`, noise(9, ALNUM)],
    ["password in JSON", `{"password":"x8-${noise(9, ALNUM)}"}`, noise(9, ALNUM)],
    ["line of YAML", `  clientSecret: ${noise(14, ALNUM)}\n`, noise(14, ALNUM)],
    ["token in the place of a user", `https://${noise(24, ALNUM)}@git.example/a`, noise(24, ALNUM)],
    ["login of curl", `curl -u me:${noise(14, ALNUM)} https://a.example`, noise(14, ALNUM)],
    ["parameter", `https://a.example/?access_token=${noise(24, HEX)}`, noise(24, HEX)],
    ["cookie", `Cookie: theme=dark; session=${noise(24, HEX)}`, noise(24, HEX)],
    ["line of .pgpass", `db.example:5432:app:me:${noise(10, ALNUM)}`, noise(10, ALNUM)],
    ["line of shadow", `root:$6$abc$${noise(60, ALNUM)}:19000:0`, noise(60, ALNUM)],
    ["basic login without a digit", "Authorization: Basic dXNlcjpwYXNzd29yZHh4", "dXNlcjpwYXNzd29yZHh4"],
    ["Slack webhook", `https://hooks.slack.com/services/T0/B0/${noise(24, ALNUM)}`, noise(24, ALNUM)],
  ];
  test.each(CONTEXTS)("what a %s holds is taken out", (_name, text, secret) => {
    expect(redaction.text(text)).toContain("«redacted:");
    expect(redaction.text(text)).not.toContain(secret);
  });
});

describe("no random value passes for a stand-in", () => {
  test.each(PLACES)("in %s", (_name, place) => {
    const random = numbersFrom(4711);
    const shown = Array.from({ length: 600 }, () => randomSecret(random))
      .filter(
        (value) => /^[\w+/=.-]+$/.test(value) && /\d/.test(value) && /[A-Za-z]\d[A-Za-z]+\d/.test(value),
      )
      .filter((value) => !redaction.text(place(value)).includes("«redacted:"));
    expect(shown).toEqual([]);
  });

  test.each(["an", "a", "my", "the", "test", "some", "secret", "change", "xxx", "your", "env."])(
    "not one that begins with %j",
    (start) => {
      fc.assert(
        fc.property(fc.stringMatching(/^[0-9a-f]{4}[0-9][a-f][0-9][a-f][0-9a-f]{8,20}$/), (rest) => {
          fc.pre(new Set(rest).size > 7);
          for (const line of [`DB_PASSWORD=${start}${rest}`, `Authorization: Bearer ${start}${rest}`])
            expect(redaction.text(line)).not.toContain(rest);
          expect(redaction.text(`postgres://u:${start}${rest}@h/d`)).not.toContain(rest);
        }),
      );
    },
  );
});

describe("what is not a secret stays", () => {
  const HARMLESS: readonly (readonly [name: string, text: string])[] = [
    ["a commit", `commit ${noise(40, HEX)}`],
    ["an object id of 64 digits", noise(64, HEX)],
    ["a UUID", "123e4567-e89b-42d3-a456-426614174000"],
    ["an integrity hash", `"integrity": "sha512-${noise(86, BASE64)}=="`],
    ["an image", `data:image/png;base64,${noise(5_000, BASE64)}=`],
    [
      "a source map",
      `//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozfQ${noise(900, ALNUM)}`,
    ],
    ["minified code", 'function a(b,c){return b.token=c.password||"",sk-b}var d=e.AIza,f="sk-";'],
    ["class names", '<div class="sk-folding-cube-animation-wrapper task-list-item-checkbox">'],
    ["an expansion", 'curl -H "Authorization: Bearer $TOKEN" https://$USER:$PASS@host.example'],
    ["a stand-in", 'API_KEY=your-api-key-here\nOPENAI_API_KEY="<your key>"\nTOKEN=${{ secrets.TOKEN_1 }}'],
    ["code that reads a variable", "const API_KEY = process.env.API_KEY_2;"],
    ["a default of the field", "postgres://postgres:postgres@localhost:5432/db"],
    ["prose", "Basic internationalisation, bearer of tokens, and the password policy."],
    ["a public key", `-----BEGIN PUBLIC KEY-----\n${noise(64, BASE64)}\n-----END PUBLIC KEY-----`],
    ["a certificate", `-----BEGIN CERTIFICATE-----\n${noise(64, BASE64)}\n-----END CERTIFICATE-----`],
    [
      "code that names a key's first line",
      'if (text.startsWith("-----BEGIN PRIVATE KEY-----")) return parse(text);',
    ],
    ["an address with a port", "http://localhost:8080/a@b"],
    ["a scoped package", "https://registry.example/@scope/name:1@2"],
    ["a cache key", "CACHE_KEY=node-modules-v18-linux-x64"],
    ["a call", "authorization: base64Encode(user)"],
    ["a call in capitals", "REFRESH_TOKEN = createToken1(user)"],
    ["a public address", "const TOKEN_ADDRESS = '0x6B175474E89094C44Da98b954EedeAC495271d0F'"],
    ["a key of a map", "storageKey: 'getUserById2From3'"],
    ["a type", "accessToken: string1Type;"],
    ["a schema", "JWT_SECRET: z.string().min(32)"],
    ["a file of a secret", "DB_PASSWORD_FILE=/run/secrets/db1password"],
  ];
  test.each(HARMLESS)("%s", (_name, text) => {
    expect(redaction.text(text)).toBe(text);
  });
});

describe("private keys", () => {
  const body = Array.from({ length: 6 }, (_, line) => noise(64 - line, BASE64)).join("\n");
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`;
  const first = body.split("\n")[0] ?? "";

  test("a block is one mark, what stands around it stays", () => {
    expect(redaction.text(`a\n${key}\nb`)).toBe("a\n«redacted:private-key»\nb");
  });

  test("line numbers, escapes and a missing end or beginning do not save it", () => {
    const numbered = key
      .split("\n")
      .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
      .join("\n");
    const texts = [
      numbered,
      JSON.stringify({ key }),
      key.slice(0, 250),
      key.slice(200),
      `x\n${key.slice(0, 150)}\nafter`,
    ];
    for (const text of texts) {
      const shown = redaction.text(text);
      for (const line of body.split("\n")) expect(shown).not.toContain(line);
      expect(shown).toContain("«redacted:private-key»");
    }
    expect(redaction.text(`x\n${key.slice(0, 150)}\nafter`)).toMatch(/after$/);
    expect(first).toHaveLength(64);
  });
});

describe("for any text", () => {
  const [, github = ""] = FORMATS[11] ?? [];
  const secret = { name: "A_KEY", value: noise(40, TOKEN) };
  const full = createRedaction({ secrets: [secret] });
  const pieces = fc.array(
    fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom(
        github,
        secret.value,
        "\n",
        " ",
        "Authorization: Bearer ",
        "PASSWORD=",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "://u:",
        "@h",
        noise(64, BASE64),
      ),
    ),
    { maxLength: 12 },
  );

  test("what was redacted stays as it is", () => {
    const staysAsItIs = fc.property(pieces, (parts) => {
      const once = full.text(parts.join(""));
      expect(full.text(once)).toBe(once);
    });
    fc.assert(staysAsItIs, { numRuns: 300 });
    fc.assert(staysAsItIs, { seed: 33829951, path: "4:2:10" });
  });

  test("a token on the line before the end of a key leaves nothing for a second look", () => {
    const text = `${noise(64, BASE64)}${secret.value}\n${github}${noise(64, BASE64)}\n-----END PRIVATE KEY-----`;
    const once = full.text(text);
    expect(full.text(once)).toBe(once);
    expect(once).not.toContain(noise(64, BASE64));
  });

  test("JSON stays JSON of the same form", () => {
    const shapeOf = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shapeOf);
      return typeof value === "object" && value !== null ? Object.keys(value).length : typeof value;
    };
    fc.assert(
      fc.property(
        fc.array(fc.record({ a: pieces.map((parts) => parts.join("")), b: fc.integer() })),
        (value) => {
          const shown: unknown = JSON.parse(full.text(JSON.stringify(value)));
          expect(shapeOf(shown)).toEqual(shapeOf(value));
        },
      ),
    );
  });

  test("a quote that is not closed ends with the string of the JSON it stands in", () => {
    const value = [
      { a: "PASSWORD='", b: 0 },
      { a: "'", b: 0 },
      { a: "PASSWORD='hx8Kq2vTz9Lm", b: 1 },
    ];
    const [, , last] = JSON.parse(full.text(JSON.stringify(value))) as readonly { readonly a: string }[];
    expect(last?.a).not.toContain("hx8Kq2vTz9Lm");
  });

  test.each(["\\", "\\\\", '\\"', '"'])("JSON stays JSON where a cut key ends in %j", (end) => {
    const value = { a: `-----BEGIN PRIVATE KEY-----${noise(64, BASE64)}${end}`, b: 0 };
    expect(JSON.parse(full.text(JSON.stringify(value)))).toEqual({ a: expect.any(String) as unknown, b: 0 });
    const twice = JSON.stringify({ text: JSON.stringify(value) });
    const { text } = JSON.parse(full.text(twice)) as { readonly text: string };
    expect(JSON.parse(text)).toEqual({ a: expect.any(String) as unknown, b: 0 });
  });

  test("in pieces, however cut, no secret shows and no other text is lost", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sizes) => {
        const text = `one ${secret.value} two\nthree ${github}\nfour\n-----BEGIN PRIVATE KEY-----\n${noise(64, BASE64)}\n-----END PRIVATE KEY-----\nfive`;
        const stream = full.stream();
        let shown = "";
        let at = 0;
        for (let turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          shown += stream.push(text.slice(at, at + size));
          at += size;
        }
        expect(shown + stream.flush()).toBe(full.text(text));
      }),
    );
  });
});

describe("a hostile text is done with in time", () => {
  const known = createRedaction({ secrets: [{ name: "K", value: noise(40, TOKEN) }] });
  const units = [
    "a",
    "eyJ",
    `eyJ${"a".repeat(20)}.`,
    "SG.",
    "://a:",
    "://",
    "A_",
    "API_TOKEN=",
    '="',
    "token: 'a",
    "--token ",
    "cookie: a=b;",
    "sk-ant-",
    "ghp_",
    "authorization: ",
    "bearer ",
    "a8Q~",
    "1234567:AA",
    '"auth": "',
    "machine a login b ",
    "a:1:a:a:",
    "Private-Lines: 1\n",
    "secret_key: ",
    " ",
    "\n",
    "-----END PRIVATE KEY-----",
    `-----BEGIN PRIVATE KEY-----${"A".repeat(50)}`,
    `-----BEGIN PRIVATE KEY-----\n${"A".repeat(50)}\n`,
    "\\",
    "%25",
    "&#38;",
    noise(15, TOKEN),
  ];
  // Work that grew with the square of the length would take minutes.
  test.each(units)("of %j", (unit) => {
    expect(known.text(unit.repeat(Math.ceil(300_000 / unit.length)))).not.toBe("");
  });
});

test("passwords of people are taken out wherever programs and files keep them, whole and in pieces", () => {
  const leaks = PASSWORD_PLACES.flatMap((place) =>
    ["S3cr3t!2024", "kP9#mQ2$vL", "Summer2024!x", "a8F3kQz9!m2X"].flatMap((password) => {
      const text = place(password);
      const stream = redaction.stream();
      const pieces = [...text].map((piece) => stream.push(piece)).join("") + stream.flush();
      return [redaction.text(text), pieces].filter((shown) => shown.includes(password));
    }),
  );
  expect(leaks).toEqual([]);
});

test("hashes of passwords and signed addresses are taken out", () => {
  const hex = noise(64, HEX);
  const texts = [`bob:$apr1$abcdefgh$${noise(22, ALNUM)}`, `https://b.example/k?X-Amz-Signature=${hex}&x=1`];
  expect(texts.map((text) => redaction.text(text))).toEqual([
    "bob:«redacted:password-hash»",
    "https://b.example/k?X-Amz-Signature=«redacted:signature»&x=1",
  ]);
});

test("what only looks like a password stays", () => {
  const texts = [
    'validate({ password: "required|min:8" })',
    "mysql -p3306 -h db",
    "docker login -u bob --password-stdin",
    "password: change-me!",
    'const password = "correct horse battery staple!";',
    "<password>${env.DB_PASSWORD}</password>",
    "login(user, -p)",
    "url?password=%s&x=1",
  ];
  expect(texts.map((text) => redaction.text(text))).toEqual(texts);
});
