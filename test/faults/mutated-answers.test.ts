import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import { isRecord } from "../../src/core/base/json.ts";
import type { AssistantBlock } from "../../src/core/message/message.ts";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import { collect } from "../../src/core/model/answer.ts";
import type { Model, ModelRequest, StreamPart } from "../../src/core/model/model.ts";
import { Agent, type AgentOptions, defineTool } from "../../src/index.ts";
import { resolveModel } from "../../src/providers/resolve-model.ts";
import { checkRequest } from "../../src/testing/check-request.ts";
import { type Body, bodyOf, RECORDED_ANSWERS, type RecordedAnswer } from "../recorded-answers.ts";
import { isFullSweep } from "./sweep.ts";

const RUNS = isFullSweep ? 20_000 : 250;
const ASKED: ModelRequest = {
  messages: [{ role: "user", content: [{ type: "text", text: "Wie warm ist es?" }] }],
};

/** A model whose every answer is this body, in pieces of bytes, and the requests it was sent. */
function answering(
  recorded: RecordedAnswer,
  pieces: readonly Uint8Array<ArrayBuffer>[],
): { model: Model; sent: Body[] } {
  const sent: Body[] = [];
  const model = resolveModel(recorded.model, {
    apiKey: "k",
    network: { maxRetries: 0 },
    fetch: async (_url, { body }) => {
      sent.push(JSON.parse(body) as Body);
      return new Response(ReadableStream.from(pieces), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { model, sent };
}

function cutAt(bytes: Uint8Array<ArrayBuffer>, cuts: readonly number[]): readonly Uint8Array<ArrayBuffer>[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, at) => bytes.slice(at === 0 ? 0 : ends[at - 1], end));
}

/** Blocks without the mark of who made them. */
function unmarked(content: readonly AssistantBlock[]): unknown {
  const isMark = (data: unknown): boolean => isRecord(data) && Object.keys(data).join() === "made_by";
  const text = JSON.stringify(content, (key, value: unknown) => {
    if (key === "made_by") return undefined;
    return key === "provider_data" && isRecord(value) && Object.values(value).every(isMark)
      ? undefined
      : value;
  });
  return JSON.parse(text);
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

describe.each(RECORDED_ANSWERS)("an answer of $model", (recorded) => {
  const body = bodyOf(recorded);

  it("is read whole, and goes back with everything its provider wants back", async () => {
    const { model, sent } = answering(recorded, [utf8(body)]);
    const { message, finish } = await collect(model.stream(ASKED));
    expect([unmarked(message.content), finish.finishReason]).toEqual([recorded.content, recorded.finish]);
    const results = recorded.content.flatMap((block) =>
      block.type === "tool_use"
        ? [{ type: "tool_result", tool_use_id: block.id, content: "21" } as const]
        : [],
    );
    await collect(
      model.stream({ messages: [...ASKED.messages, message, { role: "user", content: results }] }),
    );
    expect(recorded.sentBack.at(sent[1] ?? {})).toEqual(recorded.sentBack.is);
    expect(checkRequest(recorded.wire, sent[1])).toEqual([]);
  });

  it("is the same in any pieces, with any ends of lines, comments and a byte order mark", async () => {
    const dressed = fc.record({
      end: fc.constantFrom("\n", "\r\n", "\r"),
      mark: fc.constantFrom("", "\uFEFF"),
      comment: fc.constantFrom("", ": keep alive\n", "retry: 3\nid: 4\n"),
      cuts: fc.array(fc.nat(), { maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(dressed, async ({ end, mark, comment, cuts }) => {
        const lines = body.replaceAll("\n\n", `\n\n${comment}`).replaceAll("\n", end);
        const { model } = answering(recorded, cutAt(utf8(mark + lines), cuts));
        const { message, finish } = await collect(model.stream(ASKED));
        expect([unmarked(message.content), finish.finishReason]).toEqual([recorded.content, recorded.finish]);
      }),
      { numRuns: RUNS / 5 },
    );
    const bytes = utf8(body);
    const { model } = answering(
      recorded,
      [...bytes].map((byte) => Uint8Array.of(byte)),
    );
    expect(unmarked((await collect(model.stream(ASKED))).message.content)).toEqual(recorded.content);
  });

  it("ends in an answer or in an error of the provider, whatever became of its events", async () => {
    await fc.assert(
      fc.asyncProperty(
        mutations(recorded.events.length),
        fc.array(fc.nat(), { maxLength: 5 }),
        async (steps, cuts) => {
          const { model } = answering(recorded, cutAt(mutated(recorded.events, steps), cuts));
          const parts: StreamPart[] = [];
          try {
            for await (const part of model.stream(ASKED)) parts.push(part);
            expect(parts.findIndex(({ type }) => type === "finish")).toBe(parts.length - 1);
          } catch (error) {
            expect(PROVIDERS_FAULT).toContain(error instanceof NanoAgentError ? error.code : error);
          }
          expect(parts.filter((part) => !isWellTyped(part))).toEqual([]);

          const agent = new Agent({ ...AGENT, model });
          const { stopReason, error, messages } = await agent.run("Wie warm ist es?");
          expect([stopReason, error?.code, transcriptViolations(messages)]).toEqual([
            expect.any(String),
            stopReason === "error"
              ? expect.toSatisfy((code: string) => PROVIDERS_FAULT.includes(code))
              : undefined,
            [],
          ]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

/** Codes of failures that are not ours. */
const PROVIDERS_FAULT: readonly string[] = [
  "invalid_response",
  "provider_error",
  "rate_limit",
  "authentication",
  "bad_request",
  "unknown_model",
  "context_overflow",
];

const AGENT: Omit<AgentOptions, "model"> = {
  maxIterations: 2,
  tools: [defineTool({ name: "weather", description: "The weather.", execute: () => "21" })],
};

function isWellTyped(part: StreamPart): boolean {
  if ("index" in part && typeof part.index !== "number") return false;
  return textsOf(part).every((text) => typeof text === "string");
}

/** What has to be text in a part. */
function textsOf(part: StreamPart): readonly unknown[] {
  if (part.type === "text_delta" || part.type === "thinking_delta") return [part.text];
  if (part.type === "tool_call_start") return [part.id, part.name];
  if (part.type === "tool_call_delta") return [part.json];
  if (part.type === "finish")
    return [part.finishReason.raw, part.finishReason.unified, part.finishReason.detail ?? ""];
  if (part.type === "retry") return [];
  const { block } = part;
  if (block.type === "tool_use") return [block.id, block.name, JSON.stringify(block.input)];
  return block.type === "text" ? [block.text] : [block.thinking, block.signature ?? "", block.redacted ?? ""];
}

type Step =
  | { readonly do: "drop" | "repeat" | "swap" | "cut" | "garble"; readonly at: number; readonly to: number }
  | { readonly do: "set"; readonly at: number; readonly to: number; readonly value: unknown };

function mutations(events: number): fc.Arbitrary<readonly Step[]> {
  const at = fc.nat(events - 1);
  const value = fc.oneof(
    fc.constantFrom(
      null,
      -1,
      0,
      1,
      1e308,
      2 ** 32,
      2 ** 53,
      "",
      "constructor",
      "__proto__",
      "\ud800",
      true,
      [],
      {},
      [null],
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
  return fc.array(
    fc.oneof(
      fc.record({ do: fc.constantFrom("drop", "repeat", "swap", "cut", "garble"), at, to: fc.nat(10_000) }),
      fc.record({ do: fc.constant("set" as const), at, to: fc.nat(10_000), value }),
    ),
    { minLength: 1, maxLength: 4 },
  );
}

function mutated(recorded: readonly object[], steps: readonly Step[]): Uint8Array<ArrayBuffer> {
  let events: object[] = recorded.map((event) => structuredClone(event));
  let end = Number.POSITIVE_INFINITY;
  const garbled: number[] = [];
  for (const step of steps) {
    const event = events[step.at % Math.max(events.length, 1)] ?? {};
    const other = step.to % Math.max(events.length, 1);
    if (step.do === "drop") events = events.filter((each) => each !== event);
    else if (step.do === "repeat") events.splice(other, 0, event);
    else if (step.do === "swap")
      events = events.toSpliced(step.at, 1, events[other] ?? {}).toSpliced(other, 1, event);
    else if (step.do === "set") setSomewhere(event, step.to, step.value);
    else if (step.do === "cut") end = step.to;
    else garbled.push(step.to);
  }
  const bytes = utf8(bodyOf({ ...(RECORDED_ANSWERS[0] as RecordedAnswer), events }));
  for (const place of garbled) if (bytes.length > 0) bytes[place % bytes.length] = 0xc3 + (place % 61);
  return bytes.slice(0, end);
}

/** Puts a value in the place of one of the fields of an event, however deep. */
function setSomewhere(event: object, which: number, value: unknown): void {
  const places: (readonly [Record<string, unknown>, string])[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, child] of Object.entries(node)) {
      places.push([node as Record<string, unknown>, key]);
      visit(child);
    }
  };
  visit(event);
  const place = places[which % Math.max(places.length, 1)];
  if (place !== undefined) place[0][place[1]] = structuredClone(value);
}
