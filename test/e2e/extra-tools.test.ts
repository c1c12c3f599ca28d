import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { startLoopback } from "../loopback-server.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

const TODOS = [
  { content: "look", status: "completed" },
  { content: "change", status: "in_progress" },
];

test("the todo list is there when it is asked for, by flag or configuration, and needs no permission", async () => {
  for (const [flags, files] of [
    [["--extra-tools", "todo"], {}],
    [[], { "nano-agent/config.json": '{ "extraTools": ["todo"] }' }],
  ] as const) {
    const server = await modelServer([calls("todo", { todos: TODOS }), says("done")]);
    const { code, stdout, stderr } = await runCommand(["-p", "--json", ...flags, "go"], {
      env: { ...serverEnv(server), XDG_CONFIG_HOME: tempFolder(files) },
    });
    const lines = checkedLines(stdout);
    expect([code, stderr, lines[0], lines[2]]).toMatchObject([
      0,
      "",
      { tools: expect.arrayContaining(["todo"]) as unknown },
      { type: "user", message: { content: [{ content: "[1/2]\n[x] look\n[>] change" }] } },
    ]);
    server.assertFinished();
  }
});

test("a name that is not an extra tool is refused with those there are", async () => {
  const cwd = tempFolder({ "nano-agent.json": '{ "extraTools": ["tod"] }' });
  const flag = await runCommand(["-p", "--extra-tools", "tod", "go"], { cwd: tempFolder({}) });
  const file = await runCommand(["-p", "go"], { cwd });
  expect([
    flag.code,
    flag.stderr.split("\n")[0],
    file.code,
    file.stderr.includes('extraTools[0] is "tod"; it must be "todo" or "web_fetch".'),
  ]).toEqual([
    2,
    'nano-agent: --extra-tools "tod": unknown. Did you mean todo? One of: todo, web_fetch.',
    52,
    true,
  ]);
});

test("pages are fetched where the user allows the host, and asked about where not", async () => {
  const pages = await startLoopback([
    (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hi"),
  ]);
  const config = tempFolder({
    "nano-agent/config.json":
      '{ "extraTools": ["web_fetch"], "webFetch": { "privateHosts": ["127.0.0.1"] } }',
  });
  const said = [];
  for (const flags of [["--allowed-tools", "web_fetch(domain:127.0.0.1)"], []]) {
    const server = await modelServer([calls("web_fetch", { url: pages.url }), says("done")]);
    const { code, stdout } = await runCommand(["-p", "--json", ...flags, "go"], {
      env: { ...serverEnv(server), XDG_CONFIG_HOME: config },
      cwd: tempFolder({}),
    });
    const line = checkedLines(stdout)[2];
    const block = line?.type === "user" ? line.message.content[0] : undefined;
    said.push([
      code,
      block?.type === "tool_result" ? String(block.content).replace(/\d+\/\n/, "N/\n") : block,
    ]);
    server.assertFinished();
  }
  await pages.close();
  expect(said).toEqual([
    [0, "URL: http://127.0.0.1:N/\n\n# Hi"],
    [
      3,
      "Error: Tool call was not approved: No rule allows to fetch pages from 127.0.0.1 (--allowed-tools 'web_fetch(domain:127.0.0.1)' would allow it), and there is nobody to ask",
    ],
  ]);
});
