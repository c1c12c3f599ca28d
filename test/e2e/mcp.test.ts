import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import { isAlive, until } from "../faults/until.ts";
import { type FaultPlan, TOOL_COUNT } from "../mcp/faulty-server.ts";
import { stdioCommand } from "../mcp/server-room.ts";
import { tempFolder } from "../temp-folder.ts";
import { type CommandEnd, modelServer, runCommand, serverEnv, startCommand } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

const config = (servers: { readonly [name: string]: object }): string =>
  JSON.stringify({ mcpServers: servers });
const scripted = (plan: FaultPlan = {}, more: object = {}): string =>
  config({ s: { ...stdioCommand(plan), ...more } });

function toolsOf(body: unknown): readonly string[] {
  const { tools } = body as { readonly tools: readonly { readonly function: { readonly name: string } }[] };
  return tools.map((tool) => tool.function.name);
}

/** Names of the tools of a server in each request. */
function offered(server: ScriptedServer): readonly (readonly string[])[] {
  return server.requests.map(({ body }) => toolsOf(body).filter((name) => /^(mcp__|find_tools)/.test(name)));
}

/** What the calls of a run ended with, in order. */
function results({ stdout }: CommandEnd): readonly string[] {
  return checkedLines(stdout).flatMap((line) =>
    line.type === "user"
      ? line.message.content.map((block) => (block.type === "tool_result" ? String(block.content) : ""))
      : [],
  );
}

test("tools of a server that is new are found in the first run, and stand in the first request of the next", async () => {
  const home = tempFolder();
  const flags = ["-p", "--json", "--mcp-config", scripted(), "--allowed-tools", "mcp__s__*", "go"];
  const first = await modelServer([
    calls("find_tools", { query: "echo" }),
    calls("mcp__s__echo", { text: "hello" }),
    says("done"),
  ]);
  const one = await runCommand(flags, { env: { ...serverEnv(first), HOME: home }, cwd: tempFolder({}) });
  const second = await modelServer([calls("mcp__s__echo", { text: "again" }), says("done")]);
  const two = await runCommand(flags, { env: { ...serverEnv(second), HOME: home }, cwd: tempFolder({}) });
  const [init] = checkedLines(one.stdout);
  expect([one.code, one.stderr, two.code, two.stderr]).toEqual([0, "", 0, ""]);
  expect(init).toMatchObject({ mcp_servers: [{ name: "s", status: "pending" }] });
  expect([results(one).at(-1), results(two)]).toEqual(['{"text":"hello"}', ['{"text":"again"}']]);
  const [before, later] = [offered(first), offered(second)];
  expect([
    before[0],
    before[1]?.[0],
    later[0]?.includes("mcp__s__echo"),
    later[0]?.includes("find_tools"),
  ]).toEqual([["find_tools"], "find_tools", true, false]);
  // What comes late comes last.
  const names = first.requests.map(({ body }) => (body as { readonly tools: readonly object[] }).tools);
  expect(names[1]?.slice(0, names[0]?.length)).toEqual(names[0]);
});

test("prompts of a server are commands: at once where they are known, and once its server runs where they are not", async () => {
  const home = tempFolder();
  const prompts = [{ name: "greet", description: "Greets", arguments: [{ name: "who", required: true }] }];
  const given = config({ s: stdioCommand({ prompts }), hangs: stdioCommand({ start: "hangs" }) });
  const flags = ["-p", "--json", "--mcp-config", given];
  const asked = async (prompt: string) => {
    const server = await modelServer([calls("find_tools", { query: "echo" }), says("done")]);
    const end = await runCommand([...flags, prompt], {
      env: { ...serverEnv(server), HOME: home },
      cwd: tempFolder({}),
    });
    const [init] = checkedLines(end.stdout);
    const commands = init?.type === "system" && "slash_commands" in init ? init.slash_commands : [];
    return { ...end, commands, said: JSON.stringify(server.requests[0]?.body ?? "") };
  };
  const first = await asked("/mcp__s__greet Ann Lee");
  const second = await asked("/mcp__s__greet Bob");
  const third = await asked("/mcp__s__nothing");
  expect([first.code, first.commands, second.code, second.commands, third.code]).toEqual([
    0,
    [],
    0,
    ["mcp__s__greet"],
    2,
  ]);
  expect(first.said).toContain('greet with {\\"who\\":\\"Ann Lee\\"}');
  expect(second.said).toContain('greet with {\\"who\\":\\"Bob\\"}');
  expect(third.stderr).toContain("There is no command /mcp__s__nothing. Commands: /mcp__s__greet.");
});

test("a prompt of a server that does not start is not sent, and says why", async () => {
  const given = config({ s: stdioCommand({ start: "refuses" }) });
  const { code, stderr } = await runCommand(["-p", "--mcp-config", given, "/mcp__s__greet"], {
    env: serverEnv(await modelServer([])),
    cwd: tempFolder({}),
  });
  expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([
    2,
    expect.stringContaining("/mcp__s__greet did not work: The MCP server s is not available: not today"),
  ]);
});

test("a server's hint that a tool only reads allows nothing", async () => {
  const plan = {
    tools: [{ name: "peek", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }],
  };
  const server = await modelServer([
    calls("find_tools", { query: "peek" }),
    calls("mcp__s__peek"),
    says("done"),
  ]);
  const end = await runCommand(["-p", "--json", "--mcp-config", scripted(plan), "go"], {
    env: serverEnv(server),
    cwd: tempFolder({}),
  });
  expect([end.code, results(end)[1]]).toEqual([3, expect.stringMatching(/not approved/)]);
});

test("a project's servers wait for trust, and other definitions go on", async () => {
  const home = tempFolder();
  const cwd = tempFolder({ ".mcp.json": scripted() });
  const steps = (): Parameters<typeof modelServer>[0] => [says("done")];
  const [first, second] = [await modelServer(steps()), await modelServer(steps())];
  const before = await runCommand(["-p", "--json", "go"], { env: { ...serverEnv(first), HOME: home }, cwd });
  await runCommand(["trust", "--yes"], { env: { HOME: home }, cwd });
  const after = await runCommand(["-p", "--json", "go"], { env: { ...serverEnv(second), HOME: home }, cwd });
  const servers = [before, after].map(({ stdout }) => {
    const [init] = checkedLines(stdout);
    return init?.type === "system" && "mcp_servers" in init ? init.mcp_servers : [];
  });
  expect([servers, before.stderr.includes(".mcp.json: MCP server s"), after.stderr]).toEqual([
    [[], [{ name: "s", status: "pending" }]],
    true,
    "",
  ]);
});

test("only the servers of --mcp-config count with --strict-mcp-config, and a broken one costs itself alone", async () => {
  const home = tempFolder({ ".config/nano-agent/config.json": config({ mine: { command: "x" } }) });
  const given = config({ s: stdioCommand({}), broken: { command: "${NOT_SET}" } });
  const server = await modelServer([says("done")]);
  const { code, stdout, stderr } = await runCommand(
    ["-p", "--json", "--strict-mcp-config", "--mcp-config", given, "go"],
    { env: { ...serverEnv(server), HOME: home }, cwd: tempFolder({}) },
  );
  const [init] = checkedLines(stdout);
  expect([code, init]).toMatchObject([
    0,
    {
      mcp_servers: [
        { name: "broken", status: "failed" },
        { name: "s", status: "pending" },
      ],
    },
  ]);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    'the MCP server broken needs the variable NOT_SET in "command", which is not set',
  );
});

test("many tools wait behind find_tools, unless the settings say otherwise", async () => {
  const tools = Array.from({ length: 40 }, (_, at) => ({
    name: `tool_${at}`,
    inputSchema: { type: "object" },
  }));
  const home = tempFolder();
  const flags = ["-p", "--json", "--mcp-config", scripted({ tools }), "go"];
  const run = async (folder: string): Promise<readonly (readonly string[])[]> => {
    const server = await modelServer([calls("find_tools", { query: "tool_7" }), says("done")]);
    await runCommand(flags, { env: { ...serverEnv(server), HOME: home }, cwd: folder });
    return offered(server);
  };
  const cwd = tempFolder({});
  await run(cwd);
  const deferred = await run(cwd);
  mkdirSync(join(home, ".config/nano-agent"), { recursive: true });
  writeFileSync(join(home, ".config/nano-agent/config.json"), '{"mcp":{"defer":false}}');
  expect([deferred, (await run(cwd))[0]?.length]).toEqual([
    [["find_tools"], ["find_tools", "mcp__s__tool_7"]],
    TOOL_COUNT + 40,
  ]);
});

test.each<[string, readonly string[], object]>([
  ["one tool", ["--disallowed-tools", "mcp__s__echo"], {}],
  ["a server by its name", [], { deny: ["mcp__s"] }],
  ["the tools of a server", [], { deny: ["mcp__s__*"] }],
  ["bash, whatever its command", ["--disallowed-tools", "bash(*)"], { deny: ["mcp__s__e*"] }],
])(
  "a tool that is denied as a whole is not offered, found or called: %s",
  async (_what, flags, permissions) => {
    const home = tempFolder({ ".config/nano-agent/config.json": JSON.stringify({ permissions }) });
    const all = ["-p", "--json", "--mcp-config", scripted(), "--allowed-tools", "mcp__s__*", ...flags, "go"];
    // The first run learns of the tools, the second knows them.
    const run = async (): Promise<readonly [ScriptedServer, CommandEnd]> => {
      const server = await modelServer([
        calls("find_tools", { query: "echo" }),
        calls("mcp__s__echo", { text: "hello" }),
        says("done"),
      ]);
      return [
        server,
        await runCommand(all, { env: { ...serverEnv(server), HOME: home }, cwd: tempFolder({}) }),
      ];
    };
    const [first, second] = [await run(), await run()];
    const said = [first, second].flatMap(([server]) => server.requests.map(({ body }) => toolsOf(body)));
    const forbidden = flags.includes("bash(*)") ? ["mcp__s__echo", "bash"] : ["mcp__s__echo"];
    expect([
      said.flat().filter((name) => forbidden.includes(name)),
      [first, second].map(([, end]) => results(end).some((each) => each.includes("hello"))),
      [first, second].map(([, end]) => results(end)[0]?.includes("mcp__s__echo")),
    ]).toEqual([[], [false, false], [false, false]]);
  },
);

test("secrets that a server was given do not come back through its results", async () => {
  const secret = "hunter2hunter2hunter2";
  const given = scripted({}, { env: { API_KEY: secret } });
  const server = await modelServer([
    calls("find_tools", { query: "echo" }),
    calls("mcp__s__echo", { text: `it is ${secret}` }),
    says("done"),
  ]);
  const end = await runCommand(
    ["-p", "--json", "--mcp-config", given, "--allowed-tools", "mcp__s__echo", "go"],
    {
      env: serverEnv(server),
      cwd: tempFolder({}),
    },
  );
  expect([end.code, results(end)[1]?.includes(secret)]).toEqual([0, false]);
});

test("nothing of a server is left when the agent is killed, however stubborn the server is", async () => {
  const folder = tempFolder();
  const pids = join(folder, "pids");
  const stubborn = {
    command: "sh",
    args: ["-c", `echo $$ >> '${pids}'; exec "$0" "$@" 2>> '${pids}'`, ...words({ stubborn: true })],
  };
  const server = await modelServer([
    calls("find_tools", { query: "echo" }),
    calls("mcp__s__hangs"),
    says("done"),
  ]);
  const running = startCommand(
    ["-p", "--json", "--mcp-config", config({ s: stubborn }), "--allowed-tools", "mcp__s__*", "go"],
    { env: serverEnv(server), cwd: tempFolder({}) },
  );
  await running.says('"name":"mcp__s__hangs"');
  const left = (): readonly number[] =>
    (readFileSync(pids, "utf8").match(/^(?:child )?\d+$/gm) ?? []).map((line) =>
      Number(line.replace("child ", "")),
    );
  expect([left().length, left().every(isAlive)]).toEqual([2, true]);
  running.child.kill("SIGKILL");
  await until(() => !left().some(isAlive));
});

function words(plan: FaultPlan): readonly string[] {
  const { command, args } = stdioCommand(plan);
  return [command, ...args];
}

test("a run ends its servers, also the stubborn ones", async () => {
  const pids = join(tempFolder(), "pids");
  const stubborn = {
    command: "sh",
    args: ["-c", `echo $$ >> '${pids}'; exec "$0" "$@" 2>> '${pids}'`, ...words({ stubborn: true })],
  };
  const server = await modelServer([calls("find_tools", { query: "echo" }), says("done")]);
  const { code } = await runCommand(["-p", "--mcp-config", config({ s: stubborn }), "go"], {
    env: serverEnv(server),
    cwd: tempFolder({}),
  });
  const left = readFileSync(pids, "utf8").match(/\d+$/gm) ?? [];
  expect([code, left.length]).toEqual([0, 2]);
  await until(() => !left.map(Number).some(isAlive));
});

test.each<[readonly string[], number, string]>([
  [["--mcp-config", '{"mcpServers":7}'], 2, 'has no object "mcpServers"'],
  [["--mcp-config", "{oops"], 2, "--mcp-config is not valid JSON"],
  [["--mcp-config", "nowhere.json"], 2, "there is no such file"],
])("%j is refused before anything runs", async (flags, code, message) => {
  const end = await runCommand(["-p", ...flags, "go"], { cwd: tempFolder({}) });
  expect([end.code, end.stderr.replaceAll(/\s+/g, " ")]).toEqual([code, expect.stringContaining(message)]);
});
