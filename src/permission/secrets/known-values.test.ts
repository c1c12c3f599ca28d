import { expect, test } from "vitest";
import { secretsOf } from "./create-redaction.ts";

test("values under names of credentials and passwords in addresses are secrets, everything else is none", () => {
  const found = secretsOf({
    PWD: "/data/project",
    OLDPWD: "/data/other-project",
    OPENAI_API_KEY: "sk-test-0123456789abcdef",
    DB_PASSWORD: "tr0ub4dor",
    DATABASE_URL: "postgres://app:Xk29slw0q@db.example/app",
    AUTHORIZATION: "Bearer abcdefghij0123456789",
    SERVICE_CREDENTIALS:
      '{"type":"service","private_key":"line-one-0123456789\\nline-two-0123456789","client_id":"7"}',
    SHORT_TOKEN: "abc1",
    WORD_PASSWORD: "postgres",
    TOKEN_FILE: "/run/secrets/token-0123456789",
    SSL_KEY: "/etc/ssl/private/server.key",
    PATH: "/usr/bin:/bin",
    AUTH_URL: "https://login.example/oauth2/authorize/long/path",
    FLAG_TOKEN: "aaaaaaaaaaaaaaaaaaaaaaaa",
    EMPTY_KEY: "",
    MISSING_KEY: undefined,
  });
  expect(found.map(({ name, value }) => `${name}=${value}`)).toEqual([
    "OPENAI_API_KEY=sk-test-0123456789abcdef",
    "DB_PASSWORD=tr0ub4dor",
    "DATABASE_URL=Xk29slw0q",
    "AUTHORIZATION=abcdefghij0123456789",
    "SERVICE_CREDENTIALS=line-one-0123456789",
    "SERVICE_CREDENTIALS=line-two-0123456789",
  ]);
});

test("a value that several variables hold is named once", () => {
  const value = "0123456789abcdefghij";
  expect(secretsOf({ A_TOKEN: value, B_TOKEN: ` ${value} ` })).toEqual([{ name: "A_TOKEN", value }]);
  const json = JSON.stringify({ value: "Xk9v3Qz7TfLm2pRw8sYb" });
  expect(secretsOf({ MY_SECRET: json })).toEqual([{ name: "MY_SECRET", value: json }]);
});
