import { type Fields, isRecord } from "../core/base/json.ts";
import type { Usage } from "../core/message/message.ts";
import type { ObjectAt, Violations } from "./request-violations.ts";
import { createRenderer, deltas, renderCall, statusOf, type Vendor, type VendorError } from "./vendor.ts";

/**
 * `streamGenerateContent?alt=sse` (https://ai.google.dev/api/generate-content). Calls only have an id if one
 * is scripted, since older models send none. As with the real API, the signature of reasoning arrives with
 * the following part. This format cannot carry malformed arguments: the answer then ends with
 * `MALFORMED_FUNCTION_CALL`.
 */
export const googleVendor: Vendor = {
  check: (body, issues) => {
    const system = body["systemInstruction"] ?? body["system_instruction"];
    if (system !== undefined) checkContent("systemInstruction", isRecord(system) ? system : {}, issues);
    for (const [where, { functionDeclarations: list }] of body["tools"] === undefined
      ? []
      : issues.objects("tools", body["tools"])) {
      if (list === undefined) continue;
      for (const [path, declared] of issues.objects(`${where}.functionDeclarations`, list)) {
        const { name, parameters, parametersJsonSchema = parameters ?? { type: "object" } } = declared;
        issues.checkTool(path, name, parametersJsonSchema);
      }
    }
    checkContents(issues.nonEmptyObjects("contents", body["contents"], "are empty"), issues);
  },
  error: errorOf,
  render: createRenderer(
    {
      stop: "STOP",
      tool_use: "STOP",
      length: "MAX_TOKENS",
      refusal: "SAFETY",
      pause: "STOP",
      other: "OTHER",
    },
    (context, usage) => {
      const chunk = (parts: readonly Fields[], finishReason?: string): string =>
        data({
          candidates: [{ content: { parts, role: "model" }, finishReason, index: 0 }],
          usageMetadata: usageOf(usage, finishReason !== undefined),
          modelVersion: context.model,
          responseId: `response-${context.number}`,
        });
      let signature: Fields = {};
      const take = (): Fields => {
        const taken = signature;
        signature = {};
        return taken;
      };
      return {
        *say(piece) {
          if (piece.type === "thinks") {
            for (const text of deltas(piece.text, context)) yield chunk([{ text, thought: true }]);
            if (piece.signature !== undefined) signature = { thoughtSignature: piece.signature };
            return false;
          }
          if (piece.type === "says") {
            for (const text of deltas(piece.text, context)) yield chunk([{ text, ...take() }]);
            return false;
          }
          const { name, args } = renderCall(piece, context);
          if (args === undefined) yield chunk([], "MALFORMED_FUNCTION_CALL");
          else yield chunk([{ functionCall: { id: piece.id, name, args }, ...take() }]);
          return args === undefined;
        },
        fail: (error) => data(errorOf(error)),
        end: (reason) => [chunk([{ text: "", ...take() }], reason)],
      };
    },
  ),
};

function data(value: Fields): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}

function usageOf(usage: Usage, final: boolean): Fields {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens = 0 } = usage;
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: final ? outputTokens - reasoningTokens : undefined,
    totalTokenCount: inputTokens + (final ? outputTokens : 0),
    cachedContentTokenCount: cacheReadTokens,
    thoughtsTokenCount: final && reasoningTokens > 0 ? reasoningTokens : undefined,
  };
}

/** https://google.aip.dev/193. */
function errorOf(error: VendorError): Fields {
  const code = statusOf(error);
  return { error: { code, message: error.message, status: STATUS_WORDS[code] ?? "INTERNAL" } };
}

const STATUS_WORDS: { readonly [status: number]: string } = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function checkContents(contents: readonly ObjectAt[], issues: Violations): void {
  if (contents[0] !== undefined && contents[0][1]["role"] !== "user")
    issues.add("contents[0]", "is not of role user");
  let open: readonly Fields[] = [];
  for (const [where, content] of contents) {
    const { role } = content;
    if (role !== "user" && role !== "model") issues.add(`${where}.role`, `is ${JSON.stringify(role)}`);
    const parts = checkContent(where, content, issues);
    const answers = parts.map((part) => part["functionResponse"]).filter(isRecord);
    if (role === "model") {
      if (open.length > 0) issues.add(where, "follows function calls without their responses");
      if (answers.length > 0) issues.add(where, "has function responses of role model");
    } else checkAnswers(where, open, answers, issues);
    open = parts.map((part) => part["functionCall"]).filter(isRecord);
  }
  if (open.length > 0) issues.add("contents", "end with function calls that have no responses");
}

function checkAnswers(
  where: string,
  open: readonly Fields[],
  answers: readonly Fields[],
  issues: Violations,
): void {
  if (open.length !== answers.length) {
    issues.add(where, `has ${answers.length} function responses for ${open.length} function calls`);
    return;
  }
  for (const [at, call] of open.entries()) {
    const answer = answers[at];
    if (answer?.["name"] !== call["name"] || answer?.["id"] !== call["id"])
      issues.add(where, `does not answer the call of ${String(call["name"])} in its place`);
  }
}

/** The kinds of parts, and the fields checked in each. */
const KINDS = {
  text: {},
  inlineData: { mimeType: "filled", data: "filled" },
  fileData: {},
  functionCall: { name: "toolName" },
  functionResponse: { name: "toolName", response: "object" },
  executableCode: {},
  codeExecutionResult: {},
} as const;

function checkContent(where: string, content: Fields, issues: Violations): readonly Fields[] {
  const parts = issues.nonEmptyObjects(`${where}.parts`, content["parts"], "are empty");
  return parts.map(([path, part]) => {
    const kinds = Object.keys(KINDS).filter((key) => part[key] !== undefined);
    const [kind = ""] = kinds;
    const value = part[kind];
    if (kinds.length !== 1)
      issues.add(path, `has ${kinds.join(" and ") || "no data"}; a part has exactly one kind`);
    else if (kind !== "text") issues.checkTyped(`${path}.${kind}`, isRecord(value) ? value : {}, KINDS, kind);
    if (part["text"] === "" && part["thoughtSignature"] === undefined) issues.add(path, "is an empty text");
    if (kind === "functionCall" && isRecord(value)) {
      const { args, id } = value;
      if (args !== undefined) issues.checkField(`${path}.functionCall.args`, args, "object");
      if (id !== undefined) issues.checkField(`${path}.functionCall.id`, id, "callId");
    }
    return part;
  });
}
