import { AnswerCollector, type CollectedAnswer } from "../src/core/model/answer.ts";
import type { StreamPart } from "../src/core/model/model.ts";
import { createSseParser } from "../src/providers/server-events.ts";
import type { Wire, WireTarget } from "../src/providers/wire.ts";

/** A target for tests that send nothing. */
export const TEST_TARGET: WireTarget = {
  provider: "acme",
  modelId: "m-1",
  baseUrl: "https://api.example/v1",
};

/** What a decoder made of a stream. */
export interface Replayed extends CollectedAnswer {
  readonly parts: readonly StreamPart[];
}

/**
 * Sends a body through the event parser and a new decoder of `wire`, in pieces cut at the given positions.
 */
export function replayBody(
  wire: Wire,
  body: string,
  cuts: readonly number[] = [],
  target: Partial<WireTarget> = {},
): Replayed {
  const parts: StreamPart[] = [];
  const decoder = wire.createDecoder((part) => parts.push(part), { ...TEST_TARGET, ...target });
  const parser = createSseParser((event, data) => {
    if (!decoder.done()) decoder.event(event, data);
  });
  const positions = [0, ...[...cuts].sort((left, right) => left - right), body.length];
  for (const [at, from] of positions.entries())
    parser.push(body.slice(from, positions[at + 1] ?? body.length));
  parser.end();
  decoder.end();
  const collector = new AnswerCollector();
  for (const part of parts) collector.add(part);
  return { ...collector.result(), parts };
}

/** A body of unnamed events, one for each value; strings are sent as they are. */
export function sseBody(...events: readonly unknown[]): string {
  return events
    .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
    .join("");
}
