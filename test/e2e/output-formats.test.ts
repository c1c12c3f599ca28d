import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says, thinks } from "../../src/testing/script.ts";
import { refuses } from "../../src/testing/server-step.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

test("text format prints the answer and nothing else", async () => {
  const server = await modelServer([says("The answer.")]);
  expect(await runCommand(["-p", "question"], { env: serverEnv(server) })).toEqual({
    code: 0,
    stdout: "The answer.\n",
    stderr: "",
  });
  server.assertFinished();
});

test("json format prints one result object", async () => {
  const server = await modelServer([says("The answer.")]);
  const { code, stdout } = await runCommand(["-p", "--output-format", "json", "question"], {
    env: serverEnv(server),
  });
  expect({ code, lines: stdout.split("\n").length }).toEqual({ code: 0, lines: 2 });
  expect(JSON.parse(stdout)).toMatchObject({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "The answer.",
    num_turns: 1,
    permission_denials: [],
  });
});

test("stream-json tells the run in lines of the published schema, tool results in call order", async () => {
  const cwd = tempFolder({ "a.txt": "alpha\n" });
  const server = await modelServer([
    [
      says("Looking."),
      calls("bash", { command: "sleep 0.3; echo slow" }, "slow"),
      calls("read", { path: "a.txt" }, "fast"),
    ],
    says("Done."),
  ]);
  const { code, stdout, stderr } = await runCommand(["-p", "--json", "--yolo", "go"], {
    env: serverEnv(server),
    cwd,
  });
  const lines = checkedLines(stdout);
  expect({ code, stderr, types: lines.map((line) => line.type) }).toEqual({
    code: 0,
    stderr: "",
    types: ["system", "assistant", "user", "user", "assistant", "result"],
  });
  const results = lines.flatMap((line) => (line.type === "user" ? line.message.content : []));
  expect(results).toMatchObject([
    { type: "tool_result", tool_use_id: "slow" },
    { type: "tool_result", tool_use_id: "fast" },
  ]);
  server.assertFinished();
});

test("calls inside a batch are told with the call they belong to", async () => {
  const cwd = tempFolder({ "a.txt": "alpha\n" });
  const server = await modelServer([
    calls("batch", { calls: [{ tool: "read", input: { path: "a.txt" } }] }, "outer"),
    says("Done."),
  ]);
  const { stdout } = await runCommand(["-p", "--json", "go"], { env: serverEnv(server), cwd });
  const parents = checkedLines(stdout).map((line) =>
    "parent_tool_use_id" in line ? line.parent_tool_use_id : undefined,
  );
  expect(parents).toEqual([undefined, null, "outer", "outer", null, null, undefined]);
});

test("partial messages join to the whole answer", async () => {
  const server = await modelServer([[thinks("Hm, let me see."), says("A rather long answer in pieces.")]]);
  const { stdout } = await runCommand(["-p", "--json", "--include-partial-messages", "go"], {
    env: serverEnv(server),
  });
  const lines = checkedLines(stdout);
  const events = lines.flatMap((line) => (line.type === "stream_event" ? [line.event] : []));
  const text = events
    .map((event) => (event["delta"] as { readonly text?: string } | undefined)?.text ?? "")
    .join("");
  expect(text).toBe("A rather long answer in pieces.");
  expect(events[0]?.type).toBe("message_start");
  expect(events.slice(-2).map((event) => event.type)).toEqual(["message_delta", "message_stop"]);
});

test("a retry is told, and the run goes on", async () => {
  const server = await modelServer([refuses(503, "busy"), says("Fine.")]);
  const { code, stdout } = await runCommand(["-p", "--json", "go"], {
    env: { ...serverEnv(server), NANO_AGENT_MAX_RETRIES: "1" },
  });
  const lines = checkedLines(stdout);
  expect({ code, retry: lines[1] }).toMatchObject({
    code: 0,
    retry: { subtype: "api_retry", attempt: 2, error: { code: "provider_error" } },
  });
});

test("a run that cannot begin still has its first and last line", async () => {
  const { code, stdout } = await runCommand(["-p", "--json", "-m", "openai/gpt-5", "go"]);
  expect({ code, lines: checkedLines(stdout) }).toMatchObject({
    code: 41,
    lines: [{ model: null }, { subtype: "error_during_execution", error: { code: "missing_credentials" } }],
  });
});

test("a schema makes the answer a value, on standard output, in the result and in the file", async () => {
  const schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}';
  const cwd = tempFolder({ "schema.json": schema });
  const script = [calls("finish", { n: 7 })];
  const inline = await modelServer(script);
  expect(await runCommand(["-p", "--json-schema", schema, "go"], { env: serverEnv(inline) })).toMatchObject({
    code: 0,
    stdout: '{"n":7}\n',
  });
  const file = await modelServer(script);
  const args = ["-p", "--output-format", "json", "--json-schema", "schema.json", "-o", "answer.txt", "go"];
  const { stdout } = await runCommand(args, { env: serverEnv(file), cwd });
  expect(JSON.parse(stdout)).toMatchObject({ subtype: "success", structured_output: { n: 7 } });
  expect(readFileSync(join(cwd, "answer.txt"), "utf8")).toBe('{"n":7}\n');
});

test.each([
  "anthropic/claude-sonnet-4-5",
  "openai-responses/gpt-5",
  "openai-chat/gpt-5",
  "google/gemini-2.5-pro",
])("%s works end to end", async (model) => {
  const cwd = tempFolder({ "a.txt": "alpha\n" });
  const server = await modelServer([
    [thinks("Hm."), calls("read", { path: "a.txt" })],
    says("It says alpha."),
  ]);
  const env = {
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: `${server.url}/v1`,
    GEMINI_API_KEY: "k",
    GEMINI_BASE_URL: server.url,
  };
  expect(await runCommand(["-p", "-m", model, "what does a.txt say?"], { env, cwd })).toEqual({
    code: 0,
    stdout: "It says alpha.\n",
    stderr: "",
  });
  server.assertFinished();
});
