import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv, startCommand } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

const PDF = "---\nname: pdf\ndescription: Use for PDF files.\n---\nOpen $ARGUMENTS.\n";

test("the user's skill is offered, loaded, and what it speaks of can be read from anywhere", async () => {
  const home = tempFolder({ ".agents/skills/pdf/SKILL.md": PDF, ".agents/skills/pdf/more.md": "Details." });
  const server = await modelServer([
    calls("skill", { name: "pdf", arguments: "x.pdf" }),
    calls("read", { path: join(home, ".agents/skills/pdf/more.md") }),
    calls("read", { path: join(home, "other.md") }),
    says("done"),
  ]);
  const { code, stdout } = await runCommand(["-p", "--json", "go"], {
    env: { ...serverEnv(server), HOME: home },
    cwd: tempFolder({}),
  });
  const lines = checkedLines(stdout);
  expect(lines[0]).toMatchObject({ skills: ["pdf"], tools: expect.arrayContaining(["skill"]) as unknown });
  const results = lines.flatMap((line) =>
    line.type === "user"
      ? line.message.content.map((block) => (block.type === "tool_result" ? String(block.content) : ""))
      : [],
  );
  expect(results).toEqual([
    expect.stringContaining("# Skill pdf\n\nOpen x.pdf.\n"),
    expect.stringContaining("Details."),
    expect.stringContaining("not approved"),
  ]);
  expect(code).toBe(3);
});

test("a definition that cannot be used is told, and the run continues without it it", async () => {
  const cwd = tempFolder({
    ".claude/agents/bad.md": "---\nname: [\n---\nx",
    ".claude/skills/bad/SKILL.md": "x",
  });
  const server = await modelServer([says("done")]);
  const { code, stdout, stderr } = await runCommand(["-p", "go"], { env: serverEnv(server), cwd });
  expect([code, stdout]).toEqual([0, "done\n"]);
  expect(stderr.split("\n")).toEqual([
    expect.stringMatching(/bad\/SKILL\.md: names no skill: add name: to its front matter$/),
    expect.stringMatching(/bad\.md: the front matter is not YAML, line /),
    "",
  ]);
});

test("agents list and skills list show what there is, where it comes from, and what is wrong", async () => {
  const cwd = tempFolder({
    ".claude/agents/explore.md": "---\ndescription: Mine.\ntools: Read, Nothing\n---\nLook.",
    ".agents/skills/pdf/SKILL.md": PDF,
    ".agents/skills/bad/SKILL.md": "x",
  });
  const agents = await runCommand(["agents", "list"], { cwd });
  expect([agents.code, agents.stdout.split("\n").slice(-3)]).toEqual([
    0,
    ["explore  Mine.", `    project: ${join(cwd, ".claude/agents/explore.md")}`, ""],
  ]);
  expect(agents.stderr).toMatch(/note: .*explore\.md: there is no tool "Nothing"/);
  const skills = await runCommand(["skills", "list", "--json"], { cwd });
  expect(JSON.parse(skills.stdout)).toEqual({
    skills: [
      {
        name: "pdf",
        description: "Use for PDF files.",
        origin: "project",
        path: join(cwd, ".agents/skills/pdf/SKILL.md"),
        forModel: true,
      },
    ],
    findings: [
      {
        path: join(cwd, ".agents/skills/bad/SKILL.md"),
        level: "fault",
        message: "names no skill: add name: to its front matter",
      },
    ],
  });
  const none = await runCommand(["skills"], { cwd: tempFolder({}) });
  const wrong = await runCommand(["agents", "show"], { cwd });
  expect([none.stdout.split(".")[0], wrong.code]).toEqual(["There are no skills", 2]);
});

test("what an extension throws in a timer or a promise of its own is told once, and the run goes on", async () => {
  const cwd = tempFolder({});
  const home = tempFolder({
    ".config/nano-agent/extensions/poll.ts": `
      export default (agent: { tool(tool: object): void }): void => {
        let ticks = 0;
        const lost = async (): Promise<void> => { await null; throw new Error("no answer"); };
        agent.tool({
          name: "wait", description: "Waits.", inputSchema: { type: "object", properties: {} }, readOnly: true,
          execute: () => new Promise((resolve) => {
            const timer = setInterval(() => {
              if (++ticks < 3) throw new Error("tick " + ticks);
              clearInterval(timer);
              void lost();
              setImmediate(resolve, "waited");
            }, 1);
          }),
        });
      };`,
  });
  const server = await modelServer([calls("wait"), says("done")]);
  const { code, stdout, stderr } = await runCommand(["-p", "--allowed-tools", "wait", "go"], {
    env: { ...serverEnv(server), HOME: home },
    cwd,
  });
  const path = join(home, ".config/nano-agent/extensions/poll.ts");
  expect([code, stdout, stderr.split("\n")]).toEqual([
    0,
    "done\n",
    [
      `nano-agent: the extension poll.ts failed outside a call: tick 1 The run continues. Catch in ${path} what its timers and promises throw, or remove it`,
      "",
    ],
  ]);
});

test("a promise of an extension that is rejected before it waits ends nothing either", async () => {
  const stray = (name: string, use: string): string => `
    const report = async () => { throw new Error("${name} is not there"); };
    export default (agent) => { ${use} };`;
  const tool = `{ name: "look", description: "Looks.", readOnly: true, execute: () => { void report(); return "looked"; } }`;
  const home = tempFolder({
    ".config/nano-agent/extensions/hook.mjs": stray("hook", 'agent.hook("PreToolUse", () => void report());'),
    ".config/nano-agent/extensions/load.mjs": stray("load", "void report();"),
    ".config/nano-agent/extensions/tool.mjs": stray("tool", `agent.tool(${tool});`),
  });
  const server = await modelServer([calls("look"), says("done")]);
  const { code, stdout, stderr } = await runCommand(["-p", "--allowed-tools", "look", "go"], {
    env: { ...serverEnv(server), HOME: home },
    cwd: tempFolder({}),
  });
  const told = stderr.match(/\w+\.mjs failed outside a call: \w+ is not there/g)?.toSorted();
  expect({ code, stdout, told }).toEqual({
    code: 0,
    stdout: "done\n",
    told: ["hook", "load", "tool"].map((name) => `${name}.mjs failed outside a call: ${name} is not there`),
  });
});

test("what nobody's extension threw ends the program as ever", async () => {
  const preload = tempFolder({ "stray.mjs": 'setImmediate(() => { throw new Error("not yours"); });' });
  const server = await modelServer([says("done")]);
  const { code, stderr } = await runCommand(["-p", "go"], {
    env: { ...serverEnv(server), NODE_OPTIONS: `--import=${join(preload, "stray.mjs")}` },
    cwd: tempFolder({}),
  });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/stray\.mjs:1\n[^]*Error: not yours\n +at /)]);
});

test("an extension imports the package that runs it, wherever it lies, and adds what defineTool made", async () => {
  const extension = (from: string): string => `
    import { defineTool } from ${JSON.stringify(from)};
    import { applyEdits } from "nano-agent/tools";
    export default (agent) => {
      const execute = ({ text }) => applyEdits(text, [{ old_string: "a", new_string: "b" }]).after;
      const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
      agent.tool(defineTool({ name: "turn", description: "Turns a into b.", parameters, execute }));
    };`;
  const home = tempFolder({
    ".config/nano-agent/extensions/bad.mjs": extension("nano-agent/none"),
    ".config/nano-agent/extensions/good.mjs": extension("nano-agent"),
  });
  const server = await modelServer([calls("turn", { text: "cat" }), says("done")]);
  const { code, stderr } = await runCommand(["-p", "--allowed-tools", "turn", "go"], {
    env: { ...serverEnv(server), HOME: home },
    cwd: tempFolder({}),
  });
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('bad.mjs is not used: nano-agent has no entry "nano-agent/none".'),
  ]);
  expect(JSON.stringify(server.requests[1]?.body)).toContain("cbt");
});

test("an extension of either system of modules gets an entry of the package later too, and Node warns of nothing", async () => {
  const tool = (name: string, load: string): string =>
    `agent.tool({ name: "${name}", description: "Looks.", execute: async () => "${name} " + typeof (${load}).says });`;
  const imported = 'await import("nano-agent/testing")';
  const home = tempFolder({
    ".config/nano-agent/package.json": '{ "dependencies": {} }',
    ".config/nano-agent/node_modules/beside/index.js": `exports.later = () => require("nano-agent/testing");`,
    ".config/nano-agent/extensions/a.ts": `  import type { ExtensionApi } from "nano-agent/extension"; export default (agent: ExtensionApi): void => { ${tool("a", imported)} };`,
    ".config/nano-agent/extensions/b.js": `const text = "\\\nexport default 1";\n/*\n import nothing\n*/ const { defineTool } = require("nano-agent");
      module.exports = (agent) => { ${tool("b", 'require("nano-agent/testing")')} };`,
    ".config/nano-agent/extensions/c/index.js": `import { later } from "./more.js";\nexport default (agent) => { ${tool("c", "await later()")} };`,
    ".config/nano-agent/extensions/c/more.js": `export const later = () => import("nano-agent/testing");`,
    ".config/nano-agent/extensions/d.js": `const { later } = require("beside");
      module.exports = (agent) => { ${tool("d", "later()")} };`,
  });
  const names = ["a", "b", "c", "d"];
  const server = await modelServer([names.map((name) => calls(name, {}, name)), says("done")]);
  const { code, stderr } = await runCommand(["-p", "--allowed-tools", "a,b,c,d", "go"], {
    env: { ...serverEnv(server), HOME: home },
    cwd: tempFolder({}),
  });
  expect([code, stderr]).toEqual([0, ""]);
  const told = JSON.stringify(server.requests[1]?.body);
  expect(names.filter((name) => !told.includes(`"${name} function"`))).toEqual([]);
});

test("a package of this name that is installed beside an extension is the one it gets, without an entry too", async () => {
  const home = tempFolder({
    ".config/nano-agent/node_modules/nano-agent/package.json":
      '{ "name": "nano-agent", "type": "module", "exports": "./own.js" }',
    ".config/nano-agent/node_modules/nano-agent/own.js": "export const mine = 'own';",
    ".config/nano-agent/extensions/good.mjs":
      'import { mine } from "nano-agent"; export default (agent) => { agent.status(() => mine); };',
    ".config/nano-agent/extensions/bad.mjs": 'import "nano-agent/testing"; export default () => {};',
  });
  const { stdout, stderr } = await runCommand(["extensions", "list"], {
    env: { HOME: home },
    cwd: tempFolder({}),
  });
  expect(stderr).toMatch(/bad\.mjs is not used: Package subpath '\.\/testing' is not defined/);
  expect(stdout).toMatch(/^good\.mjs\n/);
});

const NOISY = `
  import { stdout } from "node:process";
  console.log("noise of the load");
  export default (agent: { tool(tool: object): void }): void => {
    agent.tool({
      name: "noise", description: "Prints.", inputSchema: { type: "object", properties: {} }, readOnly: true,
      execute: () => new Promise((resolve, reject) => {
        console.info("noise of the tool");
        stdout.write("noise of the stream");
        setTimeout(() => { setImmediate(resolve, "printed"); process.exit(0); });
      }),
    });
    agent.tool({
      name: "leave", description: "Leaves.", inputSchema: { type: "object", properties: {} }, readOnly: true,
      execute: () => process.exit(0),
    });
  };`;

/** What each mode of the command that speaks a protocol is told, in lines; the last answer it has to give. */
const PROTOCOLS: readonly {
  readonly args: readonly string[];
  readonly says: (cwd: string) => readonly object[];
  readonly answer: string;
}[] = [
  {
    args: ["-p", "--input-format", "stream-json", "--output-format", "stream-json"],
    says: () => [{ type: "user", message: { role: "user", content: "go" } }],
    answer: '"subtype":"success"',
  },
  {
    args: ["mcp", "serve"],
    says: () => [
      {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
      },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "run", arguments: { prompt: "go" } } },
    ],
    answer: '"structuredContent":',
  },
  {
    args: ["acp"],
    says: (cwd) => [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } },
      { jsonrpc: "2.0", id: 2, method: "session/new", params: { cwd, mcpServers: [] } },
    ],
    answer: '"sessionId":',
  },
];

test.each(PROTOCOLS)(
  "what an extension prints never gets into the protocol: $args",
  async ({ args, says: told, answer }) => {
    const home = tempFolder({ ".config/nano-agent/extensions/noisy.ts": NOISY });
    const server = await modelServer([calls("noise"), calls("leave"), says("done")]);
    const cwd = tempFolder({});
    const running = startCommand([...args, "--allowed-tools", "noise,leave"], {
      env: { ...serverEnv(server), HOME: home },
      cwd,
      stdin: told(cwd)
        .map((message) => `${JSON.stringify(message)}\n`)
        .join(""),
      holdStdin: true,
    });
    await running.says(answer);
    running.child.stdin?.end();
    const { code, stdout, stderr } = await running.end;
    for (const line of stdout.trimEnd().split("\n")) expect(JSON.parse(line)).toBeTypeOf("object");
    expect([code, stderr]).toEqual([0, expect.stringContaining("noise of the load")]);
  },
);

test("an extension that calls process.exit has that call fail, and the run ends as it should", async () => {
  const home = tempFolder({ ".config/nano-agent/extensions/noisy.ts": NOISY });
  const server = await modelServer([calls("noise"), calls("leave"), says("done")]);
  const { code, stdout, stderr } = await runCommand(
    ["-p", "--json", "--allowed-tools", "noise,leave", "go"],
    {
      env: { ...serverEnv(server), HOME: home },
      cwd: tempFolder({}),
    },
  );
  const results = checkedLines(stdout).flatMap((line) =>
    line.type === "user"
      ? line.message.content.map((block) => block.type === "tool_result" && block.content)
      : [],
  );
  expect([code, results]).toEqual([0, ["printed", expect.stringContaining("It called process.exit(0)")]]);
  expect(stderr).toMatch(
    /noise of the load\nnoise of the tool\nnoise of the stream.*noisy\.ts failed outside a call/s,
  );
});
