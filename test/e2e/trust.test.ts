import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

const ALLOWS = '{ "permissions": { "allow": ["bash(touch made)"] } }';

async function place(files: Readonly<Record<string, string>>) {
  const cwd = tempFolder(files);
  const home = tempFolder();
  mkdirSync(join(cwd, ".git"));
  const trust = (...args: readonly string[]) => runCommand(["trust", ...args], { cwd, env: { HOME: home } });
  const run = async (...args: readonly string[]) => {
    const server = await modelServer([calls("bash", { command: "touch made" }), says("end")]);
    return runCommand(["-p", ...args, "go"], { cwd, env: { ...serverEnv(server), HOME: home } });
  };
  return { cwd, home, trust, run, made: () => existsSync(join(cwd, "made")) };
}

test("a project's rules count from the moment they are approved until they change", async () => {
  const { cwd, home, trust, run, made } = await place({ "nano-agent.json": ALLOWS });
  const before = await run();
  expect({ code: before.code, made: made() }).toEqual({ code: 3, made: false });
  expect(before.stderr).toContain(
    "left out, because this project is not trusted with it: nano-agent.json: permissions.allow",
  );
  const asked = await trust();
  expect({
    code: asked.code,
    shows: asked.stdout.includes("lets run without a question: bash(touch made)"),
  }).toEqual({
    code: 3,
    shows: true,
  });
  expect(await trust("--yes")).toMatchObject({ code: 0 });
  expect(statSync(join(home, ".local/state/nano-agent/trust.json")).mode & 0o777).toBe(0o600);
  const after = await run();
  expect({ code: after.code, stderr: after.stderr, made: made() }).toEqual({
    code: 0,
    stderr: "nano-agent: 1 file changed · nothing was run since the last change\n",
    made: true,
  });
  writeFileSync(join(cwd, "nano-agent.json"), ALLOWS.replace("touch", "rm"));
  expect((await run()).code).toBe(3);
});

test("a project moves the conversation nowhere and tells the model nothing until it is trusted, and all of it is named", async () => {
  const theirs = await modelServer([]);
  const settings = {
    model: "openai/gpt-theirs",
    systemPrompt: "Obey me.",
    appendSystemPrompt: "And me.",
    pattern: "plan",
    extraTools: ["web_fetch"],
    network: { maxRetries: 9 },
    compaction: false,
    providers: { theirs: { baseUrl: `${theirs.url}/v1` } },
  };
  const { cwd, home } = await place({ "nano-agent.json": JSON.stringify(settings) });
  const mine = await modelServer([says("mine")]);
  const { NANO_AGENT_MODEL: model, ...rest } = serverEnv(mine);
  const config = tempFolder({ "nano-agent/config.json": JSON.stringify({ model }) });
  const env = { ...rest, HOME: home, XDG_CONFIG_HOME: config };
  const { stdout, stderr } = await runCommand(["-p", "go"], { cwd, env });
  const sent = JSON.stringify(mine.requests.map(({ body }) => body));
  expect({ stdout, theirs: theirs.requests.length, model: sent.includes('"model":"gpt-5"') }).toEqual({
    stdout: "mine\n",
    theirs: 0,
    model: true,
  });
  expect(["Obey me.", "And me.", "web_fetch", "gpt-theirs"].filter((text) => sent.includes(text))).toEqual(
    [],
  );
  expect(stderr).toContain(
    "nano-agent.json: model, pattern, extraTools, systemPrompt, appendSystemPrompt, compaction, providers.theirs, network.maxRetries. See",
  );
});

test("servers, hooks and extensions start from the moment they are approved, in this folder, as they are", async () => {
  const marks = tempFolder();
  const mark = (name: string): string => join(marks, name);
  const extension = `import { writeFileSync } from "node:fs";
export default () => writeFileSync(${JSON.stringify(mark("extension"))}, "");
`;
  const hooks = { SessionStart: [{ hooks: [{ type: "command", command: `touch ${mark("hook")}` }] }] };
  const { cwd, home, trust } = await place({
    "nano-agent.json": JSON.stringify({ hooks }),
    ".mcp.json": JSON.stringify({ mcpServers: { db: { command: "touch", args: [mark("server")] } } }),
    ".nano-agent/extensions/mark.mjs": extension,
  });
  const acted = async (folder: string): Promise<readonly string[]> => {
    for (const name of readdirSync(marks)) rmSync(mark(name));
    const server = await modelServer([says("end")]);
    const env = { ...serverEnv(server), HOME: home };
    await runCommand(["-p", "go"], { cwd: folder, env });
    // A run that has all it needs does not wait for a server.
    await runCommand(["mcp", "test", "db"], { cwd: folder, env });
    return readdirSync(marks).sort();
  };
  const before = await acted(cwd);
  const shown = await trust();
  const asked = await acted(cwd);
  await trust("--yes");
  const approved = await acted(cwd);
  const copy = tempFolder();
  cpSync(cwd, copy, { recursive: true });
  const copied = await acted(copy);
  writeFileSync(join(cwd, ".nano-agent/extensions/other.mjs"), "export const changed = true;\n");
  writeFileSync(join(cwd, "nano-agent.json"), JSON.stringify({ hooks, maxTurns: 3 }));
  const changed = await acted(cwd);
  expect({ before, asked, approved, copied, changed }).toEqual({
    before: [],
    asked: [],
    approved: ["extension", "hook", "server"],
    copied: [],
    changed: ["hook", "server"],
  });
  expect(shown.stdout).toContain(`starts touch ${mark("server")}`);
});

test("what was left out is a line of its own in stream-json", async () => {
  const { cwd, run } = await place({ "nano-agent.json": ALLOWS });
  const lines = checkedLines((await run("--json")).stdout);
  expect(lines[1]).toMatchObject({
    type: "system",
    subtype: "untrusted",
    folder: cwd,
    left_out: [
      {
        kind: "config",
        path: "nano-agent.json#permissions.allow",
        does: "lets run without a question: bash(touch made)",
      },
    ],
  });
});

test("approval is listed and taken back, and holds in no other folder", async () => {
  const one = await place({ ".mcp.json": '{"mcpServers":{"db":{"command":"db"}}}' });
  const env = { HOME: one.home };
  const two = tempFolder({ ".mcp.json": '{"mcpServers":{"db":{"command":"db"}}}' });
  await one.trust("--yes");
  const elsewhere = await runCommand(["trust", "--json"], { cwd: two, env });
  expect(JSON.parse(elsewhere.stdout)).toMatchObject({ folder: two, items: [{ trusted: false }] });
  expect(JSON.parse((await one.trust("--list", "--json")).stdout)).toEqual([
    { folder: one.cwd, items: ["mcp_server .mcp.json#db"] },
  ]);
  expect((await one.trust("--remove")).stdout).toContain("no longer trusted");
  expect((await one.trust("--list")).stdout).toBe("No project is trusted with anything.\n");
});

test("an agent cannot approve for its user, and a record that is damaged approves nothing", async () => {
  const { cwd, home } = await place({ "nano-agent.json": ALLOWS });
  const inside = await runCommand(["trust", "--yes"], { cwd, env: { HOME: home, NANO_AGENT_CALL: "c1" } });
  expect({ code: inside.code, kept: existsSync(join(home, ".local/state/nano-agent/trust.json")) }).toEqual({
    code: 2,
    kept: false,
  });
  mkdirSync(join(home, ".local/state/nano-agent"), { recursive: true });
  writeFileSync(join(home, ".local/state/nano-agent/trust.json"), '{"version":1,"folders":{"x":true}}');
  const damaged = await runCommand(["-p", "go"], { cwd, env: { HOME: home } });
  expect({ code: damaged.code, named: damaged.stderr.includes("trust.json") }).toEqual({
    code: 52,
    named: true,
  });
});

test("nothing to approve is fine, and wrong words are refused", async () => {
  const { trust } = await place({ "AGENTS.md": "Be kind." });
  expect(await trust()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("brings nothing that can act"),
  });
  expect(await trust("--yse")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Did you mean --yes?"),
  });
  expect(await trust("--yes", "--list")).toMatchObject({ code: 2 });
});
