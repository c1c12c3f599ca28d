import { type Json, NanoAgentError } from "../../core/base/errors.ts";
import type {
  AssistantBlock,
  ImageBlock,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from "../../core/message/block.ts";
import type { Message } from "../../core/message/message.ts";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import type { WireRequest, WireTarget } from "../wire.ts";
import { type GoogleModelTraits, googleModelTraits } from "./model-traits.ts";
import { toOpenApiSchema } from "./schema.ts";
import { thinkingConfig } from "./thinking.ts";
import type { GoogleMediaPart, GooglePart, GoogleProviderData } from "./wire.ts";

/**
 * Makes the encoder of one model for `POST {base}/models/{id}:streamGenerateContent?alt=sse`.
 *
 * - Consecutive messages of one role are merged; a message that has nothing to send is left out. Nothing at all to send throws
 *   `invalid_argument`.
 * - Thought signatures return on their parts. Gemini 3 and later refuse a step whose first call has none (a transcript of
 *   another provider): it gets the value Google documents for that, `skip_thought_signature_validator`.
 * - Thought summaries without a signature, and thinking of other wires, are not sent.
 * - Images in tool results are parts of the function response (Gemini 3 and later), else they follow all responses.
 * - `parallelToolCalls` and `sessionId` have no place in this format.
 * - `providerOptions.google` is merged into the body: `generationConfig` and `toolConfig` field by field, `tools` is appended.
 *
 * Quirks: `openApiParameters` (send `parameters` instead of `parametersJsonSchema`), `functionCallIds: false` (Vertex AI refuses ids).
 */
export function createGoogleEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const traits = googleModelTraits(target.modelId);
  const contents = new ContentsWriter(traits, target.quirks?.["functionCallIds"] !== false);
  const tools = new ToolsWriter(target.quirks?.["openApiParameters"] === true);
  const url = `${versioned(target.baseUrl)}/${modelPath(target.modelId)}:streamGenerateContent?alt=sse`;
  const headers = {
    "content-type": "application/json",
    ...(target.apiKey === undefined ? {} : { "x-goog-api-key": target.apiKey }),
    ...target.headers,
  };
  return (request) => {
    const options = request.providerOptions?.["google"] ?? {};
    const preamble = traits.systemInstruction ? undefined : request.system;
    const contentsText = contents.write(request.messages, preamble);
    if (contentsText === "")
      throw new NanoAgentError(
        "invalid_argument",
        "The request has no text, image or tool result to send. Add a message.",
      );
    let body = `{"contents":[${contentsText}]`;
    if (traits.systemInstruction && request.system !== undefined && request.system !== "") {
      body += `,"systemInstruction":{"parts":[{"text":${JSON.stringify(request.system)}}]}`;
    }
    const toolsText = tools.write(request.tools, options["tools"]);
    if (toolsText !== "") body += `,"tools":[${toolsText}]`;
    for (const [name, value] of Object.entries(settings(request, traits, options))) {
      if (value !== undefined) body += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
    }
    return { url, headers, body: `${body}}` };
  };
}

function versioned(baseUrl: string): string {
  return /\/v\d+(?:(?:alpha|beta)\d*)?(?:\/|$)/.test(baseUrl) ? baseUrl : `${baseUrl}/v1beta`;
}

function modelPath(modelId: string): string {
  const path = modelId.split("/").map(encodeURIComponent).join("/");
  return modelId.includes("/") ? path : `models/${path}`;
}

type Options = { readonly [key: string]: Json | undefined };

function settings(request: ModelRequest, traits: GoogleModelTraits, options: Options): Options {
  const { tools: _tools, contents: _contents, generationConfig, toolConfig, ...rest } = options;
  const generation: Options = {
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
  const calling: Options = { ...callingConfig(request), ...asObject(toolConfig) };
  return {
    toolConfig: Object.keys(calling).length > 0 ? calling : undefined,
    generationConfig: Object.values(generation).some((value) => value !== undefined) ? generation : undefined,
    continuationToken: continuationToken(request.messages),
    ...rest,
  };
}

function callingConfig({ tools, toolChoice }: ModelRequest): Options {
  if (tools === undefined || tools.length === 0 || toolChoice === undefined || toolChoice === "auto")
    return {};
  if (toolChoice === "none") return { functionCallingConfig: { mode: "NONE" } };
  if (toolChoice === "required") return { functionCallingConfig: { mode: "ANY" } };
  return { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [toolChoice.name] } };
}

function asObject(value: Json | undefined): Options {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Options) : {};
}

function continuationToken(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  return last?.role === "assistant" ? googleData(last.content.at(-1))?.continuationToken : undefined;
}

function googleData(block: AssistantBlock | undefined): GoogleProviderData | undefined {
  return block?.provider_data?.["google"];
}

/** Writes the declarations of a request's tools; each tool is serialised once. */
class ToolsWriter {
  readonly #texts = new WeakMap<ToolSpec, string>();
  readonly #openApi: boolean;

  constructor(openApi: boolean) {
    this.#openApi = openApi;
  }

  write(tools: readonly ToolSpec[] | undefined, extra: Json | undefined): string {
    const items: string[] = [];
    if (tools !== undefined && tools.length > 0) {
      items.push(`{"functionDeclarations":[${tools.map((tool) => this.#declaration(tool)).join(",")}]}`);
    }
    if (Array.isArray(extra)) for (const item of extra as readonly Json[]) items.push(JSON.stringify(item));
    return items.join(",");
  }

  #declaration(tool: ToolSpec): string {
    const known = this.#texts.get(tool);
    if (known !== undefined) return known;
    const { name, description, parameters } = tool;
    const properties = parameters["properties"];
    const isEmpty =
      typeof properties !== "object" || properties === null || Object.keys(properties).length === 0;
    const key = this.#openApi ? "parameters" : "parametersJsonSchema";
    const schema = this.#openApi ? toOpenApiSchema(parameters) : parameters;
    const text = JSON.stringify({ name, description, ...(isEmpty ? {} : { [key]: schema }) });
    this.#texts.set(tool, text);
    return text;
  }
}

/** Writes the contents of a request; the parts of each message are serialised once. */
class ContentsWriter {
  readonly #texts = new WeakMap<Message, string>();
  readonly #traits: GoogleModelTraits;
  readonly #withIds: boolean;

  constructor(traits: GoogleModelTraits, withIds: boolean) {
    this.#traits = traits;
    this.#withIds = withIds;
  }

  write(messages: readonly Message[], preamble: string | undefined): string {
    let text = "";
    let role: Message["role"] | undefined;
    if (preamble !== undefined && preamble !== "") {
      text = `{"role":"user","parts":[${JSON.stringify({ text: preamble })}`;
      role = "user";
    }
    const end = endOfContents(messages);
    for (let at = 0; at < end; at++) {
      const message = messages[at] as Message;
      const parts = this.#parts(message, messages, at);
      if (parts === "") continue;
      if (message.role === role) text += `,${parts}`;
      else {
        text += `${role === undefined ? "" : "]},"}{"role":"${message.role === "user" ? "user" : "model"}","parts":[${parts}`;
        role = message.role;
      }
    }
    return role === undefined ? "" : `${text}]}`;
  }

  #parts(message: Message, messages: readonly Message[], at: number): string {
    const known = this.#texts.get(message);
    if (known !== undefined) return known;
    const parts =
      message.role === "user"
        ? this.#userParts(message.content, messages, at)
        : this.#modelParts(message.content);
    const text = parts.map((part) => JSON.stringify(part)).join(",");
    this.#texts.set(message, text);
    return text;
  }

  #userParts(blocks: readonly UserBlock[], messages: readonly Message[], at: number): readonly GooglePart[] {
    const responses: GooglePart[] = [];
    const promoted: GooglePart[] = [];
    const rest: GooglePart[] = [];
    for (const block of blocks) {
      if (block.type === "tool_result") {
        const name = callName(block.tool_use_id, messages, at);
        responses.push(this.#response(block, name, promoted));
      } else if (block.type === "image") rest.push(mediaPart(block));
      else if (block.text !== "") rest.push({ text: block.text });
    }
    return [...responses, ...promoted, ...rest];
  }

  #response(block: ToolResultBlock, name: string, promoted: GooglePart[]): GooglePart {
    const content =
      typeof block.content === "string" ? [{ type: "text" as const, text: block.content }] : block.content;
    const images = content.filter((item): item is ImageBlock => item.type === "image").map(mediaPart);
    const texts = content.filter((item): item is TextBlock => item.type === "text").map((item) => item.text);
    const inside = this.#traits.functionResponseParts ? images : [];
    if (inside.length < images.length) promoted.push({ text: `Result of ${name}:` }, ...images);
    const output = texts.length === 0 && images.length > 0 ? "See the image." : texts.join("\n");
    return {
      functionResponse: {
        ...(this.#withIds ? { id: block.tool_use_id } : {}),
        name,
        response: block.is_error === true ? { error: output } : { output },
        ...(inside.length > 0 ? { parts: inside } : {}),
      },
    };
  }

  #modelParts(blocks: readonly AssistantBlock[]): readonly GooglePart[] {
    const parts: GooglePart[] = [];
    let isFirstCall = true;
    for (const block of blocks) {
      const data = googleData(block);
      const signature = data?.thoughtSignature;
      const signed = signature === undefined ? {} : { thoughtSignature: signature };
      if (block.type === "tool_use") {
        parts.push({
          ...this.#call(block),
          ...(isFirstCall && this.#traits.needsSignature ? { thoughtSignature: SKIP } : {}),
          ...signed,
        });
        isFirstCall = false;
      } else if (block.type === "text") {
        if (block.text !== "" || signature !== undefined) parts.push({ text: block.text, ...signed });
      } else if (signature !== undefined) {
        parts.push({ text: block.thinking, ...(data?.thought === true ? { thought: true } : {}), ...signed });
      }
    }
    return parts;
  }

  #call({ id, name, input }: ToolUseBlock): GooglePart {
    return { functionCall: { ...(this.#withIds ? { id } : {}), name, args: input } };
  }
}

const SKIP = "skip_thought_signature_validator";

/** An answer that is being continued is not sent: its token stands for it. */
function endOfContents(messages: readonly Message[]): number {
  let end = messages.length;
  if (continuationToken(messages) !== undefined)
    while (end > 0 && messages[end - 1]?.role === "assistant") end -= 1;
  return end;
}

/** The name of the call a result belongs to: nearly always in the message before. */
function callName(id: string, messages: readonly Message[], before: number): string {
  for (let at = before - 1; at >= 0; at--) {
    const message = messages[at];
    if (message?.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "tool_use" && block.id === id) return block.name;
  }
  return "unknown_tool";
}

function mediaPart({ source }: ImageBlock): GoogleMediaPart {
  if (source.type === "base64") return { inlineData: { mimeType: source.media_type, data: source.data } };
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(source.url);
  if (inline !== null) return { inlineData: { mimeType: inline[1] ?? "", data: inline[2] ?? "" } };
  const extension = /\.(png|jpe?g|webp|gif|heic|heif)(?:[?#]|$)/i.exec(source.url)?.[1]?.toLowerCase();
  const mimeType =
    extension === undefined ? {} : { mimeType: `image/${extension === "jpg" ? "jpeg" : extension}` };
  return { fileData: { ...mimeType, fileUri: source.url } };
}
