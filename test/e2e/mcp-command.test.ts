import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startGuardedServer } from "../mcp/authorization-server.ts";
import { TOOL_COUNT } from "../mcp/faulty-server.ts";
import { stdioCommand } from "../mcp/server-room.ts";
import { tempFolder } from "../temp-folder.ts";
import { type CommandEnd, runCommand } from "./command.ts";

function place() {
  const home = tempFolder();
  const cwd = tempFolder({});
  const mcp = (args: readonly string[], env: object = {}): Promise<CommandEnd> =>
    runCommand(["mcp", ...args], { cwd, env: { HOME: home, ...env } });
  const settings = (): unknown =>
    JSON.parse(readFileSync(join(home, ".config/nano-agent/config.json"), "utf8"));
  return { cwd, mcp, settings };
}

test("servers are added, listed with what they cost, tried and removed", async () => {
  const { mcp, settings } = place();
  const { command, args } = stdioCommand({});
  await mcp(["add", "s", "--env", "A=${HOME}", "--", command, ...args]);
  await mcp([
    "add",
    "web",
    "http://127.0.0.1:1/mcp",
    "--header",
    "X-Key: ${KEY:-none}",
    "--transport",
    "sse",
  ]);
  expect(settings()).toEqual({
    mcpServers: {
      s: { command, args, env: { A: "${HOME}" } },
      web: { type: "sse", url: "http://127.0.0.1:1/mcp", headers: { "X-Key": "${KEY:-none}" } },
    },
  });
  const list = JSON.parse((await mcp(["list", "--json"])).stdout) as { readonly servers: readonly object[] };
  expect(list.servers).toMatchObject([
    { name: "s", status: "connected", given: ["A"] },
    { name: "web", status: "failed", type: "sse", tools: [] },
  ]);
  const ends = [
    await mcp(["list"]),
    await mcp(["get", "s"]),
    await mcp(["test", "s"]),
    await mcp(["test", "s", "echo", '{"text":"hello"}']),
    await mcp(["test", "s", "refuses"]),
    await mcp(["test", "s", "ecko"]),
    await mcp(["test", "web"]),
    await mcp(["remove", "s"]),
    await mcp(["remove", "s"]),
  ];
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0, 1, 1, 1, 0, 1]);
  expect([ends[0]?.stdout, ends[1]?.stdout, ends[2]?.stdout, ends[3]?.stdout]).toEqual([
    expect.stringMatching(/^s {2}connected {2}\d+ tools, about \d+ tokens$/m),
    expect.stringContaining("mcp__s__echo"),
    `s works: ${TOOL_COUNT} tools.\n`,
    '{"text":"hello"}\n',
  ]);
  expect(ends[4]?.stderr).toContain("wrong arguments");
  expect(ends[5]?.stderr).toContain('s has no tool "ecko". Did you mean echo? Its tools: hangs, dies');
});

test("tools that cannot be used are told beside the list, and a server that fails in the list alone", async () => {
  const { mcp } = place();
  const { command, args } = stdioCommand({ tools: [{ name: "odd", inputSchema: 7 }] });
  await mcp(["add", "s", "--", command, ...args]);
  await mcp(["add", "web", "http://127.0.0.1:1/mcp"]);
  const { stdout, stderr } = await mcp(["list"]);
  expect([stderr.trimEnd().split("\n"), /^web {2}failed/m.test(stdout)]).toEqual([
    ["nano-agent: MCP server s: left out 1 tool: odd has an inputSchema that is not an object."],
    true,
  ]);
});

test("a project's servers are kept in .mcp.json and wait for trust", async () => {
  const { cwd, mcp } = place();
  await mcp(["add", "--project", "s", "--", "some-program", "-x"]);
  const { stderr, stdout } = await mcp(["list"]);
  expect([JSON.parse(readFileSync(join(cwd, ".mcp.json"), "utf8")), stdout, stderr]).toEqual([
    { mcpServers: { s: { command: "some-program", args: ["-x"] } } },
    expect.stringContaining("There are no MCP servers."),
    expect.stringContaining("nano-agent trust"),
  ]);
});

test("somebody logs in with a browser, and out", async () => {
  const guarded = await startGuardedServer();
  const { mcp } = place();
  const browser = join(
    tempFolder({ "browser.mjs": "#!/usr/bin/env node\nawait fetch(process.argv[2]);\n" }),
    "browser.mjs",
  );
  const open = join(
    tempFolder({ open: `#!/bin/sh\nexec '${process.execPath}' '${browser}' "$1"\n` }),
    "open",
  );
  chmodSync(open, 0o755);
  await mcp(["add", "g", guarded.url]);
  const before = await mcp(["list"]);
  const login = await mcp(["login", "g"], { BROWSER: open });
  const after = await mcp(["test", "g"]);
  const logout = await mcp(["logout", "g"]);
  expect([before.stdout.split("\n").slice(0, 2), login.stdout, after.stdout, logout.stdout]).toEqual([
    ["g  needs_auth", "    it wants a login: nano-agent mcp login g."],
    "Logged in to g.\n",
    `g works: ${TOOL_COUNT} tools.\n`,
    "Logged out of g.\n",
  ]);
});

test.each<[readonly string[], RegExp]>([
  [["add", "a b", "--", "x"], /"a b" is not a name for a server/],
  [["add", "x"], /needs a URL, or a command after --/],
  [["add", "x", "ftp://y"], /not an http:\/\/ or https:\/\/ address/],
  [["add", "x", "http://y", "--", "z"], /got a URL and a command/],
  [["add", "x", "http://y", "--header", "nonsense"], /--header "nonsense": write NAME: TEXT/],
  [["add", "x", "--header", "a: b", "--", "z"], /--header is for a server at a URL/],
  [["test", "nobody"], /There is no MCP server "nobody" here/],
  [["frobnicate"], /mcp has no "frobnicate"/],
])("mcp %j is refused with what to write", async (args, message) => {
  const { code, stderr } = await place().mcp(args);
  expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([2, expect.stringMatching(message)]);
});
