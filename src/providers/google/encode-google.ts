import { type Json, type JsonObject, misuse } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { serialiseOnce } from "../serialise-once.ts";
import { type WireRequest, type WireTarget, wireHeaders } from "../wire.ts";
import { beginningWithUser, continuationToken, createContentsWriter } from "./contents.ts";
import { toOpenApiSchema } from "./google-schema.ts";
import { type GoogleModelTraits, googleModelTraits, thinkingConfig } from "./model-traits.ts";

/**
 * Makes the encoder of one model for `POST {base}/models/{id}:streamGenerateContent?alt=sse`.
 *
 * - Consecutive messages of one role are merged; a message that has nothing to send is left out. Nothing at
 *   all to send throws `invalid_argument`.
 * - Thought signatures return on their parts. Gemini 3 and later refuse a step whose first call has none (a
 *   transcript of another provider): it gets the value Google documents for that,
 *   `skip_thought_signature_validator`.
 * - Thought summaries without a signature, and thinking of other wires, are not sent.
 * - Images in tool results are parts of the function response (Gemini 3 and later), else they follow all
 *   responses.
 * - `parallelToolCalls` and `sessionId` have no place in this format.
 * - `providerOptions.google` is merged into the body: `generationConfig` and `toolConfig` field by field,
 *   `tools` is appended.
 *
 * Quirks: `openApiParameters` (send `parameters` instead of `parametersJsonSchema`), `functionCallIds: false`
 * (Vertex AI refuses ids).
 */
export function createGoogleEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const traits = googleModelTraits(target.modelId);
  const withIds = target.quirks?.["functionCallIds"] !== false;
  const openApi = target.quirks?.["openApiParameters"] === true;
  const writeContents = createContentsWriter({ traits, withIds });
  const declaration = serialiseOnce((tool: ToolSpec) => writeDeclaration(tool, openApi));
  const url = urlFor(target);
  const headers = wireHeaders(target, { "x-goog-api-key": target.apiKey || undefined });
  return (request) => {
    const options = request.providerOptions?.["google"] ?? {};
    const preamble = traits.systemInstruction ? undefined : request.system;
    const contents = writeContents(request.messages, preamble);
    if (contents === "")
      throw misuse("The request has no text, image or tool result to send. Add a message.");
    let body = `{"contents":[${beginningWithUser(contents)}]`;
    if (traits.systemInstruction && request.system !== undefined && request.system !== "") {
      body += `,"systemInstruction":{"parts":[{"text":${JSON.stringify(request.system)}}]}`;
    }
    const tools = writeTools(request.tools?.map(declaration), options["tools"]);
    if (tools !== "") body += `,"tools":[${tools}]`;
    for (const [name, value] of Object.entries(settings(request, traits, options))) {
      if (value !== undefined) body += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
    }
    return { url, headers, body: `${body}}` };
  };
}

/** A query of the base URL is kept, and a version is added to a path that has none. */
function urlFor({ baseUrl, modelId }: WireTarget): string {
  const [base = "", query] = baseUrl.split("?", 2);
  const path = base.replace(/\/+$/, "");
  const versioned = /\/v\d+(?:(?:alpha|beta)\d*)?(?:\/|$)/.test(path) ? path : `${path}/v1beta`;
  const extra = query === undefined ? "" : `&${query}`;
  return `${versioned}/${modelPath(modelId)}:streamGenerateContent?alt=sse${extra}`;
}

function modelPath(modelId: string): string {
  const path = modelId.split("/").map(encodeURIComponent).join("/");
  return modelId.includes("/") ? path : `models/${path}`;
}

function settings(request: ModelRequest, traits: GoogleModelTraits, options: JsonObject): JsonObject {
  const { tools: _tools, contents: _contents, generationConfig, toolConfig, ...rest } = options;
  const generation: JsonObject = {
    maxOutputTokens: request.maxOutputTokens,
    temperature: request.temperature,
    topP: request.topP,
    stopSequences:
      request.stopSequences !== undefined && request.stopSequences.length > 0
        ? request.stopSequences
        : undefined,
    thinkingConfig: thinkingConfig(request.effort, traits),
    ...asObject(generationConfig),
  };
  const calling: JsonObject = { ...callingConfig(request), ...asObject(toolConfig) };
  return {
    toolConfig: Object.keys(calling).length > 0 ? calling : undefined,
    generationConfig: Object.values(generation).some((value) => value !== undefined) ? generation : undefined,
    continuationToken: continuationToken(request.messages),
    ...rest,
  };
}

function callingConfig({ tools, toolChoice }: ModelRequest): JsonObject {
  if (tools === undefined || tools.length === 0 || toolChoice === undefined || toolChoice === "auto")
    return {};
  if (toolChoice === "none") return { functionCallingConfig: { mode: "NONE" } };
  if (toolChoice === "required") return { functionCallingConfig: { mode: "ANY" } };
  return { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [toolChoice.name] } };
}

function asObject(value: Json | undefined): JsonObject {
  return isRecord(value) ? value : {};
}

function writeTools(declarations: readonly string[] = [], extra: Json | undefined): string {
  const items = declarations.length === 0 ? [] : [`{"functionDeclarations":[${declarations.join(",")}]}`];
  if (Array.isArray(extra)) for (const item of extra as readonly Json[]) items.push(JSON.stringify(item));
  return items.join(",");
}

/** Without arguments there are no parameters: the OpenAPI subset refuses an object without properties. */
function writeDeclaration({ name, description, parameters }: ToolSpec, openApi: boolean): string {
  if (!openApi) {
    return JSON.stringify({
      name,
      description,
      ...(takesNothing(parameters) ? {} : { parametersJsonSchema: parameters }),
    });
  }
  const schema = toOpenApiSchema(parameters);
  return JSON.stringify({
    name,
    description,
    ...(schema["properties"] === undefined ? {} : { parameters: schema }),
  });
}

function takesNothing(schema: JsonSchema): boolean {
  return Object.entries(schema).every(([key, value]) => {
    if (key === "properties" || key === "required") return Object.keys(Object(value)).length === 0;
    if (key === "additionalProperties") return value === false;
    return ["type", "title", "description", "$schema"].includes(key);
  });
}
