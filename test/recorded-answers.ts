import type { AssistantBlock, WireName } from "../src/core/message/message.ts";
import type { FinishReason } from "../src/core/model/model.ts";

/** A streamed answer in the shapes a vendor documents, and the message it is. */
export interface RecordedAnswer {
  /** For `resolveModel`. */
  readonly model: string;
  readonly wire: WireName;
  readonly events: readonly object[];
  readonly content: readonly AssistantBlock[];
  readonly finish: FinishReason;
  /** Where the body of the next request holds the answer, and what stands there. */
  readonly sentBack: { readonly at: (body: Body) => unknown; readonly is: unknown };
}

/** The body of a request, as far as messages are concerned. */
export interface Body {
  readonly messages?: readonly { readonly content: unknown }[];
  readonly input?: readonly unknown[];
  readonly contents?: readonly { readonly parts: unknown }[];
}

const usage = { input_tokens: 12, output_tokens: 34 };
const citation = {
  type: "web_search_result_location",
  url: "https://example.org/zürich",
  title: "Zürich",
  encrypted_index: "RW8=",
  cited_text: "21 °C",
};
const search = {
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "web_search",
  input: { query: "Zürich 天气" },
};
const found = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [
    { type: "web_search_result", url: "https://example.org", title: "Zürich", encrypted_content: "RQ==" },
  ],
};
const program = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };

function block(index: number, content_block: object, ...deltas: readonly object[]): readonly object[] {
  return [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

const weather = { type: "tool_use", id: "toolu_1", name: "weather" } as const;
const cited = "In Zürich sind es 21 °C 🌤.";

const ANTHROPIC: RecordedAnswer = {
  model: "anthropic/claude-sonnet-5",
  wire: "anthropic",
  events: [
    { type: "message_start", message: { id: "msg_1", model: "claude-sonnet-5", usage } },
    { type: "ping" },
    ...block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Ich suche 🔎." },
      { type: "signature_delta", signature: "c2ln" },
    ),
    ...block(1, { type: "redacted_thinking", data: "ZGF0YQ==" }),
    ...block(
      2,
      { type: "compaction", content: null },
      { type: "compaction_delta", content: "Bisher: nichts." },
    ),
    ...block(
      3,
      { ...search, input: {} },
      { type: "input_json_delta", partial_json: '{"query":"Zürich' },
      { type: "input_json_delta", partial_json: ' 天气"}' },
    ),
    ...block(4, found),
    ...block(
      5,
      { type: "text", text: "", citations: null },
      { type: "text_delta", text: cited.slice(0, 9) },
      { type: "text_delta", text: cited.slice(9) },
      { type: "citations_delta", citation },
    ),
    ...block(
      6,
      { ...weather, input: {}, caller: program },
      { type: "input_json_delta", partial_json: '{"city":"Zürich"}' },
    ),
    ...block(7, { ...weather, id: "toolu_2", input: {}, caller: { type: "direct" } }),
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage },
    { type: "message_stop" },
  ],
  content: [
    { type: "thinking", thinking: "Ich suche 🔎.", signature: "c2ln" },
    { type: "thinking", thinking: "", redacted: "ZGF0YQ==" },
    {
      type: "text",
      text: "",
      provider_data: { anthropic: { block: { type: "compaction", content: "Bisher: nichts." } } },
    },
    { type: "text", text: "", provider_data: { anthropic: { block: search } } },
    { type: "text", text: "", provider_data: { anthropic: { block: found } } },
    { type: "text", text: cited, provider_data: { anthropic: { citations: [citation] } } },
    { ...weather, input: { city: "Zürich" }, provider_data: { anthropic: { caller: program } } },
    { ...weather, id: "toolu_2", input: {} },
  ],
  finish: { unified: "tool_use", raw: "tool_use" },
  sentBack: {
    at: ({ messages }) => messages?.[1]?.content,
    is: [
      { type: "thinking", thinking: "Ich suche 🔎.", signature: "c2ln" },
      { type: "redacted_thinking", data: "ZGF0YQ==" },
      { type: "compaction", content: "Bisher: nichts." },
      search,
      found,
      { type: "text", text: cited, citations: [citation] },
      { ...weather, input: { city: "Zürich" }, caller: program },
      { ...weather, id: "toolu_2", input: {} },
    ],
  },
};

const annotation = {
  type: "url_citation",
  url: "https://example.org",
  title: "Zürich",
  start_index: 0,
  end_index: 9,
};
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "ZW5j" };
const hosted = { type: "web_search_call", status: "completed", action: { type: "search", query: "Zürich" } };
const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "Y21w" };
const said = { type: "message", id: "msg_1", role: "assistant", phase: "commentary", status: "completed" };
const whole = { type: "output_text", text: cited, annotations: [annotation] };
const call = { type: "function_call", call_id: "call_1", name: "weather", namespace: "maps" } as const;

const RESPONSES: RecordedAnswer = {
  model: "openai/gpt-5.5",
  wire: "openai_responses",
  events: [
    { type: "response.created", response: { id: "resp_1", model: "gpt-5.5", status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item: compaction },
    { type: "response.output_item.done", output_index: 0, item: compaction },
    { type: "response.output_item.done", output_index: 1, item: reasoning },
    {
      type: "response.output_item.added",
      output_index: 2,
      item: { ...hosted, id: "ws_1", status: "in_progress" },
    },
    { type: "response.web_search_call.searching", output_index: 2, item_id: "ws_1" },
    { type: "response.output_item.done", output_index: 2, item: { ...hosted, id: "ws_1" } },
    { type: "response.output_item.added", output_index: 3, item: { ...said, content: [] } },
    {
      type: "response.output_text.delta",
      output_index: 3,
      item_id: "msg_1",
      content_index: 0,
      delta: cited.slice(0, 9),
    },
    {
      type: "response.output_text.delta",
      output_index: 3,
      item_id: "msg_1",
      content_index: 0,
      delta: cited.slice(9),
    },
    {
      type: "response.output_text.annotation.added",
      output_index: 3,
      item_id: "msg_1",
      content_index: 0,
      annotation,
    },
    { type: "response.output_item.done", output_index: 3, item: { ...said, content: [whole] } },
    { type: "response.output_item.added", output_index: 4, item: { ...call, id: "fc_1", arguments: "" } },
    {
      type: "response.function_call_arguments.delta",
      output_index: 4,
      item_id: "fc_1",
      delta: '{"city":"Zürich"}',
    },
    {
      type: "response.output_item.done",
      output_index: 4,
      item: { ...call, id: "fc_1", arguments: '{"city":"Zürich"}' },
    },
    { type: "response.completed", response: { id: "resp_1", status: "completed", usage } },
  ],
  content: [
    { type: "text", text: "", provider_data: { openai_responses: { item: compaction } } },
    { type: "thinking", thinking: "", provider_data: { openai_responses: { item: reasoning } } },
    { type: "text", text: "", provider_data: { openai_responses: { item: { ...hosted, id: "ws_1" } } } },
    {
      type: "text",
      text: cited,
      provider_data: { openai_responses: { phase: "commentary", annotations: [annotation] } },
    },
    {
      type: "tool_use",
      id: "call_1",
      name: "weather",
      input: { city: "Zürich" },
      provider_data: { openai_responses: { namespace: "maps" } },
    },
  ],
  finish: { unified: "tool_use", raw: "completed" },
  sentBack: {
    at: ({ input }) => input?.slice(1, 6),
    is: [
      compaction,
      reasoning,
      hosted,
      { type: "message", role: "assistant", phase: "commentary", content: [whole] },
      { ...call, arguments: '{"city":"Zürich"}' },
    ],
  },
};

const ran = { executableCode: { language: "PYTHON", code: "print(21)", id: "x" }, thoughtSignature: "czE=" };
const output = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "21\n", id: "x" } };
const grounding = {
  webSearchQueries: ["Zürich"],
  groundingChunks: [{ web: { uri: "https://example.org" } }],
};

function parts(...content: readonly object[]): object {
  return { candidates: [{ content: { role: "model", parts: content }, index: 0 }], responseId: "r" };
}

const GOOGLE: RecordedAnswer = {
  model: "google/gemini-3.8-flash",
  wire: "google",
  events: [
    parts({ text: "Ich rechne 🧮.", thought: true }),
    parts({ thoughtSignature: "czA=" }),
    parts(ran),
    parts(output),
    parts({ text: cited.slice(0, 9) }),
    parts({ text: cited.slice(9) }),
    parts(
      { functionCall: { id: "f1", name: "weather", args: { city: "Zürich" } }, thoughtSignature: "czI=" },
      { functionCall: { id: "f2", name: "weather", args: {} } },
    ),
    {
      candidates: [{ content: { parts: [] }, finishReason: "STOP", groundingMetadata: grounding }],
      usageMetadata: {
        promptTokenCount: 12,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 4,
        totalTokenCount: 46,
      },
    },
  ],
  content: [
    { type: "thinking", thinking: "Ich rechne 🧮." },
    { type: "thinking", thinking: "", provider_data: { google: { thoughtSignature: "czA=" } } },
    { type: "text", text: "", provider_data: { google: { part: ran } } },
    { type: "text", text: "", provider_data: { google: { part: output } } },
    { type: "text", text: cited },
    {
      type: "tool_use",
      id: "f1",
      name: "weather",
      input: { city: "Zürich" },
      provider_data: { google: { thoughtSignature: "czI=" } },
    },
    { type: "tool_use", id: "f2", name: "weather", input: {} },
    { type: "text", text: "", provider_data: { google: { groundingMetadata: grounding } } },
  ],
  finish: { unified: "tool_use", raw: "STOP" },
  sentBack: {
    at: ({ contents }) => contents?.[1]?.parts,
    is: [
      { text: "", thoughtSignature: "czA=" },
      ran,
      output,
      { text: cited },
      { functionCall: { id: "f1", name: "weather", args: { city: "Zürich" } }, thoughtSignature: "czI=" },
      { functionCall: { id: "f2", name: "weather", args: {} } },
    ],
  },
};

function chunk(delta: object, finish_reason: string | null = null): object {
  return {
    id: "c1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  };
}

const detail = {
  type: "reasoning.encrypted",
  data: "ZGF0YQ==",
  id: "rs_1",
  format: "openai-responses-v1",
  index: 0,
};
const firstCall = { index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: "" } };
const secondCall = {
  index: 1,
  id: "call_2",
  type: "function",
  function: { name: "weather", arguments: "{}" },
};

const CHAT: RecordedAnswer = {
  model: "openrouter/openai/gpt-5.5",
  wire: "openai_chat",
  events: [
    chunk({ role: "assistant", content: "" }),
    chunk({
      reasoning: "Ich suche 🔎.",
      reasoning_details: [{ type: "reasoning.summary", summary: "Ich suche 🔎.", index: 0 }],
    }),
    chunk({ reasoning_details: [detail] }),
    chunk({ content: cited.slice(0, 9) }),
    chunk({ content: cited.slice(9), annotations: [{ type: "url_citation", url_citation: annotation }] }),
    chunk({ tool_calls: [firstCall] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }, secondCall] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '"Zürich"}' } }] }),
    chunk({}, "tool_calls"),
    {
      id: "c1",
      object: "chat.completion.chunk",
      model: "m",
      choices: [],
      usage: { prompt_tokens: 12, completion_tokens: 34 },
    },
  ],
  content: [
    {
      type: "thinking",
      thinking: "Ich suche 🔎.",
      provider_data: {
        openai_chat: {
          field: "reasoning",
          details: [{ type: "reasoning.summary", summary: "Ich suche 🔎.", index: 0 }, detail],
        },
      },
    },
    { type: "text", text: cited },
    { type: "tool_use", id: "call_1", name: "weather", input: { city: "Zürich" } },
    { type: "tool_use", id: "call_2", name: "weather", input: {} },
    {
      type: "text",
      text: "",
      provider_data: { openai_chat: { annotations: [{ type: "url_citation", url_citation: annotation }] } },
    },
  ],
  finish: { unified: "tool_use", raw: "tool_calls" },
  sentBack: {
    at: ({ messages }) => messages?.[1],
    is: {
      role: "assistant",
      content: cited,
      reasoning_details: [{ type: "reasoning.summary", summary: "Ich suche 🔎.", index: 0 }, detail],
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Zürich"}' } },
        { id: "call_2", type: "function", function: { name: "weather", arguments: "{}" } },
      ],
    },
  },
};

/** One answer of each wire, with everything that has to come back to its provider. */
export const RECORDED_ANSWERS: readonly RecordedAnswer[] = [ANTHROPIC, RESPONSES, GOOGLE, CHAT];

/** The body of the answer as it is sent. */
export function bodyOf({ events }: RecordedAnswer): string {
  return events
    .map(
      (event) =>
        `${"type" in event ? `event: ${String(event.type)}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
    )
    .join("");
}
