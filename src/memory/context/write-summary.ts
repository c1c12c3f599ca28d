import type { ModelTurn } from "../../core/agent/model-turn.ts";
import { errorMessage, isNanoAgentError } from "../../core/base/errors.ts";
import { messageText, userMessage } from "../../core/message/message.ts";
import type { ModelRequest } from "../../core/model/model.ts";
import type { CompactionTask } from "./compactor.ts";
import type { ContextSize } from "./context-meter.ts";
import type { CompactionPlan } from "./plan-compaction.ts";
import { SUMMARISER, summaryPrompt, transcriptPrompt } from "./summary-prompt.ts";
import { transcriptPieces } from "./transcript-text.ts";

/** Material of a summary. */
export interface SummaryFacts {
  readonly task: CompactionTask;
  readonly plan: CompactionPlan;
  readonly size: ContextSize;
  /** Tokens one request may have, its answer included; `undefined` when nobody knows. */
  readonly window: number | undefined;
  /** Requests a transcript that is too long for one may take. */
  readonly maxPasses: number;
  readonly now: number;
}

/** A summary, or why there is none. */
export type WrittenSummary =
  | { readonly type: "summary"; readonly text: string }
  | { readonly type: "none"; readonly why: string };

/** Room left for the answer of a summary request. */
const ANSWER_TOKENS = 8_000;
/** Room for what such a request says beside the transcript and the summary so far. */
const PROMPT_TOKENS = 600;

/**
 * Has the model write the summary of what a plan leaves out. While the conversation fits it is asked at its
 * end, so that a provider that keeps prompts reads all of it from its cache; otherwise, or when that brings
 * no text, the part that goes is sent as a text, in several requests where one is too small. Throws only for
 * the journal.
 */
export async function writeSummary(facts: SummaryFacts): Promise<WrittenSummary> {
  const { task, size, window } = facts;
  const room = window === undefined ? undefined : window - size.tokens;
  const fits = task.reason !== "overflow" && (room === undefined || room > ANSWER_TOKENS / 4);
  if (fits && size.tokens > 0) {
    const inPlace = await askInPlace(facts, room);
    if (inPlace.type === "summary" || task.signal.aborted || inPlace.isFinal) return inPlace;
  }
  return askByText(facts);
}

type Attempt = WrittenSummary & { readonly isFinal?: boolean };

async function askInPlace({ task, plan, now }: SummaryFacts, room: number | undefined): Promise<Attempt> {
  const { request, tools, messages, instructions } = task;
  const open = messages.at(-1)?.role === "assistant" && hasCalls(messages) ? -1 : undefined;
  const prompt = summaryPrompt({ now, kept: plan.kept + plan.cutTail.length, instructions });
  const answer = await task.ask({
    ...withoutStops(request),
    ...(tools.length === 0 ? {} : { tools }),
    messages: [...messages.slice(0, open), userMessage(prompt)],
    ...outputWithin(request.maxOutputTokens, room),
  });
  return textOfAnswer(answer);
}

async function askByText({
  task,
  plan,
  size,
  window,
  maxPasses,
  now,
}: SummaryFacts): Promise<WrittenSummary> {
  const { request, instructions } = task;
  // A window that refused the request is smaller than it says, or counts otherwise.
  const believed = Math.min(
    window ?? size.tokens,
    task.reason === "overflow" ? size.tokens * 0.8 : Number.POSITIVE_INFINITY,
  );
  const answerTokens = Math.min(ANSWER_TOKENS, believed * 0.2);
  const tokens = Math.max(1_000, Math.floor(believed * 0.85 - answerTokens) - PROMPT_TOKENS);
  const { pieces, summary: earlier } = transcriptPieces(plan.replaced, {
    tokens,
    pieces: maxPasses,
    ofText: size.ofText,
  });
  let summary = earlier;
  for (const transcript of pieces) {
    const { maxOutputTokens: _own, ...rest } = withoutStops(request);
    const answer = textOfAnswer(
      await task.ask({
        ...rest,
        system: SUMMARISER,
        messages: [userMessage(transcriptPrompt({ now, instructions }, { summary, transcript }))],
        ...outputWithin(request.maxOutputTokens, Math.floor(believed * 0.3)),
      }),
    );
    if (answer.type === "none") return answer;
    summary = answer.text;
  }
  return summary === undefined
    ? { type: "none", why: "there was nothing to summarise" }
    : { type: "summary", text: summary };
}

/** A stop sequence of the conversation would cut a summary that quotes it. */
function withoutStops({
  stopSequences: _stops,
  ...request
}: CompactionTask["request"]): CompactionTask["request"] {
  return request;
}

/** Lowers the output limit only where room is short: providers cache by what a request begins with. */
function outputWithin(
  own: number | undefined,
  room: number | undefined,
): Pick<ModelRequest, "maxOutputTokens"> {
  if (room === undefined || (own === undefined ? room >= ANSWER_TOKENS * 4 : own <= room))
    return own === undefined ? {} : { maxOutputTokens: own };
  return { maxOutputTokens: Math.max(256, Math.floor(room * 0.9)) };
}

function hasCalls(messages: CompactionTask["messages"]): boolean {
  return messages.at(-1)?.content.some((block) => block.type === "tool_use") === true;
}

function textOfAnswer(answer: ModelTurn): Attempt {
  switch (answer.type) {
    case "answer": {
      const text = messageText(answer.message, "\n").trim();
      if (answer.finishReason.unified === "refusal") return { type: "none", why: "the model refused" };
      if (text === "") return { type: "none", why: "the model wrote none" };
      const isCut = answer.finishReason.unified === "length";
      return {
        type: "summary",
        text: isCut ? `${text}\n[The summary was cut here at the output limit.]` : text,
      };
    }
    case "aborted":
      return { type: "none", why: "it was stopped", isFinal: true };
    case "exhausted":
      return { type: "none", why: "the budget is used up", isFinal: true };
    case "failed":
      // Asked differently it can work only where the length was the trouble.
      return {
        type: "none",
        why: errorMessage(answer.error),
        isFinal: !isNanoAgentError(answer.error, "context_overflow"),
      };
  }
}
