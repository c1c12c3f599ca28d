import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { EventHooks } from "../command-hooks/event-hooks.ts";
import { extensionFiles } from "./extension-files.ts";
import { type LoadedExtension, loadExtensions } from "./load-extensions.ts";

async function load(files: { readonly [name: string]: string }): Promise<{
  readonly extensions: readonly LoadedExtension[];
  readonly problems: readonly string[];
}> {
  const path = tempFolder(files);
  const problems: string[] = [];
  const onFailure = (message: string): number => problems.push(message);
  const found = extensionFiles([{ path, origin: "user" }]);
  const { extensions, findings } = await loadExtensions(found, { cwd: "/w", onFailure });
  problems.unshift(...findings.map(({ message }) => message));
  return { extensions, problems };
}

test("a .js file is an extension too, in either system of modules", async () => {
  const { extensions, problems } = await load({
    "esm.js": "export default (agent) => { agent.status(() => 'esm'); };",
    "cjs.js": "module.exports = (agent) => { agent.status(() => 'cjs'); };",
    "kit/index.js": "export default (agent) => { agent.status(() => 'kit'); };",
    "types.d.mts": "export {}",
  });
  expect([extensions.map(({ name }) => name), problems]).toEqual([["cjs.js", "esm.js", "kit"], []]);
});

test("a pipe with the name of an extension holds nothing up", () => {
  const path = tempFolder({ "good.mjs": "" });
  execFileSync("mkfifo", [join(path, "pipe.js")]);
  expect(extensionFiles([{ path, origin: "user" }]).map(({ name }) => name)).toEqual(["good.mjs"]);
});

test("a TypeScript file is loaded as it is, and everything it registers is there", async () => {
  const { extensions, problems } = await load({
    "all.ts": `
      interface Greeting { readonly name: string }
      export default (agent: { tool(tool: object): void; [key: string]: any }) => {
        agent.tool({
          name: "greet", description: "Greets.",
          inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
          execute: ({ name }: Greeting) => "Hello " + name + " in " + agent.cwd,
        });
        agent.tool({ name: "plain", description: "As defineTool takes it.", parameters: { type: "object", properties: {} }, execute: () => "ok" });
        agent.command({ name: "hi", description: "Says hi", run: (args: string) => "Say hi to " + args });
        agent.provider({ name: "mine", wire: "openai_chat", baseUrl: "http://127.0.0.1:9/v1" });
        agent.hook("PreToolUse", () => ({ decision: "ask" }), { matcher: "bash" });
        agent.status(() => "ready");
      };`,
    "kit/index.mjs": "export default async (agent) => { agent.status(() => 'kit'); };",
    "kit/other.mjs": "throw new Error('not an entry');",
    "types.d.ts": "export {}",
    "note.md": "x",
  });
  const [all, kit] = extensions;
  const context = { callId: "1" } as never;
  expect([
    problems,
    extensions.map(({ name }) => name),
    await (all?.tools[0]?.execute as ((input: never, context: never) => unknown) | undefined)?.(
      { name: "Eve" } as never,
      context,
    ),
    all?.tools.map(({ name, schema }) => [name, schema.jsonSchema["type"]]),
    await all?.commands[0]?.run("Eve", context),
    all?.providers.map(({ name }) => name),
    all?.hooks.map(({ event, matcher }) => [event, matcher]),
    [...(all?.statuses ?? []), ...(kit?.statuses ?? [])].map((status) => status()),
  ]).toEqual([
    [],
    ["all.ts", "kit"],
    "Hello Eve in /w",
    [
      ["greet", "object"],
      ["plain", "object"],
    ],
    "Say hi to Eve",
    ["mine"],
    [["PreToolUse", "bash"]],
    ["ready", "kit"],
  ]);
});

test("a wire is named with a dash or an underscore, as models and settings name it", async () => {
  const provider = (wire: string) =>
    `export default (a) => a.provider({ name: "x", wire: "${wire}", baseUrl: "http://x.example" })`;
  const { extensions } = await load({ "a.mjs": provider("openai-chat"), "b.mjs": provider("openai_chat") });
  const wires = extensions.flatMap(({ providers }) => providers.map(({ wire }) => wire));
  expect(wires).toEqual(["openai_chat", "openai_chat"]);
});

test.each([
  ["throw new Error('boom')", "boom"],
  ["export const x = 1", "no default export that is a function"],
  ["export default () => { throw new Error('late boom'); }", "late boom"],
  ["export default (a) => a.tool({ name: 'a b', description: '' })", "a b"],
  ["export default (a) => a.hook('PreTolUse', () => {})", 'no event "PreTolUse"'],
  ["export default (a) => a.command({ name: 'x' })", "needs a description and a function run"],
  ["export default (a) => a.provider({ name: 'x', wire: 'smtp', baseUrl: 'x' })", "needs a wire"],
  ["export default (a) => a.tool(null)", "The tool is null; it must be an object"],
  ["export default (a) => a.command()", "The command is undefined; it must be an object"],
  ["export default (a) => a.provider('x')", 'The provider is "x"; it must be an object'],
  ["export default (a) => a.hook('Stop', () => {}, null)", "The third argument of hook\\(\\) is null"],
  ["export default (a) => a.status('text')", 'The status item is "text"; it must be a function'],
  ["import 'no-such-package-anywhere'; export default () => {}", "no-such-package-anywhere"],
  ["export default (", "not used"],
])("%j counts as a whole for nothing and is told by name", async (text, problem) => {
  const { extensions, problems } = await load({ "bad.mjs": text, "good.mjs": "export default () => {}" });
  expect([extensions.map(({ name }) => name), problems]).toEqual([
    ["good.mjs"],
    [expect.stringMatching(new RegExp(`bad\\.mjs[\\s\\S]*${problem}`))],
  ]);
});

test.each([
  ["its function never answers", "export default () => new Promise(() => {});"],
  ["its module never loads", "await new Promise(() => {}); export default () => {};"],
])("one is not waited for beyond its time: %s", async (_what, text) => {
  const clock = new FakeClock();
  const path = tempFolder({ "bad.mjs": text, "good.mjs": "export default () => {}" });
  const options = { cwd: "/w", onFailure: () => undefined, clock };
  const loading = loadExtensions(extensionFiles([{ path, origin: "user" }]), options);
  await clock.untilSleeping();
  await clock.advance(10_000);
  const { extensions, findings } = await loading;
  expect([extensions.map(({ name }) => name), findings.map(({ message }) => message)]).toEqual([
    ["good.mjs"],
    ["the extension bad.mjs is not used: it took longer than 10 s"],
  ]);
});

test("one that fails later is told once and switched off", async () => {
  const { extensions, problems } = await load({
    "late.mjs": `export default (agent) => {
      agent.hook("Stop", () => { throw new Error("boom"); });
      agent.status(() => "still here");
    };`,
  });
  const [late] = extensions;
  const commonInput = () => ({ session_id: "s", transcript_path: "", cwd: "/", permission_mode: "default" });
  const hooks = new EventHooks({
    commands: [],
    handlers: late?.hooks ?? [],
    surroundings: () => ({ cwd: "/", env: {} }),
    commonInput,
  });
  const before = late?.statuses[0]?.();
  const first = await hooks.fire("Stop");
  const second = await hooks.fire("Stop");
  expect([before, late?.statuses[0]?.(), first.problems, second.problems, problems]).toEqual([
    "still here",
    undefined,
    [],
    [],
    ["the extension late.mjs failed and is switched off: boom"],
  ]);
});

test("a schema under a name of another library is no tool that is made already: the name to use is told", async () => {
  const { problems } = await load({
    "other.mjs":
      "export default (agent) => agent.tool({ name: 'x', description: 'd', schema: { type: 'object' }, execute() {} });",
  });
  expect(problems).toEqual([expect.stringContaining('Tool "x" has schema, which is parameters here')]);
});
