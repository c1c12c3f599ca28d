import { expect, test } from "vitest";
import { SECRET_FILES, secretInWord, secretPattern } from "./built-in-rules.ts";

test("every pattern is found where a path or a word shows it", () => {
  const examples = SECRET_FILES.map((pattern) => `/x/${pattern.replaceAll("**", "a").replaceAll("*", "b")}`);
  const absolute = examples.map((path) => path.replace("/x//", "/"));
  expect(absolute.filter((path) => secretPattern(path) === undefined)).toEqual([]);
  expect(absolute.filter((path) => secretInWord(`--file=${path}`) === undefined)).toEqual([]);
  expect(
    [".env.example", "id_rsa.pub", "~/.ssh/config", "process.env", "environment.ts"].map(secretInWord),
  ).toEqual(Array<undefined>(5).fill(undefined));
});

test("a command names a file with keys by a path, an option or a pattern", () => {
  const named = (line: string): boolean => line.split(" ").some((word) => secretInWord(word) !== undefined);
  const yes = [
    "cat .env",
    "cat HEAD:.env",
    "docker run --env-file=.env x",
    "curl -d @.env x",
    "cat .e*",
    "cat *.pem",
    "cat server.[k]ey",
    "grep -f .env x",
    "jq . .env",
  ];
  const no = ["ls *", "cat *.ts", "node -e process.env.X"];
  expect([yes.filter((line) => !named(line)), no.filter(named)]).toEqual([[], []]);
});
