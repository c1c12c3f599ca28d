import type { Fields } from "../core/base/json.ts";
import type { Usage } from "../core/message/message.ts";
import type { ScriptPiece } from "./script.ts";
import {
  deltas,
  namedEvent,
  type SpeechContext,
  spokenCall,
  spokenEnding,
  spokenError,
  type Utterance,
} from "./speech.ts";
import { openAiError } from "./vendor-error.ts";

/** Renders an answer as platform.openai.com/docs/api-reference/responses-streaming describes it. */
export function* speakOpenAiResponses(
  pieces: readonly ScriptPiece[],
  context: SpeechContext,
): Generator<Utterance> {
  const { reason, usage } = spokenEnding(pieces, REASONS);
  const output: Fields[] = [];
  let sequence = 0;
  const emit = (type: string, fields: Fields): string =>
    namedEvent(type, { type, sequence_number: sequence++, ...fields });
  yield emit("response.created", { response: responseOf("in_progress", context, []) });
  yield emit("response.in_progress", { response: responseOf("in_progress", context, []) });
  for (const piece of pieces) {
    if (piece.type === "waits") yield piece;
    else if (piece.type === "fails") {
      const { error } = openAiError(spokenError(piece));
      const failed = {
        ...responseOf("failed", context, output),
        error: { code: error.code ?? codeOf(error.type), message: error.message },
      };
      yield emit("response.failed", { response: failed });
      return;
    } else if (piece.type !== "finishes") {
      const speech = speakItem(piece, { output_index: output.length, context });
      yield* speech.events.map(({ type, fields }) => emit(type, fields));
      output.push(speech.item);
    }
  }
  const status = reason === "completed" ? "completed" : "incomplete";
  yield emit(`response.${status}`, {
    response: {
      ...responseOf(status, context, output),
      incomplete_details: status === "completed" ? null : { reason },
      usage: usageOf(usage),
    },
  });
}

const REASONS = {
  stop: "completed",
  tool_use: "completed",
  length: "max_output_tokens",
  refusal: "content_filter",
  pause: "completed",
};

function responseOf(status: string, context: SpeechContext, output: readonly Fields[]): Fields {
  return {
    id: `resp_${context.number}`,
    object: "response",
    created_at: 1_767_225_600,
    status,
    error: null,
    incomplete_details: null,
    model: context.model,
    output: [...output],
    parallel_tool_calls: true,
    usage: null,
    metadata: {},
  };
}

function usageOf(usage: Usage): Fields {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

interface ItemSpeech {
  readonly events: readonly { readonly type: string; readonly fields: Fields }[];
  /** The finished item, as the last event and the whole response show it. */
  readonly item: Fields;
}

interface ItemPlace {
  readonly output_index: number;
  readonly context: SpeechContext;
}

function speakItem(
  piece: Extract<ScriptPiece, { type: "says" | "thinks" | "calls" }>,
  place: ItemPlace,
): ItemSpeech {
  switch (piece.type) {
    case "says":
      return speakMessage(piece.text, place);
    case "thinks":
      return speakReasoning(piece, place);
    case "calls":
      return speakCall(piece, place);
  }
}

function speakMessage(text: string, { output_index, context }: ItemPlace): ItemSpeech {
  const id = `msg_${context.number}_${output_index}`;
  const at = { item_id: id, output_index, content_index: 0 };
  const part = (value: string): Fields => ({
    type: "output_text",
    annotations: [],
    logprobs: [],
    text: value,
  });
  const message = (status: string, content: readonly Fields[]): Fields => ({
    id,
    type: "message",
    status,
    content,
    role: "assistant",
  });
  const item = message("completed", [part(text)]);
  return {
    item,
    events: [
      { type: "response.output_item.added", fields: { output_index, item: message("in_progress", []) } },
      { type: "response.content_part.added", fields: { ...at, part: part("") } },
      ...deltas(text, context).map((delta) => ({
        type: "response.output_text.delta",
        fields: { ...at, delta, logprobs: [] },
      })),
      { type: "response.output_text.done", fields: { ...at, text, logprobs: [] } },
      { type: "response.content_part.done", fields: { ...at, part: part(text) } },
      { type: "response.output_item.done", fields: { output_index, item } },
    ],
  };
}

function speakReasoning(
  piece: Extract<ScriptPiece, { type: "thinks" }>,
  { output_index, context }: ItemPlace,
): ItemSpeech {
  const { text, signature } = piece;
  const id = `rs_${context.number}_${output_index}`;
  const at = { item_id: id, output_index, summary_index: 0 };
  const part = (value: string): Fields => ({ type: "summary_text", text: value });
  const sealed = signature === undefined ? {} : { encrypted_content: signature };
  const item = { id, type: "reasoning", summary: text === "" ? [] : [part(text)], ...sealed };
  const summary = [
    { type: "response.reasoning_summary_part.added", fields: { ...at, part: part("") } },
    ...deltas(text, context).map((delta) => ({
      type: "response.reasoning_summary_text.delta",
      fields: { ...at, delta },
    })),
    { type: "response.reasoning_summary_text.done", fields: { ...at, text } },
    { type: "response.reasoning_summary_part.done", fields: { ...at, part: part(text) } },
  ];
  return {
    item,
    events: [
      {
        type: "response.output_item.added",
        fields: { output_index, item: { id, type: "reasoning", summary: [] } },
      },
      ...(text === "" ? [] : summary),
      { type: "response.output_item.done", fields: { output_index, item } },
    ],
  };
}

function speakCall(
  piece: Extract<ScriptPiece, { type: "calls" }>,
  { output_index, context }: ItemPlace,
): ItemSpeech {
  const { id: call_id, name, json } = spokenCall(piece, context);
  const id = `fc_${context.number}_${output_index}`;
  const at = { item_id: id, output_index };
  const item = { id, type: "function_call", status: "completed", arguments: json, call_id, name };
  const type = "response.function_call_arguments.delta";
  return {
    item,
    events: [
      {
        type: "response.output_item.added",
        fields: { output_index, item: { ...item, status: "in_progress", arguments: "" } },
      },
      ...deltas(json, context).map((delta) => ({ type, fields: { ...at, delta } })),
      { type: "response.function_call_arguments.done", fields: { ...at, arguments: json } },
      { type: "response.output_item.done", fields: { output_index, item } },
    ],
  };
}

/** An answer that fails has a code always, and nothing else to tell what is wrong. */
function codeOf(type: string): string {
  return type === "invalid_request_error" ? "invalid_prompt" : "server_error";
}
