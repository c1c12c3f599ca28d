import { expect, test } from "vitest";
import type { AgentEvent } from "../core/agent/event.ts";
import { createRedaction } from "../permission/secrets/create-redaction.ts";
import { PieceRedaction } from "./piece-redaction.ts";

const KEY = `ghp_${"aB3dE6gH9jK2".repeat(3)}`;

function shown(text: string, size: number, wrap = (event: AgentEvent): AgentEvent => event): string {
  const pieces = new PieceRedaction(createRedaction({ secrets: [] }));
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
