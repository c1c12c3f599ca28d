import type {
  AssistantBlock,
  ImageBlock,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from "../../core/message/block.ts";
import type { Message } from "../../core/message/message.ts";
import type { GoogleModelTraits } from "./model-traits.ts";
import type { GoogleMediaPart, GooglePart, GoogleProviderData } from "./wire.ts";

/** Writes the contents of a request; the parts of each message are serialised once. */
export class ContentsWriter {
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

/** The token of the answer at the end that the provider paused; `undefined` when there is none. */
export function continuationToken(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  return last?.role === "assistant" ? googleData(last.content.at(-1))?.continuationToken : undefined;
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

function googleData(block: AssistantBlock | undefined): GoogleProviderData | undefined {
  return block?.provider_data?.["google"];
}
