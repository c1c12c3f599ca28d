import { expect, test } from "vitest";
import { NanoAgentError } from "../base/errors.ts";
import type { Redaction } from "../base/text.ts";
import type { ToolUpdate } from "./tool.ts";
import { redactError, redactResult, redactUpdates } from "./tool-output.ts";

const text = (value: string): string => value.replaceAll("hunter2", "…");
const redaction: Redaction = {
  text,
  stream: () => {
    let held = "";
    return {
      push: (piece) => {
        held += piece;
        return "";
      },
      flush: () => text(held),
    };
  },
};

test("content, title and metadata lose secrets, names in it too; images and the rest stay", () => {
  const image = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "hunter2" },
  } as const;
  const result = {
    content: [{ type: "text", text: "a hunter2" }, image],
    title: "hunter2",
    isError: true,
    metadata: { plain: ["hunter2", 1, { deep: "x hunter2 y" }], "of hunter2": 1 },
  } as const;
  expect(redactResult(redaction, result)).toEqual({
    content: [{ type: "text", text: "a …" }, image],
    title: "…",
    isError: true,
    metadata: { plain: ["…", 1, { deep: "x … y" }], "of …": 1 },
  });
  expect(redactResult(undefined, result)).toBe(result);
});

test("progress that comes in two pieces is looked at as one text, and its rest comes at the end", () => {
  const shown: ToolUpdate[] = [];
  const updates = redactUpdates(redaction, (update) => shown.push(update));
  updates.push({ text: "a hun" });
  updates.push({ text: "ter2 b", metadata: { at: "hunter2" } });
  updates.end();
  expect(shown).toEqual([{ text: "", metadata: { at: "…" } }, { text: "a … b" }]);
});

test("an error keeps its code and what it is about", () => {
  const error = new NanoAgentError("authentication", "no hunter2", {
    details: { key: "hunter2" },
    retryable: true,
  });
  const { code, message, details, retryable } = redactError(redaction, error);
  expect({ code, message, details, retryable }).toEqual({
    code: "authentication",
    message: "no …",
    details: { key: "…" },
    retryable: true,
  });
  const harmless = new NanoAgentError("internal", "nothing");
  expect(redactError(redaction, harmless)).toBe(harmless);
});
