import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { z } from "zod";
import type { PersonInput } from "../../src/patterns/user-agent.ts";
import { UserAgent } from "../../src/patterns/user-agent.ts";
import { all, eventTypes, lines } from "./conversation.ts";

/** A person with prepared answers, who notes what they were asked. */
function person(...answers: readonly string[]): { readonly asked: string[]; readonly input: PersonInput } {
  const asked: string[] = [];
  return {
    asked,
    input: (question) => {
      asked.push(question);
      const answer = answers[asked.length - 1];
      if (answer === undefined) throw new Error("the person has no more answers");
      return answer;
    },
  };
}

test("what a run is given is the question, what the person says is the answer, and the conversation goes on", async () => {
  const { asked, input } = person("Blue.", "Because of the sky.");
  const agent = new UserAgent({ input, name: "ann" });
  const events = await all(agent.stream("Which colour?"));
  expect(eventTypes(events)).toEqual([
    "run_start",
    "user_message",
    "turn_start",
    "text_delta",
    "assistant_message",
    "run_end",
    "done",
  ]);
  const result = await agent.run("Why?");
  expect(asked).toEqual(["Which colour?", "Why?"]);
  expect(result).toMatchObject({ text: "Because of the sky.", stopReason: "completed", cost: 0 });
  expect(lines(result.messages)).toEqual([
    "user: Which colour?",
    "assistant: Blue.",
    "user: Why?",
    "assistant: Because of the sky.",
  ]);
  expect(events[0]).toMatchObject({ model: "person/ann" });
});

test("without an input the person is asked what they want, or what they have observed", async () => {
  const { asked, input } = person("hi", "yes");
  const agent = new UserAgent({ input, prompt: "您想问什么？" });
  await agent.run();
  await agent.observe("bot: shall we?");
  await agent.run();
  expect(asked).toEqual(["您想问什么？", "bot: shall we?"]);
});

test("answers can come from a queue, and an answer that comes after an abort is not lost", async () => {
  const late = Promise.withResolvers<string>();
  async function* queue(): AsyncGenerator<string> {
    yield "one";
    yield await late.promise;
  }
  const agent = new UserAgent({ input: queue() });
  expect((await agent.run("a?")).text).toBe("one");
  const stop = new AbortController();
  const run = agent.run("b?", {
    signal: stop.signal,
    onEvent: (event) => {
      if (event.type === "turn_start") stop.abort();
    },
  });
  expect((await run).stopReason).toBe("aborted");
  late.resolve("two");
  expect((await agent.run("c?")).text).toBe("two");
  expect(await agent.run("d?")).toMatchObject({ stopReason: "error", error: { code: "aborted" } });
});

test("answers can come from a line reader", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const reader = createInterface({ input, output });
  const agent = new UserAgent({ input: reader });
  const run = agent.run("Name?");
  const [question] = (await once(output, "data")) as [Buffer];
  input.write("Ann\n");
  expect([(await run).text, String(question)]).toEqual(["Ann", "Name?\n> "]);
  reader.close();
});

test("with a schema each field is asked for; required ones cannot be skipped, and what does not fit is asked again", async () => {
  const schema = z.object({
    name: z.string().describe("Your name"),
    age: z.number().int().min(0),
    colour: z.enum(["red", "blue"]),
    member: z.boolean(),
    tags: z.array(z.string()).optional(),
    note: z.string().optional(),
    home: z.object({ city: z.string() }),
  });
  const { asked, input } = person("", "Ann", "old", "-1", "30", "BLUE", "是", "a, b", "", "Oslo");
  const result = await new UserAgent({ input }).run("Who are you?", { schema });
  expect(result).toMatchObject({
    stopReason: "structured_output",
    output: { name: "Ann", age: 30, colour: "blue", member: true, tags: ["a", "b"], home: { city: "Oslo" } },
  });
  const typed: string | undefined = result.output?.home.city;
  expect(typed).toBe("Oslo");
  expect(asked.map((question) => question.split("\n").at(-1))).toEqual([
    "name: Your name (string)",
    "name: Your name (string)",
    "age (integer)",
    "age (integer)",
    "age (integer)",
    "colour (red | blue)",
    "member (boolean)",
    "tags (array, optional)",
    "note (string, optional)",
    "home.city (string)",
  ]);
  expect([asked[0], asked[1]]).toEqual([
    "Who are you?\nname: Your name (string)",
    "This field is required.\nname: Your name (string)",
  ]);
});

test("a value whose fields fit but which is refused as a whole is asked for again, with the reason", async () => {
  const schema = z
    .object({ from: z.number(), to: z.number() })
    .refine(({ from, to }) => from < to, "from must be before to");
  const { asked, input } = person("2", "1", "1", "2");
  const result = await new UserAgent({ input }).run("Range?", { schema });
  expect([result.output, asked[2]?.includes("from must be before to")]).toEqual([{ from: 1, to: 2 }, true]);
});

test("a schema that is not an object is one question", async () => {
  const { input } = person("7");
  expect((await new UserAgent({ input }).run("How many?", { schema: { type: "integer" } })).output).toBe(7);
});

test("twenty answers of no use end the run instead of asking forever", async () => {
  let asked = 0;
  const agent = new UserAgent({ input: () => (asked++, "") });
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] } as const;
  const result = await agent.run("go", { schema });
  expect([result.stopReason, result.error?.code, asked]).toEqual(["error", "invalid_response", 20]);
});

test("a person who throws ends the run as an error; an input that cannot be asked is refused", async () => {
  expect(await new UserAgent({ input: person().input }).run("go")).toMatchObject({
    stopReason: "error",
    error: { message: "the person has no more answers" },
  });
  expect(() => new UserAgent({ input: null as never })).toThrow("input is null: pass a function");
});

test("lines that a pipe writes all at once answer one question after the other", async () => {
  const stdin = new PassThrough();
  const reader = createInterface({ input: stdin, output: new PassThrough() });
  const first = new UserAgent({ input: reader });
  const second = new UserAgent({ input: reader });
  const closed = once(reader, "close");
  stdin.end("Ann\nBerlin\nblue\n");
  await closed;
  const answers = [await first.run("Name?"), await second.run("Town?"), await first.run("Colour?")];
  expect(answers.map(({ text }) => text)).toEqual(["Ann", "Berlin", "blue"]);
  expect(await first.run("More?")).toMatchObject({ stopReason: "error", error: { code: "aborted" } });
});
