import { type Fields, isRecord } from "../core/base/json.ts";
import type { FieldsByType, ObjectAt, Violations } from "./request-violations.ts";
import {
  type ContentPiece,
  createRenderer,
  deltas,
  type EncodingContext,
  namedEvent,
  openAiError,
  renderCall,
  type Vendor,
} from "./vendor.ts";

/** The Responses API (https://platform.openai.com/docs/api-reference/responses and …/responses-streaming). */
export const openAiResponsesVendor: Vendor = {
  check: (body, issues) => {
    const { model, max_output_tokens: limit, tools, tool_choice: choice, input } = body;
    issues.checkField("model", model, "filled");
    if (limit !== undefined && !(Number(limit) >= MIN_OUTPUT_TOKENS))
      issues.add("max_output_tokens", `must be at least ${MIN_OUTPUT_TOKENS}`);
    for (const [where, { type, name, parameters }] of tools === undefined
      ? []
      : issues.objects("tools", tools)) {
      if (type !== "function") issues.addVendorTool(name);
      else {
        issues.checkTool(where, name, parameters);
        issues.checkPlainSchema(where, parameters);
      }
    }
    if (choice !== undefined) issues.checkToolChoice(isRecord(choice) ? choice["name"] : undefined);
    if (typeof input !== "string") checkItems(issues.nonEmptyObjects("input", input), issues);
  },
  error: openAiError,
  render: createRenderer(
    {
      stop: "completed",
      tool_use: "completed",
      length: "max_output_tokens",
      refusal: "content_filter",
      pause: "completed",
    },
    (context, usage) => {
      const output: Fields[] = [];
      let sequence = 0;
      const emit = (type: string, fields: Fields): string =>
        namedEvent(type, { type, sequence_number: sequence++, ...fields });
      const answer = (status: string): Fields => ({
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
      });
      return {
        begin: () =>
          ["created", "in_progress"].map((state) =>
            emit(`response.${state}`, { response: answer("in_progress") }),
          ),
        *say(piece) {
          const output_index = output.length;
          const { started, item, events } = itemOf(piece, output_index, context);
          yield emit("response.output_item.added", { output_index, item: started });
          const at = { item_id: item["id"], output_index };
          for (const [type, fields] of events) yield emit(`response.${type}`, { ...at, ...fields });
          yield emit("response.output_item.done", { output_index, item });
          output.push(item);
        },
        fail: (error) => {
          const { code, type, message } = openAiError(error).error;
          // A failed answer always has a code, and no other field that explains the error.
          const defaultCode = type === "invalid_request_error" ? "invalid_prompt" : "server_error";
          const response = { ...answer("failed"), error: { code: code ?? defaultCode, message } };
          return emit("response.failed", { response });
        },
        end: (reason) => {
          const { inputTokens, outputTokens, cacheReadTokens = 0, reasoningTokens = 0 } = usage;
          const status = reason === "completed" ? "completed" : "incomplete";
          const response = {
            ...answer(status),
            incomplete_details: status === "completed" ? null : { reason },
            usage: {
              input_tokens: inputTokens,
              input_tokens_details: { cached_tokens: cacheReadTokens },
              output_tokens: outputTokens,
              output_tokens_details: { reasoning_tokens: reasoningTokens },
              total_tokens: inputTokens + outputTokens,
            },
          };
          return [emit(`response.${status}`, { response })];
        },
      };
    },
  ),
};

interface OutputItem {
  readonly started: Fields;
  /** The finished item, as in its last event and in the complete response. */
  readonly item: Fields;
  /** Events between its start and its end. */
  readonly events: readonly (readonly [type: string, fields: Fields])[];
}

function itemOf(piece: ContentPiece, index: number, context: EncodingContext): OutputItem {
  const id = (prefix: string): string => `${prefix}_${context.number}_${index}`;
  if (piece.type === "calls") {
    const { id: call_id, name, json } = renderCall(piece, context);
    const shared = { type: "function_call", call_id, name };
    const item = { id: id("fc"), ...shared, status: "completed", arguments: json };
    const pieces = deltas(json, context).map(
      (delta) => ["function_call_arguments.delta", { delta }] as const,
    );
    return {
      started: { ...item, status: "in_progress", arguments: "" },
      item,
      events: [...pieces, ["function_call_arguments.done", { arguments: json }]],
    };
  }
  const { text } = piece;
  if (piece.type === "says") {
    const part = (value: string): Fields => ({
      type: "output_text",
      annotations: [],
      logprobs: [],
      text: value,
    });
    const message = { id: id("msg"), type: "message", role: "assistant" };
    return {
      started: { ...message, status: "in_progress", content: [] },
      item: { ...message, status: "completed", content: [part(text)] },
      events: textEvents(text, part, context, {
        part: "content_part",
        text: "output_text",
        fields: { content_index: 0 },
        also: { logprobs: [] },
      }),
    };
  }
  const part = (value: string): Fields => ({ type: "summary_text", text: value });
  const encrypted = piece.signature === undefined ? {} : { encrypted_content: piece.signature };
  const reasoning = { id: id("rs"), type: "reasoning" };
  const names = {
    part: "reasoning_summary_part",
    text: "reasoning_summary_text",
    fields: { summary_index: 0 },
    also: {},
  };
  return {
    started: { ...reasoning, summary: [] },
    item: { ...reasoning, summary: text === "" ? [] : [part(text)], ...encrypted },
    events: text === "" ? [] : textEvents(text, part, context, names),
  };
}

/** The events of an item's only part. */
function textEvents(
  text: string,
  part: (text: string) => Fields,
  context: EncodingContext,
  names: { readonly part: string; readonly text: string; readonly fields: Fields; readonly also: Fields },
): OutputItem["events"] {
  const { fields, also } = names;
  return [
    [`${names.part}.added`, { ...fields, part: part("") }],
    ...deltas(text, context).map((delta) => [`${names.text}.delta`, { ...fields, delta, ...also }] as const),
    [`${names.text}.done`, { ...fields, text, ...also }],
    [`${names.part}.done`, { ...fields, part: part(text) }],
  ];
}

/** The API refuses limits below this many tokens. */
const MIN_OUTPUT_TOKENS = 16;

/** Items only the vendor can read: traces of its own tools, and its compaction. */
const VENDOR_ITEMS = [
  "item_reference compaction web_search_call file_search_call code_interpreter_call image_generation_call",
  "computer_call computer_call_output local_shell_call local_shell_call_output shell_call shell_call_output",
  "apply_patch_call apply_patch_call_output tool_search_call tool_search_output mcp_list_tools mcp_call",
  "mcp_approval_request mcp_approval_response",
].flatMap((names) => names.split(" "));

const ITEMS: FieldsByType = {
  message: {},
  function_call: { call_id: "callId", name: "toolName", arguments: "arguments" },
  custom_tool_call: { call_id: "callId", name: "toolName", input: "text" },
  function_call_output: {},
  custom_tool_call_output: {},
  reasoning: { summary: "list" },
  ...Object.fromEntries(VENDOR_ITEMS.map((name) => [name, {}])),
};

/** Prefixes that item ids must have, if sent. */
const ID_PREFIX: { readonly [type: string]: string } = {
  message: "msg",
  function_call: "fc",
  reasoning: "rs",
};

const MODEL_ITEM = /_call$|^(?:reasoning|compaction|mcp_list_tools|mcp_approval_request)$/;

function checkItems(items: readonly ObjectAt[], issues: Violations): void {
  const ids = new Set<unknown>();
  const calls: string[] = [];
  const answeredIds: unknown[] = [];
  for (const [at, [where, item]] of items.entries()) {
    const { id, role, call_id, output } = item;
    const type = item["type"] ?? (role === undefined ? undefined : "message");
    issues.checkTyped(where, item, ITEMS, type);
    if (typeof id === "string") checkId(`${where}.id`, id, ID_PREFIX[String(type)] ?? "", ids, issues);
    else if (id !== undefined) issues.checkField(`${where}.id`, id, "filled");
    if (type === "message") checkMessage(where, item, issues);
    else if (/^(?:function|custom_tool)_call$/.test(String(type))) calls.push(String(call_id));
    else if (/^(?:function|custom_tool)_call_output$/.test(String(type))) {
      if (calls.includes(String(call_id))) answeredIds.push(call_id);
      else issues.add(where, `answers ${JSON.stringify(call_id)}, which was not called before`);
      checkParts(`${where}.output`, output, INPUT_PARTS, issues);
    } else if (type === "reasoning" && !isOfModel(items[at + 1]?.[1]))
      issues.add(where, "is reasoning without the item that followed it");
  }
  issues.checkAnswers("input", calls, answeredIds);
}

function checkMessage(where: string, { role, content }: Fields, issues: Violations): void {
  if (!/^(?:user|assistant|system|developer)$/.test(String(role)))
    issues.add(`${where}.role`, `is ${JSON.stringify(role)}`);
  checkParts(`${where}.content`, content, role === "assistant" ? OUTPUT_PARTS : INPUT_PARTS, issues);
}

function checkId(where: string, id: string, prefix: string, ids: Set<unknown>, issues: Violations): void {
  issues.checkField(where, id, "filled");
  if (id !== "" && !id.startsWith(prefix)) issues.add(where, `is ${id}; it must begin with ${prefix}`);
  if (ids.has(id)) issues.add(where, `uses the id ${id} a second time`);
  ids.add(id);
}

function isOfModel(item: Fields = {}): boolean {
  return item["role"] === "assistant" || MODEL_ITEM.test(String(item["type"]));
}

const INPUT_PARTS: FieldsByType = { input_text: { text: "text" }, input_image: {}, input_file: {} };
const OUTPUT_PARTS: FieldsByType = { output_text: { text: "text" }, refusal: {} };

function checkParts(where: string, content: unknown, allowed: FieldsByType, issues: Violations): void {
  for (const [path, part] of issues.parts(where, content, allowed))
    if (part["type"] === "input_image" && part["file_id"] === undefined)
      issues.checkField(`${path}.image_url`, part["image_url"], "filled");
}
