import { omitUndefined } from "../core/base/json.ts";
import { hashText } from "../core/base/text.ts";
import type { ImageBlock } from "../core/message/message.ts";
import type { ModelRequest, ToolSpec } from "../core/model/model.ts";
import { type WireRequest, type WireTarget, wireHeaders, withoutOmitted } from "./wire.ts";

/** The parts of a body that differ between the OpenAI family's formats. */
interface OpenAiBody {
  /** Format and message field, which `providerOptions` cannot replace. */
  readonly wire: "openai_chat" | "openai_responses";
  readonly list: "messages" | "input";
  /** JSON after the model: a comma, then fields. */
  readonly head: string;
  readonly tool: (spec: ToolSpec) => string;
  readonly settings: (hasTools: boolean) => object;
}

/** The body of a request. Provider options override it; their list of tools is appended to the request's. */
export function openAiBody(request: ModelRequest, target: WireTarget, body: OpenAiBody): string {
  const { wire, list, head, tool, settings } = body;
  const { [list]: _list, tools: extra, ...options } = request.providerOptions?.[wire] ?? {};
  const tools = (request.tools ?? []).map(tool);
  if (Array.isArray(extra)) for (const entry of extra) tools.push(JSON.stringify(entry));
  const rest = JSON.stringify({ ...withoutOmitted(settings(tools.length > 0), target), ...options });
  const listed = tools.length === 0 ? "" : `,"tools":[${tools.join(",")}]`;
  const fields = rest === "{}" ? "}" : `,${rest.slice(1)}`;
  return `{"model":${JSON.stringify(target.modelId)}${head}${listed}${fields}`;
}

/** `named` creates the format's choice of a named tool. */
export function toolSettings(
  { toolChoice, parallelToolCalls }: ModelRequest,
  named: (name: string) => object,
): object {
  return omitUndefined({
    tool_choice: typeof toolChoice === "object" ? named(toolChoice.name) : toolChoice,
    // Parallel calls are the default nearly everywhere, and some models refuse the field.
    parallel_tool_calls: parallelToolCalls === false ? false : undefined,
  });
}

/** URL and headers of a request in the OpenAI family. A query in the base URL stays after the path. */
export function openAiEndpoint(target: WireTarget, path: string): Pick<WireRequest, "url" | "headers"> {
  const { apiKey = "", baseUrl, endpoint } = target;
  const [base = "", ...query] = baseUrl.split(/(?=\?)/);
  const authorization = apiKey === "" ? undefined : `Bearer ${apiKey}`;
  return {
    url: endpoint ?? `${base.replace(/\/+$/, "")}${path}${query.join("")}`,
    headers: wireHeaders(target, { authorization }),
  };
}

/** An image for the OpenAI family: its address, or its data as a URL. */
export function imageUrl({ source }: ImageBlock): string {
  return source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
}

/**
 * A tool call id in the form a vendor accepts: unchanged if possible, else a hash of it, so that call and
 * result stay matched. A number is the maximum length, `alphanumeric9` means nine letters or digits.
 */
export function toolCallId(id: string, format: number | "alphanumeric9"): string {
  if (format === "alphanumeric9") return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashId(id, 9);
  return id.length <= format ? id : `call_${hashId(id, 11)}`;
}

/** Lower-case letters and digits; at most 11 of them vary. */
function hashId(text: string, length: number): string {
  return hashText(text).toString(36).padStart(length, "0").slice(-length);
}
