import { expect, test } from "vitest";
import type { AgentEvent } from "../core/agent/entries.ts";
import { createRedaction } from "../permission/secrets/create-redaction.ts";
import { StreamRedactor } from "./presenter.ts";

const KEY = `ghp_${"aB3dE6gH9jK2".repeat(3)}`;

function shown(text: string, size: number, wrap = (event: AgentEvent): AgentEvent => event): string {
  const pieces = new StreamRedactor(createRedaction({ secrets: [] }));
  const all: unknown[] = [];
  for (let at = 0; at < text.length; at += size)
    all.push(pieces.event(wrap({ type: "text_delta", index: 0, text: text.slice(at, at + size) })));
  return all
    .map((event) => /"text":"((?:[^"\\]|\\.)*)"/.exec(JSON.stringify(event) ?? "")?.[1] ?? "")
    .join("");
}

test("a secret that comes in two pieces or more is not shown, in subagents neither", () => {
  for (let size = 1; size < 60; size++) {
    expect(shown(`The key is ${KEY} and no other one\n`, size)).toBe(
      "The key is «redacted:github-token» and no other one\\n",
    );
    const inner = shown(`${KEY} ok `, size, (event) => ({
      type: "subagent",
      callId: "a",
      agent: "b",
      event,
    }));
    expect(inner).toBe("«redacted:github-token» ok ");
  }
});

test("text without secrets comes whole, word by word", () => {
  const text = "One two, three.\n\nfour `five`  six 我们来看一看这个文件。\n";
  for (let size = 1; size < 12; size++) expect(JSON.parse(`"${shown(text, size)}"`)).toBe(text);
});

test("text of a language without blanks comes as it is said", () => {
  expect(shown("我们来看一看这个文", 1)).toBe("我们来看一看这个文");
});

test("a private key in many lines is held back until it ends", () => {
  const body = Array.from({ length: 8 }, (_, at) => `${at}Qx`.repeat(20)).join("\n");
  const key = `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`;
  for (const size of [1, 7, 100]) expect(shown(`See:\n${key}done \n`, size)).not.toContain("Qx1Qx");
});

test("what others write meanwhile does not part a secret from its beginning", () => {
  const pieces = new StreamRedactor(createRedaction({ secrets: [] }));
  const entry = { id: "e", parent: null, time: 0 } as const;
  const note: AgentEvent = { type: "note", kind: "queue", data: null, ...entry };
  const of = (callId: string, event: AgentEvent): AgentEvent => ({
    type: "subagent",
    callId,
    agent: "a",
    event,
  });
  const told: unknown[] = [];
  const tell = (event: AgentEvent): number => told.push(pieces.event(event));
  const [first, second] = [KEY.slice(0, 20), `${KEY.slice(20)} and more `];
  for (const text of [first, second]) {
    tell({ type: "text_delta", index: 0, text });
    tell(note);
    tell(of("one", { type: "text_delta", index: 0, text }));
    tell(of("two", note));
    tell({ type: "tool_update", callId: "three", name: "bash", text });
  }
  const shown = JSON.stringify(told);
  expect([shown.match(/«redacted:github-token» and more /g)?.length, /aB3|dE6|gH9|jK2/.test(shown)]).toEqual([
    3,
    false,
  ]);
});

test("progress of a call comes word by word, its metadata at once, and ends with its result", () => {
  const pieces = new StreamRedactor(createRedaction({ secrets: [] }));
  const update = { type: "tool_update", callId: "c", name: "bash" } as const;
  const metadata = { done: 1 };
  expect([
    pieces.event({ ...update, text: "one tw" }),
    pieces.event({ ...update, text: "o" }),
    pieces.event({ ...update, text: "o", metadata }),
    pieces.event({ ...update, metadata }),
  ]).toEqual([{ ...update, text: "one " }, undefined, { ...update, metadata }, { ...update, metadata }]);
  const result = { type: "tool_result", tool_use_id: "c", content: "two" } as const;
  pieces.event({
    type: "tool_result",
    id: "e",
    parent: null,
    time: 0,
    callId: "c",
    name: "bash",
    status: "ok",
    result,
    durationMs: 0,
  });
  expect(pieces.event({ ...update, text: "three " })).toEqual({ ...update, text: "three " });
});
