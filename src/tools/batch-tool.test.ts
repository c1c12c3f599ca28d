import { describe, expect, test } from "vitest";
import { tool } from "../../test/scenarios/conversation.ts";
import { Agent } from "../agent/agent.ts";
import { textOf } from "../core/message/message.ts";
import type { Tool, ToolAccess, ToolContext, ToolResult } from "../core/tool/tool.ts";
import { errorResult } from "../core/tool/tool-output.ts";
import { calls, says } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { createBatchTool } from "./batch-tool.ts";

type Answer = (name: string, input: object) => Promise<ToolResult> | ToolResult;

/** Runs a batch whose calls are answered by `answer`. */
async function batch(input: object, answer: Answer): Promise<ToolResult> {
  const { execute } = createBatchTool();
  const context: ToolContext = {
    signal: new AbortController().signal,
    sessionId: "session",
    context: undefined,
    transcriptId: "session",
    callId: "call",
    idempotencyKey: "key",
    cwd: "",
    update: () => undefined,
    callTool: async (name, given) => answer(name, given),
    listTools: () => [],
    runAgent: () => Promise.reject(new Error("no subagents here")),
  };
  return (await execute?.(input as never, context)) as ToolResult;
}

const call = (name: string, input: object = {}): object => ({ tool: name, input });
const withoutTimes = (result: ToolResult): string => textOf(result.content).replace(/\d+ ms/g, "T");

describe("batch", () => {
  test("reports every call in order, with its whole output", async () => {
    const result = await batch({ calls: [call("a", { n: 1 }), call("b")] }, (name, input) =>
      name === "a" ? { content: `got ${JSON.stringify(input)}\n${"x".repeat(2000)}` } : errorResult("no b"),
    );
    expect([withoutTimes(result), result.isError, result.title, result.metadata]).toEqual([
      `1 of 2 calls succeeded.\n\n[1. a: ok, T]\ngot {"n":1}\n${"x".repeat(2000)}\n\n[2. b: failed, T]\nError: no b`,
      false,
      "1 of 2 calls succeeded",
      {
        calls: [
          { tool: "a", ok: true, durationMs: expect.any(Number) },
          { tool: "b", ok: false, durationMs: expect.any(Number) },
        ],
      },
    ]);
  });

  test("is an error when every call failed, also when a tool throws", async () => {
    const { isError, content } = await batch({ calls: [call("a"), call("b")] }, (name) => {
      if (name === "a") throw new Error("broken");
      return errorResult("no");
    });
    expect([isError, textOf(content).includes("Error: broken")]).toEqual([true, true]);
  });

  test.each([
    ["no calls", { calls: [] }, "Error: calls is empty; pass 1 to 10 calls."],
    [
      "too many calls",
      { calls: Array(11).fill(call("a")) },
      "Error: 11 calls in one batch; pass at most 10. Nothing was run.",
    ],
  ])("refuses %s before anything runs", async (_name, input, message) => {
    const result = await batch(input, () => {
      throw new Error("ran");
    });
    expect([result.content, result.isError]).toEqual([message, true]);
  });

  test("refuses a batch inside, and input that is not an object, without touching the others", async () => {
    const inner = [call("batch", { calls: [] }), { tool: "a", input: "x" }, call("a")];
    expect(withoutTimes(await batch({ calls: inner }, () => ({ content: "ok" })))).toBe(
      "1 of 3 calls succeeded.\n\n[1. batch: failed, T]\nError: A batch cannot hold a batch; put its calls into this one.\n\n" +
        "[2. a: failed, T]\nError: input of a is not an object; pass its arguments as one.\n\n[3. a: ok, T]\nok",
    );
  });

  test("keeps short results whole and cuts only the long ones when there is too much", async () => {
    const sizes = [100, 60_000, 60_000];
    const { content } = await batch({ calls: sizes.map((size) => call("a", { size })) }, (_name, input) => ({
      content: "é".repeat(sizes.find((size) => JSON.stringify(input).includes(`:${size}}`)) ?? 0),
    }));
    const parts = textOf(content).split(/\n\n\[\d\. a: ok, \d+ ms\]\n/);
    expect([parts[1], parts.length, Buffer.byteLength(textOf(content)) < 50_000]).toEqual([
      "é".repeat(100),
      4,
      true,
    ]);
  });

  test("hands images on in their place", async () => {
    const image = { type: "image", source: { type: "url", url: "https://x.test/a.png" } } as const;
    const { content } = await batch({ calls: [call("a"), call("b")] }, (name) =>
      name === "a" ? { content: [{ type: "text", text: "see" }, image] } : { content: "text" },
    );
    expect(
      Array.isArray(content) && content.map((block) => (block.type === "text" ? "text" : block)),
    ).toEqual(["text", image, "text"]);
  });

  test("runs calls together that do not conflict, and the others in order", async () => {
    const log: string[] = [];
    const traced = (name: string, access: ToolAccess): Tool =>
      tool(name, {
        access,
        execute: async () => {
          log.push(`+${name}`);
          await new Promise((resolve) => setImmediate(resolve));
          log.push(`-${name}`);
        },
      });
    const inner = [call("free"), call("free"), call("alone"), call("free")];
    const agent = new Agent({
      model: new ScriptedModel([calls("batch", { calls: inner }), says("end")]),
      tools: [traced("free", "none"), traced("alone", "exclusive"), createBatchTool()],
    });
    await agent.run("go");
    expect(log).toEqual(["+free", "+free", "-free", "-free", "+alone", "-alone", "+free", "-free"]);
  });

  test("touches what its calls touch", () => {
    const known: { readonly [name: string]: ToolAccess } = {
      free: "none",
      looks: "read_all",
      reads: { read: ["/a"] },
      writes: { write: ["/b"] },
      alone: "exclusive",
    };
    const { access } = createBatchTool();
    const of = (...names: readonly string[]): unknown =>
      typeof access === "function" &&
      access({ calls: names.map((name) => call(name)) } as never, {
        cwd: "",
        accessOf: (name) => known[name] ?? "none",
      });
    expect([
      of("free"),
      of("free", "reads", "writes"),
      of("looks", "reads"),
      of("looks", "writes"),
      of("alone"),
    ]).toEqual(["none", { read: ["/a"], write: ["/b"] }, "read_all", "exclusive", "exclusive"]);
  });

  test("a call inside passes the same gate as any other, and a refusal is its result", async () => {
    const model = new ScriptedModel([
      calls("batch", { calls: [call("look", { at: "a" }), call("change", {}), call("nothing")] }),
      says("done"),
    ]);
    const asked: string[] = [];
    const result = await new Agent({
      model,
      tools: [createBatchTool(), tool("look"), tool("change")],
      permission: {
        check: ({ name, parentCallId }) => {
          asked.push(`${name} in ${parentCallId ?? "nothing"}`);
          return name === "change" ? { action: "deny", reason: "Nothing may change." } : { action: "allow" };
        },
      },
    }).run("go");
    model.assertFinished();
    const text = JSON.stringify(result.messages).replace(/\d+ ms/g, "T");
    expect([
      asked,
      text.includes('[1. look: ok, T]\\nlook {\\"at\\":\\"a\\"}'),
      text.includes("[2. change: failed, T]"),
      text.includes("Nothing may change."),
      text.includes("[3. nothing: failed, T]"),
    ]).toEqual([["batch in nothing", "look in call_1", "change in call_1"], true, true, true, true]);
  });
});
