import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { z } from "zod";
import { UserAgent } from "../../src/index.ts";

test("a person is told field by field what does not fit, in words and not in patterns", async () => {
  const answers = ["abc", "3.5", "42", "someone", "ann@example.org", "null", ""];
  const asked: string[] = [];
  const person = new UserAgent({
    input: (question) => {
      asked.push(question);
      return answers.shift() ?? "";
    },
  });
  const schema = z.object({
    age: z.number().int(),
    mail: z.email(),
    born: z.iso.date().nullable(),
    note: z.string().default("none"),
  });
  const { output } = await person.run("Who are you?", { schema });
  expect(output).toEqual({ age: 42, mail: "ann@example.org", born: null, note: "none" });
  expect(asked).toEqual([
    "Who are you?\nage (integer)",
    "expected integer, got string\nage (integer)",
    "expected integer, got 3.5\nage (integer)",
    "mail (string, email)",
    'must be written in the format "email"\nmail (string, email)',
    "born (string | null)",
    'note (string, optional, without an answer "none")',
  ]);
});

test("a terminal that is closed while a question stands ends the run", async () => {
  const input = new PassThrough();
  const reader = createInterface({ input, output: new PassThrough() });
  const person = new UserAgent({ input: reader });
  const run = person.run("How are you?", { onEvent: ({ type }) => type === "turn_start" && input.end() });
  const [{ stopReason, error }] = await Promise.all([run, once(reader, "close")]);
  expect([stopReason, error?.message]).toEqual([
    "error",
    "The person's input ended before there was an answer.",
  ]);
});

test("an input that answers with something else than text says so", async () => {
  const { error } = await new UserAgent({ input: (() => 5) as never }).run("How many?");
  expect(error?.message).toBe(
    "The input of the person answered with number: return the text that was typed.",
  );
});
