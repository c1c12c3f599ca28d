import fc from "fast-check";
import { expect, test } from "vitest";
import { commandEnvironment } from "./command-environment.ts";
import { isCredentialName } from "./create-redaction.ts";

test("tool chains get what they need and nothing that holds a credential", () => {
  const environment = {
    PATH: "/bin",
    HOME: "/home/me",
    LC_ALL: "C",
    NVM_DIR: "/home/me/.nvm",
    GOPATH: "/go",
    CARGO_HOME: "/cargo",
    PYTHONPATH: "/py",
    npm_config_registry: "https://registry.example",
    HTTPS_PROXY: "http://proxy.example:3128",
    SSH_AUTH_SOCK: "/tmp/agent.1",
    GITHUB_ACTIONS: "true",
    ANTHROPIC_API_KEY: "sk-ant-1234567890",
    GITHUB_TOKEN: "x",
    npm_config__auth: "bWU6cGFzcw==",
    "npm_config_//registry.example/:_authToken": "abc",
    CARGO_REGISTRY_TOKEN: "abc",
    PIP_INDEX_URL: "https://me:s3cr3tpass@pypi.example/simple",
    GOPROXY_NOTE: `glpat-${"a1B2".repeat(6)}`,
    HTTP_PROXY: "http://me:s3cr3tpass@proxy.example:3128",
    https_proxy: "http://me:any-pass@proxy.example:3128",
    ALL_PROXY: "me:test@proxy.example:1080",
    npm_config_https_proxy: "http://token@proxy.example",
    AWS_PROFILE: "work",
    DATABASE_URL: "postgres://h/db",
    MY_OWN: "1",
  };
  const { variables, withheld } = commandEnvironment(environment);
  expect(Object.keys(variables)).toEqual([
    "PATH",
    "HOME",
    "LC_ALL",
    "NVM_DIR",
    "GOPATH",
    "CARGO_HOME",
    "PYTHONPATH",
    "npm_config_registry",
    "HTTPS_PROXY",
    "SSH_AUTH_SOCK",
    "GITHUB_ACTIONS",
  ]);
  expect([...Object.keys(variables), ...withheld].toSorted()).toEqual(Object.keys(environment).toSorted());
});

test("a name in full passes whatever it holds, a family passes without credentials, set adds", () => {
  const { variables, withheld } = commandEnvironment(
    { AWS_REGION: "eu", AWS_SECRET_ACCESS_KEY: "x", GITHUB_TOKEN: "x", OTHER: "1" },
    { pass: ["AWS_*", "GITHUB_TOKEN"], set: { MODE: "test" } },
  );
  expect({ variables, withheld }).toEqual({
    variables: { AWS_REGION: "eu", GITHUB_TOKEN: "x", MODE: "test" },
    withheld: ["AWS_SECRET_ACCESS_KEY", "OTHER"],
  });
});

test("no variable with the name of a credential gets through by a family", () => {
  const word = fc.constantFrom("NODE", "CARGO", "GO", "X", "NPM", "DB", "GITHUB");
  const credential = fc.constantFrom("TOKEN", "API_KEY", "SECRET", "PASSWORD", "AUTH_TOKEN", "ACCESS_KEY_ID");
  fc.assert(
    fc.property(word, credential, fc.string(), (first, second, value) => {
      const name = `${first}_${second}`;
      expect(commandEnvironment({ [name]: value }, { pass: [`${first}*`] }).variables).toEqual({});
    }),
  );
});

test.each([
  ["OPENAI_API_KEY", true],
  ["db_password", true],
  ["npm_config__authToken", true],
  ["AWS_ACCESS_KEY_ID", true],
  ["CLIENT_SECRET", true],
  ["DD_APP_KEY", true],
  ["X-Api-Key", true],
  ["GITHUB_PAT", true],
  ["MAX_TOKENS", false],
  ["TOKENIZERS_PARALLELISM", false],
  ["GOOGLE_APPLICATION_CREDENTIALS_FILE", false],
  ["SSH_AUTH_SOCK", false],
  ["PUBLIC_KEY", false],
  ["KEYBOARD", false],
  ["MONKEY", false],
  ["AUTHOR", false],
  ["PASSENGER_APP_ENV", false],
  ["TOKEN_URL", false],
])("%s names a credential: %s", (name, expected) => {
  expect(isCredentialName(name)).toBe(expected);
});
