import { describe, expect, it } from "vitest";
import { userMessage } from "../../core/message/message.ts";
import type { Effort } from "../../core/model/model.ts";
import { createGoogleEncoder } from "./encode-google.ts";

function thinkingConfig(modelId: string, effort?: Effort): unknown {
  const encode = createGoogleEncoder({ provider: "google", modelId, baseUrl: "https://h/v1beta" });
  const { body } = encode({ messages: [userMessage("hi")], ...(effort === undefined ? {} : { effort }) });
  return JSON.parse(body).generationConfig?.thinkingConfig;
}

describe("thinkingConfig", () => {
  it.each<[string, Effort, object | undefined]>([
    ["gemini-2.5-flash", "none", { includeThoughts: false, thinkingBudget: 0 }],
    ["gemini-2.5-flash", "medium", { includeThoughts: true, thinkingBudget: 8192 }],
    ["gemini-2.5-flash", "xhigh", { includeThoughts: true, thinkingBudget: 24_576 }],
    ["gemini-2.5-pro", "none", { includeThoughts: false, thinkingBudget: 128 }],
    ["gemini-2.5-pro", "xhigh", { includeThoughts: true, thinkingBudget: 32_768 }],
    ["gemini-2.5-flash-image", "high", undefined],
    ["gemini-2.0-flash", "high", undefined],
    ["gemma-3-27b-it", "high", undefined],
    ["gemini-3-pro-preview", "none", { includeThoughts: false, thinkingLevel: "LOW" }],
    ["gemini-3-pro-preview", "medium", { includeThoughts: true, thinkingLevel: "HIGH" }],
    ["gemini-3.1-pro-preview", "medium", { includeThoughts: true, thinkingLevel: "MEDIUM" }],
    ["gemini-3-flash-preview", "minimal", { includeThoughts: true, thinkingLevel: "MINIMAL" }],
    ["gemini-3.1-flash-lite", "none", { includeThoughts: false, thinkingLevel: "MINIMAL" }],
    ["gemini-3.8-flash", "minimal", { includeThoughts: true, thinkingLevel: "LOW" }],
    ["models/gemini-4-argon", "xhigh", { includeThoughts: true, thinkingLevel: "HIGH" }],
    ["gemini-flash-latest", "low", { includeThoughts: true, thinkingLevel: "LOW" }],
    ["gemini-pro-latest", "high", { includeThoughts: true, thinkingLevel: "HIGH" }],
  ])("of %s at effort %s", (modelId, effort, expected) => {
    expect(thinkingConfig(modelId, effort)).toEqual(expected);
  });

  it("leaves the model's default alone without an effort", () => {
    expect(thinkingConfig("gemini-3-flash-preview")).toBeUndefined();
  });
});
