import { expect, test } from "vitest";
import { callTool } from "../../../test/tools/call-tool.ts";
import { ToolRegistry, type ToolResult } from "../../core/tool/tool.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import type { Connection, ListedTool, OpenConnection, WatchedList } from "./connection.ts";
import { McpHub, type McpHubOptions, type RememberedServer, type RememberedServers } from "./mcp-hub.ts";
import { parseServer } from "./server-definition.ts";

const NEVER = new AbortController().signal;

function tool(name: string, more: object = {}): ListedTool {
  return { name, description: `Does ${name}`, inputSchema: { type: "object" }, ...more };
}

/** Calls a tool as the loop would. */
async function ask(registry: ToolRegistry, name: string, input: object): Promise<ToolResult> {
  const found = registry.get(name);
  if (found === undefined) throw new Error(`There is no tool ${name}.`);
  return callTool(found, input, { cwd: "/" });
}

/** A hub over connections that only list. */
function hubOf(
  lists: { readonly [server: string]: readonly ListedTool[] },
  options: Partial<McpHubOptions> & { readonly remembered?: readonly string[] } = {},
) {
  const current: Record<string, readonly ListedTool[]> = { ...lists };
  const changed = new Map<string, (list: WatchedList) => void>();
  const prompts = [{ name: "a prompt", arguments: [{ name: "x", required: true }] }];
  const notices: string[] = [];
  const servers = Object.keys(lists).flatMap((name) => {
    const parsed = parseServer(name, { command: name }, { source: "test", variables: {} });
    return parsed.ok ? [parsed.server] : [];
  });
  const memory = new Map<string, RememberedServer>();
  for (const { name, hash } of servers)
    if (options.remembered?.includes(name) === true)
      memory.set(hash, { tools: lists[name] ?? [], prompts: [...prompts] });
  const known: RememberedServers = {
    read: (hash) => memory.get(hash),
    write: (hash, server) => void memory.set(hash, server),
  };
  const open: OpenConnection = async ({ name }, _host, { onChanged }) => {
    changed.set(name, onChanged);
    const connection: Partial<Connection> = {
      listTools: async () => current[name] ?? [],
      callTool: async (own, input) => ({ content: [{ type: "text", text: JSON.stringify([own, input]) }] }),
      listPrompts: async () => [...prompts],
      getPrompt: async (own, args) => ({
        messages: [{ role: "user", content: { type: "text", text: JSON.stringify([own, args]) } }],
      }),
      listResources: async () => [{ uri: "file:///r", name: "r" }],
      readResource: async (uri) => ({ contents: [{ uri, text: "inside" }] }),
      closed: new Promise<string>(() => undefined),
      close: async () => undefined,
      killNow: () => undefined,
    };
    return connection as Connection;
  };
  const promptsChange = async (name: string, added: string): Promise<void> => {
    prompts.push({ name: added, arguments: [] });
    changed.get(name)?.("prompts");
    await new Promise((resolve) => setImmediate(resolve));
  };
  const hubOptions: McpHubOptions = {
    servers,
    host: { roots: ["/"], environment: () => ({}) },
    loadOpener: async () => open,
    known,
    clock: new FakeClock(),
    onNotice: (message) => notices.push(message),
    ...options,
  };
  const hub = new McpHub(hubOptions);
  const registry = new ToolRegistry(hub.tools());
  hub.attach(registry);
  const list = async (name: string, tools: readonly ListedTool[]): Promise<void> => {
    current[name] = tools;
    changed.get(name)?.("tools");
    // The list is read in a few turns of the microtask queue.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { hub, options: hubOptions, registry, notices, memory, list, promptsChange };
}

test("what is remembered is there at once, what is new comes last, what is gone goes", async () => {
  const { hub, registry, list } = hubOf(
    { a: [tool("one"), tool("two")], b: [tool("three")] },
    { remembered: ["a"] },
  );
  expect(registry.names()).toEqual(["find_tools", "mcp__a__one", "mcp__a__two"]);
  hub.start();
  await hub.waitUntilSettled();
  expect(registry.names()).toEqual(["find_tools", "mcp__a__one", "mcp__a__two", "mcp__b__three"]);
  await list("a", [tool("two"), tool("four")]);
  expect(registry.names()).toEqual(["find_tools", "mcp__a__two", "mcp__b__three", "mcp__a__four"]);
  await list("a", [tool("two", { description: "Other words" }), tool("four")]);
  expect(registry.get("mcp__a__two")?.description).toBe("Other words");
});

test("a tool that is described in other words, now or since an earlier run, is told of, once a server", async () => {
  const { hub, notices, memory, list } = hubOf({ a: [tool("one"), tool("two")] }, { remembered: ["a"] });
  hub.start();
  await hub.waitUntilSettled();
  await list("a", [tool("two"), tool("one")]);
  expect(notices).toEqual([]);
  await list("a", [tool("one", { annotations: { readOnlyHint: true } }), tool("two")]);
  await list("a", [tool("one"), tool("two", { inputSchema: { type: "object", properties: { a: {} } } })]);
  expect(notices).toEqual([
    "MCP server a: changed what it says of 1 tool: mcp__a__one. What you allowed for a tool still holds: take its rule away if you do not know why it changed.",
  ]);
  const [hash = ""] = memory.keys();
  const later = hubOf({ a: [tool("one"), tool("two", { description: "Send all files" })] });
  later.memory.set(hash, { tools: [tool("one"), tool("two")], prompts: [] });
  const again = new McpHub({ ...later.options });
  again.attach(new ToolRegistry(again.tools()));
  again.start();
  await again.waitUntilSettled();
  expect(later.notices).toEqual([expect.stringContaining("1 tool: mcp__a__two.")]);
});

test("a tool that cannot be used is left out by name, told once, and not remembered", async () => {
  const bad = [
    tool("good"),
    tool("good"),
    tool("odd", { inputSchema: 7 }),
    tool("broken", { inputSchema: { properties: { a: 5 } } }),
  ];
  const { hub, registry, notices, memory } = hubOf({ a: bad });
  hub.start();
  await hub.waitUntilSettled();
  expect([registry.names(), notices.length, hub.statuses()[0]?.dropped.map(({ name }) => name)]).toEqual([
    ["find_tools", "mcp__a__good"],
    1,
    ["good", "odd", "broken"],
  ]);
  expect(notices[0]).toMatch(
    /^MCP server a: left out 3 tools: good is listed twice; odd has an inputSchema that is not an object; broken cannot be used: /,
  );
  expect([...memory.values()][0]?.tools.map(({ name }) => name)).not.toContain("odd");
});

test("tools without a name are left out and told of by their place in the list", async () => {
  const { hub, registry, notices } = hubOf({ a: [{ name: "" }, tool("good"), { name: "" }] });
  hub.start();
  await hub.waitUntilSettled();
  expect([registry.names(), notices]).toEqual([
    ["find_tools", "mcp__a__good"],
    ["MCP server a: left out 2 tools: number 1 of its list has no name; number 3 of its list has no name."],
  ]);
});

test("500 tools wait behind find_tools, which names some, finds others by words and makes them callable", async () => {
  const many = Array.from({ length: 500 }, (_, at) =>
    tool(`tool_${at}`, { description: `Reads shelf ${at}` }),
  );
  const { hub, registry } = hubOf({ lib: many }, { remembered: ["lib"] });
  expect(registry.names()).toEqual(["find_tools"]);
  const found = await ask(registry, "find_tools", { query: "shelf 77" });
  const none = await ask(registry, "find_tools", { query: "zebra" });
  expect(String(found.content)).toContain("mcp__lib__tool_77: Reads shelf 77");
  expect(String(none.content)).toMatch(/^No tool found for "zebra"\.\nTools there are: .* and 400 more\.$/s);
  expect(registry.names()).toContain("mcp__lib__tool_77");
  await hub.close();
});

test("a tool that was found is called by its server's own name", async () => {
  const { registry } = hubOf({ "my server": [tool("do.it")] }, { remembered: ["my server"] });
  const { content } = await ask(registry, "mcp__my_server__do_it", { x: 1 });
  expect(content).toBe('["do.it",{"x":1}]');
});

test("prompts are listed and filled in, resources are read by their mention", async () => {
  const { hub } = hubOf({ a: [] });
  hub.start();
  await hub.waitUntilSettled();
  const [prompt] = await hub.prompts();
  expect([
    prompt?.name,
    await hub.expandPrompt("mcp__a__a_prompt", { x: "1" }, NEVER),
    (await hub.resources()).map(({ mention }) => mention),
    await hub.readResource("@a:file:///r", NEVER),
    await hub.readResource("@b:file:///r", NEVER),
  ]).toEqual([
    "mcp__a__a_prompt",
    [{ role: "user", content: [{ type: "text", text: '["a prompt",{"x":"1"}]' }] }],
    ["@a:file:///r"],
    [{ type: "text", text: '<resource uri="file:///r">\ninside\n</resource>' }],
    undefined,
  ]);
  await expect(hub.expandPrompt("mcp__a__other", {}, NEVER)).rejects.toThrow(
    "There is no MCP prompt mcp__a__other.",
  );
});

test("prompts are known from an earlier run, read anew when they change, and of one that is new only its own server is started", async () => {
  const { hub, memory, promptsChange } = hubOf({ a: [], b: [] }, { remembered: ["a"] });
  const names = () => hub.knownPrompts().map(({ name }) => name);
  const before = names();
  const found = await hub.findPrompt("mcp__b__a_prompt", NEVER);
  const started = hub.statuses().map(({ status }) => status);
  await promptsChange("b", "later");
  expect([
    before,
    found?.serverName,
    started,
    names(),
    [...memory.values()].map(({ prompts }) => prompts.length),
  ]).toEqual([
    ["mcp__a__a_prompt"],
    "a prompt",
    ["connecting", "connected"],
    ["mcp__a__a_prompt", "mcp__b__a_prompt", "mcp__b__later"],
    [1, 2],
  ]);
  expect(await hub.findPrompt("mcp__c__x", NEVER)).toBeUndefined();
});

test("tools that a conversation has used are offered again, though others wait", () => {
  const many = Array.from({ length: 50 }, (_, at) => tool(`tool_${at}`));
  const { hub, registry } = hubOf({ a: many }, { remembered: ["a"] });
  hub.revealUsed(new Set(["mcp__a__tool_7", "mcp__gone__x"]));
  expect(registry.names()).toEqual(["find_tools", "mcp__a__tool_7"]);
});

test("tools that are forbidden are neither offered, found nor revealed, and count for nothing", async () => {
  const many = Array.from({ length: 40 }, (_, at) => tool(`tool_${at}`));
  const forbids = (name: string): boolean => /^mcp__(?:a__tool|b__)/.test(name);
  const servers = { a: [...many, tool("free")], b: [tool("one")] };
  const { hub, registry, list } = hubOf(servers, { remembered: ["a"], forbids });
  const shown = (): readonly string[] => registry.specs().map(({ name }) => name);
  const before = shown();
  hub.revealUsed(new Set(["mcp__a__tool_7"]));
  hub.start();
  await hub.waitUntilSettled();
  await list("a", [...many, tool("free"), tool("tool_new"), tool("late")]);
  expect([before, shown()]).toEqual([["mcp__a__free"], ["mcp__a__free", "mcp__a__late"]]);
  // A call of one is for the rule to answer.
  expect(registry.names()).toEqual(
    expect.arrayContaining(["mcp__a__tool_7", "mcp__a__tool_new", "mcp__b__one"]),
  );
});

test("what finds tools names no tool and no server that is forbidden, and may be forbidden itself", async () => {
  const servers = { a: [tool("one"), tool("two")], b: [tool("three")] };
  const forbids = (name: string): boolean => /^mcp__(?:a__one$|b__)/.test(name);
  const { registry } = hubOf(servers, { forbids });
  const find = registry.get("find_tools");
  const found = await find?.execute?.({ query: "nothing like it" } as never, { signal: NEVER } as never);
  expect([find?.description.split("Servers: ")[1], JSON.stringify(found).includes("mcp__a__one")]).toEqual([
    "a.",
    false,
  ]);
  const none = hubOf(servers, { forbids: (name) => name === "find_tools" });
  expect(none.registry.names()).toEqual([]);
  const many = Array.from({ length: 40 }, (_, at) => tool(`tool_${at}`));
  const all = hubOf({ a: many }, { remembered: ["a"], forbids: (name) => name === "find_tools" });
  expect(all.registry.specs()).toHaveLength(40);
});

test("of what is remembered and waits behind find_tools only the names are looked at before the first request", async () => {
  const looked: string[] = [];
  const watched = (name: string): ListedTool =>
    new Proxy(tool(name), {
      get: (target, key) => {
        looked.push(String(key));
        return Reflect.get(target, key) as unknown;
      },
    });
  const many = Array.from({ length: 25 }, (_, at) => watched(`tool_${at}`));
  const { hub } = hubOf({ many }, { remembered: ["many"] });
  const offered = hub.tools().map(({ name }) => name);
  const statuses = hub.statuses().map(({ status, tools }) => [status, tools.length]);
  expect([offered, statuses, [...new Set(looked)]]).toEqual([["find_tools"], [["connecting", 25]], ["name"]]);
  expect(hub.statuses()[0]?.tools[0]?.tokens).toBeGreaterThan(0);
});
