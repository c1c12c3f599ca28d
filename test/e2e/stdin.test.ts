import { expect, test } from "vitest";
import { textOf } from "../../src/core/message/message.ts";
import { says } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import { tempFolder } from "../temp-folder.ts";
import { type CommandOptions, modelServer, runCommand, serverEnv } from "./command.ts";

interface ChatBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | Parameters<typeof textOf>[0];
  }[];
}

/** The text of the first user message the server got. */
function promptSeen(server: ScriptedServer, request = 0): string | undefined {
  const body = server.requests[request]?.body as ChatBody | undefined;
  const message = body?.messages.filter(({ role }) => role === "user").at(-1);
  return message === undefined ? undefined : textOf(message.content);
}

async function promptOf(args: readonly string[], options: CommandOptions = {}): Promise<string | undefined> {
  const server = await modelServer([says("ok")]);
  const end = await runCommand(args, { ...options, env: serverEnv(server) });
  expect(end).toEqual({ code: 0, stdout: "ok\n", stderr: "" });
  return promptSeen(server);
}

test("words are joined to a prompt", async () => {
  expect(await promptOf(["-p", "say", "hello", "--", "-x"])).toBe("say hello -x");
});

test("piped text stands before the prompt", async () => {
  expect(await promptOf(["-p", "explain"], { stdin: "line one\nline two\n" })).toBe(
    "<stdin>\nline one\nline two\n</stdin>\n\nexplain",
  );
});

test("piped text alone is the prompt, without -p too", async () => {
  expect(await promptOf([], { stdin: "what is this?" })).toBe("what is this?");
});

test("- reads the prompt from standard input", async () => {
  expect(await promptOf(["-p", "-"], { stdin: "the whole prompt" })).toBe("the whole prompt");
});

test("@file reads the prompt from a file", async () => {
  const cwd = tempFolder({ "prompt.md": "From the file." });
  expect(await promptOf(["-p", "@prompt.md"], { cwd })).toBe("From the file.");
});

test("stream-json input answers each message in one conversation, with one result each", async () => {
  const server = await modelServer([says("one"), says("two")]);
  const stdin = [
    { type: "user", message: { role: "user", content: "first \u2028 line" } },
    { type: "user", message: { role: "user", content: [{ type: "text", text: "second" }] } },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("\n");
  const args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
  const end = await runCommand(args, { env: serverEnv(server), stdin });
  const results = end.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly type: string; readonly result?: string })
    .filter(({ type }) => type === "result");
  expect({ code: end.code, results: results.map(({ result }) => result) }).toEqual({
    code: 0,
    results: ["one", "two"],
  });
  expect([promptSeen(server, 0), promptSeen(server, 1)]).toEqual(["first \u2028 line", "second"]);
  server.assertFinished();
});

test("one word goes on with a conversation, also one that would be taken for a command at its start", async () => {
  const server = await modelServer([says("Half of it."), says("The rest.")]);
  const state = tempFolder();
  const place = { cwd: tempFolder(), env: { ...serverEnv(server), XDG_STATE_HOME: state } };
  await runCommand(["-p", "Write it"], place);
  const { code, stdout } = await runCommand(["-p", "-c", "continue"], place);
  expect([code, stdout, promptSeen(server, 1)]).toEqual([0, "The rest.\n", "continue"]);
});

test.each([
  [["-p"], "", "There is no prompt, and standard input is empty"],
  [["-p", "-"], "  \n", "Standard input is empty"],
  [["-p", "  "], undefined, "The prompt is empty"],
  [["-p", "go"], "bin\0ary", "Standard input is not text"],
  [["-p", "-", "word"], "x", '"-" reads the whole prompt'],
  [["-p", "--json", "--input-format", "stream-json"], "nonsense\n", "Line 1 of standard input is not JSON"],
])("%j with %j on standard input is refused", async (args, stdin, message) => {
  const server = await modelServer([]);
  const end = await runCommand(args, { env: serverEnv(server), ...(stdin === undefined ? {} : { stdin }) });
  expect(end.code).toBe(2);
  expect(end.stderr).toContain(message);
  expect(server.requests).toEqual([]);
});
