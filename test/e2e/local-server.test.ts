import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createCodingSession } from "../../src/coding/session/prepare-coding-session.ts";
import { calls, says } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import { refuses, type ServerStep } from "../../src/testing/server-step.ts";
import { withVariables } from "../hermetic-command.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv, startCommand } from "./command.ts";
import { checkedLines } from "./event-schema.ts";
import { linesIn, obedient, suiteOf, wants } from "./suite-room.ts";

interface LocalServer {
  readonly env: Readonly<Record<string, string>>;
  readonly script: ScriptedServer;
}

/**
 * A llama-server: documents about its model, and answers of a script. A document that is a list is taken one
 * by one.
 */
async function llamaServer(
  steps: readonly ServerStep[],
  documents: { readonly [path: string]: object | readonly number[] } = {},
): Promise<LocalServer> {
  const script = await modelServer(steps);
  const served: { [path: string]: object } = { "/v1/models": models("tiny"), ...documents };
  let asked = 0;
  const server = createServer((request, response) => {
    const { method = "GET", url = "/" } = request;
    if (method === "GET") {
      const found = served[url];
      const status = Array.isArray(found) ? (found[asked++] ?? 200) : found === undefined ? 404 : 200;
      const body = status === 503 ? LOADING : Array.isArray(found) ? models("tiny") : (found ?? {});
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      return;
    }
    // Sends the client to the script, on the same machine but for the port: a redirect would not be followed.
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const version = String(request.headers["anthropic-version"]);
      const headers = { "content-type": "application/json", "anthropic-version": version };
      fetch(`${script.url}${url}`, { method, headers, body: Buffer.concat(chunks) })
        .then(async (answer) => {
          response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
          response.end(await answer.text());
        })
        .catch(() => response.destroy());
    });
  });
  return { script, env: { LLAMACPP_BASE_URL: `${await listening(server)}/v1` } };
}

/** The address of a server that listens until the test is over. */
async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Variables of a machine on which every kind of local server is looked for at the same address. */
async function onlyServer(listener: RequestListener): Promise<Readonly<Record<string, string>>> {
  const url = `${await listening(createServer(listener))}/v1`;
  const kinds = ["OLLAMA", "LMSTUDIO", "LLAMACPP", "VLLM"];
  return Object.fromEntries(kinds.map((kind) => [`${kind}_BASE_URL`, url]));
}

const isDown: RequestListener = (_request, response) =>
  void response.writeHead(503, { "content-type": "text/html" }).end("<html>upstream is down</html>");
const loads: RequestListener = (_request, response) =>
  void response.writeHead(503, { "content-type": "application/json" }).end(JSON.stringify(LOADING));

const LOADING = { error: { code: 503, message: "Loading model", type: "unavailable_error" } };

function models(id: string, meta: object = { n_ctx: 32_768 }): object {
  return { object: "list", data: [{ id, object: "model", meta }] };
}

interface SentRequest {
  readonly max_tokens?: number;
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

function sentBy(script: ScriptedServer, at = 0): SentRequest {
  const { body = {} } = script.requests[at] ?? {};
  return body as SentRequest;
}

function toolsOf(sent: SentRequest): readonly string[] {
  return (sent.tools ?? []).map((tool) => tool.function.name);
}

test("a local server that nobody chose gets no prompt, and it is said how to choose it", async () => {
  const { env, script } = await llamaServer([says("never")]);
  const end = await runCommand(["-p", "my secret"], { env });
  expect(end).toMatchObject({ code: 41, stdout: "" });
  expect(end.stderr).toContain(`The server at ${env["LLAMACPP_BASE_URL"]} has llamacpp/tiny`);
  expect(end.stderr).toContain("-m local");
  expect(script.requests).toEqual([]);
});

test.each([
  ["a flag", ["-m", "local"], {}],
  ["a variable", [], { NANO_AGENT_MODEL: "local" }],
])("it is used when %s says local, and both streams say which it is", async (_how, args, said) => {
  const { env, script } = await llamaServer([says("hello")]);
  const end = await runCommand(["-p", "--json", ...args, "go"], { env: { ...env, ...said } });
  const source = args.length > 0 ? "command line" : "NANO_AGENT_MODEL";
  const [init] = checkedLines(end.stdout);
  expect(end.code).toBe(0);
  expect(init).toMatchObject({
    subtype: "init",
    model: "llamacpp/tiny",
    model_source: expect.stringContaining(`the server at ${env["LLAMACPP_BASE_URL"]}`),
  });
  expect(end.stderr).toBe(
    `nano-agent: model llamacpp/tiny, because of ${source}: the server at ${env["LLAMACPP_BASE_URL"]}\n`,
  );
  expect(sentBy(script).max_tokens).toBeLessThan(32_768);
  expect(sentBy(script).max_tokens).toBeGreaterThan(16_384);
});

test("a model that was named is not told again where nobody looks, and one that a key chose is", async () => {
  const server = await modelServer([says("a"), says("b")]);
  const { NANO_AGENT_MODEL: _model, ...keyed } = serverEnv(server);
  expect(await runCommand(["-p", "go"], { env: serverEnv(server) })).toMatchObject({ code: 0, stderr: "" });
  expect((await runCommand(["-p", "go"], { env: keyed })).stderr).toBe(
    "nano-agent: model openai/gpt-5.5, because of OPENAI_API_KEY\n",
  );
});

test("a server that loads its model is waited for before the first request", async () => {
  const { env } = await llamaServer([says("ready")], { "/v1/models": [503, 503] });
  const end = await runCommand(["-p", "-m", "llamacpp/tiny", "go"], { env });
  expect(end).toMatchObject({ code: 0, stdout: "ready\n" });
  expect(end.stderr).toContain("is loading its model. Waiting for it.");
});

test("small windows have no room for job, batch and task", async () => {
  const { env, script } = await llamaServer([says("ok")], { "/v1/models": models("tiny", { n_ctx: 8_192 }) });
  const end = await runCommand(["-p", "-m", "llamacpp/tiny", "go"], { env });
  expect(end.stderr).toContain("tiny has a window of 8192 tokens: job, batch, task are left out.");
  expect(toolsOf(sentBy(script)).filter((name) => ["job", "batch", "task"].includes(name))).toEqual([]);
  expect(toolsOf(sentBy(script))).toContain("bash");
});

test("a chat template without tools is warned about, and calls as text work all the same", async () => {
  const documents = { "/props": { chat_template: "{{ messages }}" } };
  const { env, script } = await llamaServer(
    [says("plain"), says('Action: bash\nAction Input: {"command": "echo worked"}'), says("done")],
    documents,
  );
  const run = (said: object) =>
    runCommand(["-p", "--yolo", "-m", "llamacpp/tiny", "go"], { env: { ...env, ...said } });
  expect((await run({})).stderr).toContain("has no place for tools");
  const worded = await run({ NANO_AGENT_TOOL_CALLS: "text" });
  expect(worded).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
  expect(sentBy(script, 1).tools).toBeUndefined();
  expect(JSON.stringify(sentBy(script, 2))).toContain("Observation: worked");
  expect((await run({ NANO_AGENT_TOOL_CALLS: "both" })).code).toBe(52);
});

test("what no rule can allow is not offered, and refused when it is called all the same", async () => {
  const server = await modelServer([calls("bash", { command: "ls" }), says("done")]);
  const args = ["-p", "--json", "--yolo", "--disallowed-tools", "bash,edit(src/*)", "go"];
  const end = await runCommand(args, { env: serverEnv(server) });
  const offered = toolsOf(sentBy(server));
  expect([offered.includes("bash"), offered.includes("edit"), end.code]).toEqual([false, true, 3]);
  const [init, ...rest] = checkedLines(end.stdout);
  expect(init).toMatchObject({ tools: offered });
  expect(rest.at(-1)).toMatchObject({ permission_denials: [{ tool_name: "bash" }] });
});

test("the name local is understood wherever a model may be named", async () => {
  const { env, script } = await llamaServer([says("ok"), obedient, obedient, says("fell back")]);
  const checked = await runCommand(["auth", "check", "local"], { env });
  expect(checked).toMatchObject({ code: 0, stdout: "llamacpp/tiny: it answers.\n" });
  const suite = suiteOf({ "one/task.md": "Write one into done.txt.\n", "one/check": wants("one") });
  const output = tempFolder();
  const measured = await runCommand(["eval", suite, "-m", "local", "-o", output, "--yolo"], { env });
  expect([measured.code, linesIn(output).map(({ model }) => model)]).toEqual([0, ["llamacpp/tiny"]]);
  const failing = await modelServer([refuses(404, "no such model")]);
  const cwd = tempFolder();
  await using session = await createCodingSession({
    cwd,
    environment: withVariables({ ...env, ...serverEnv(failing), HOME: tempFolder() }),
    settings: { fallbackModels: ["local"] },
  });
  const { text } = await session.send("go");
  await session.setModel("local");
  expect([text, session.info.model.name]).toEqual(["fell back", "llamacpp/tiny"]);
  expect(script.requests).toHaveLength(4);
});

test("the name local is no model where no local server answers", async () => {
  const variables = ["OLLAMA_BASE_URL", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL"];
  const env = Object.fromEntries(variables.map((name) => [name, "http://127.0.0.1:9/v1"]));
  const { code, stderr } = await runCommand(["auth", "check", "local"], { env });
  expect([code, stderr]).toEqual([41, expect.stringContaining("No local server answers with a model.")]);
});

test("auth check and doctor find the server where its variable says", async () => {
  const { env } = await llamaServer([says("ok")]);
  expect(await runCommand(["auth", "check", "llamacpp"], { env })).toMatchObject({
    code: 0,
    stdout: "llamacpp/tiny: it answers.\n",
  });
  expect((await runCommand(["doctor"], { env })).stdout).toContain(
    `llamacpp: answers at ${env["LLAMACPP_BASE_URL"]}, 1 model`,
  );
  expect((await runCommand(["models", "llamacpp"], { env })).stdout).toContain("llamacpp/tiny");
});

test("a proxy in front of nothing is no local server, for no command", async () => {
  const env = await onlyServer(isDown);
  expect(await runCommand(["-p", "hi"], { env })).toMatchObject({
    code: 41,
    stderr: expect.stringContaining("No model found."),
  });
  expect(await runCommand(["-p", "-m", "local", "hi"], { env })).toMatchObject({
    code: 41,
    stderr: expect.stringContaining("No local server answers"),
  });
  const { code, stdout } = await runCommand(["doctor"], { env });
  expect([code, stdout.includes("answers at"), stdout.includes("Model: No model found.")]).toEqual([
    1,
    false,
    true,
  ]);
});

test("a server that loads its model is waited for by nobody who did not choose it", async () => {
  const env = await onlyServer(loads);
  const end = await runCommand(["-p", "hi"], { env });
  expect(end).toMatchObject({ code: 41, stdout: "" });
  expect(end.stderr).toContain(`The server at ${env["LLAMACPP_BASE_URL"]} (llamacpp) is loading its model`);
  expect(end.stderr).toContain("-m local");
  expect((await runCommand(["auth", "check"], { env })).code).toBe(41);
});

test("doctor and auth check say that the chosen server loads its model, and do not wait", async () => {
  const env = await onlyServer(loads);
  const chosen = { ...env, NANO_AGENT_MODEL: "local" };
  const { code, stdout } = await runCommand(["doctor"], { env: chosen });
  expect(stdout).toContain(`llamacpp: answers at ${env["LLAMACPP_BASE_URL"]}, and is loading its model`);
  expect([code, stdout.includes("(llamacpp) is loading its model.\n    → Try again when it has")]).toEqual([
    1,
    true,
  ]);
  expect((await runCommand(["auth", "check"], { env: chosen })).stderr).toContain("is loading its model");
  const named = await runCommand(["auth", "check", "llamacpp/tiny"], { env });
  expect(named.stdout).toContain("llamacpp/tiny: llamacpp is loading the model");
  expect(named.code).not.toBe(0);
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("doctor ends with the first %s", async (signal, code) => {
  const asked = Promise.withResolvers<undefined>();
  const env = await onlyServer(() => asked.resolve(undefined));
  const { child, end } = startCommand(["doctor"], { env });
  await asked.promise;
  child.kill(signal);
  expect(await end).toMatchObject({ code, stdout: "" });
});
