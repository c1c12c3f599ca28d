import { type Fields, fieldsOf, ownValue } from "../../core/base/json.ts";
import {
  type ImageBlock,
  type TextBlock,
  type ToolUseBlock,
  tokenCount,
  type Usage,
} from "../../core/message/message.ts";
import type { ForeignAnswer, ForeignItem, KindCount } from "./foreign-session.ts";
import { listOf, textField } from "./read-foreign-lines.ts";

/** Kinds of images that every provider takes. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** An image from its type and data; a text that says what is missing where it cannot be sent. */
export function imageFrom(mediaType: unknown, data: unknown): ImageBlock | TextBlock {
  const type = textField(mediaType) ?? "an unknown type";
  if (IMAGE_TYPES.has(type) && typeof data === "string" && data.length % 4 === 0 && BASE64.test(data))
    return { type: "image", source: { type: "base64", media_type: type, data } };
  return { type: "text", text: `[an image of ${type.slice(0, 60)} that cannot be sent]` };
}

/** An image from its address: `data:` or `https:`. */
export function imageFromUrl(value: unknown): ImageBlock | TextBlock {
  const url = textField(typeof value === "string" ? value : fieldsOf(value)["url"]) ?? "";
  const inline = /^data:([^;,]{1,60});base64,/.exec(url);
  if (inline !== null) return imageFrom(inline[1], url.slice(inline[0].length));
  if (/^https:\/\/[^\s]+$/.test(url)) return { type: "image", source: { type: "url", url } };
  return { type: "text", text: "[an image that cannot be sent]" };
}

/** A content field's text and images as in the Anthropic Messages API: a text, or a list of blocks. */
export function contentBlocks(value: unknown, unknown: KindCount): readonly (TextBlock | ImageBlock)[] {
  if (typeof value === "string") return textBlocks(value);
  return listOf(value).flatMap((each): readonly (TextBlock | ImageBlock)[] => {
    const block = fieldsOf(each);
    switch (block["type"]) {
      case "text":
      case "input_text":
      case "output_text":
        return textBlocks(block["text"]);
      case "image": {
        const source = fieldsOf(block["source"]);
        if (source["type"] === "url") return [imageFromUrl(source["url"])];
        return [imageFrom(source["media_type"] ?? block["mimeType"], source["data"] ?? block["data"])];
      }
      case "input_image":
        return [imageFromUrl(block["image_url"])];
      case "document":
        return [{ type: "text", text: "[a document that was left out]" }];
      default:
        unknown.add(`block ${String(block["type"])}`);
        return [];
    }
  });
}

/** A text as a block; none for one that says nothing. */
export function textBlocks(value: unknown): readonly TextBlock[] {
  const text = textField(value);
  return text === undefined || text.trim() === "" ? [] : [{ type: "text", text }];
}

/** A tool call, with the arguments of the field its program keeps them in. */
export function callBlock({ id, name }: Fields, input: unknown): ToolUseBlock {
  return { type: "tool_use", id: textField(id) ?? "", name: toolName(name), input: fieldsOf(input) };
}

/** The result of a tool call. */
export function resultItem(
  { callId, content, isError }: Fields,
  time: number | undefined,
  unknown: KindCount,
): ForeignItem {
  const failed = isError === true ? { is_error: true } : {};
  const answers = { tool_use_id: textField(callId) ?? "", content: resultContent(content, unknown) };
  return { type: "result", time, result: { type: "tool_result", ...answers, ...failed } };
}

/** Why answers ended, by the words of a program. */
export type Finishes = { readonly [word: string]: ForeignAnswer["finish"] };

/** Why an answer ended; `stop` for a word that says nothing else. */
export function finishOf(word: unknown, finishes: Finishes): ForeignAnswer["finish"] {
  return ownValue(finishes, word) ?? "stop";
}

/** The fields of a usage report whose input is counted without what was read from and written to a cache. */
export interface UsageFields {
  readonly input: string;
  readonly output: string;
  readonly read: string;
  readonly write: string;
}

/** Usage from the fields of a program; undefined where there is no report. */
export function usageFrom(value: unknown, names: UsageFields): Usage | undefined {
  const usage = fieldsOf(value);
  if (Object.keys(usage).length === 0) return undefined;
  const read = tokenCount(usage[names.read]);
  const write = tokenCount(usage[names.write]);
  return {
    inputTokens: tokenCount(usage[names.input]) + read + write,
    outputTokens: tokenCount(usage[names.output]),
    cacheReadTokens: read,
    cacheWriteTokens: write,
  };
}

/** Content of a tool result: text where it is nothing else. */
function resultContent(value: unknown, unknown: KindCount): string | readonly (TextBlock | ImageBlock)[] {
  if (typeof value === "string") return value.trim() === "" ? "(no output)" : value.toWellFormed();
  const blocks = contentBlocks(value, unknown);
  if (blocks.length === 0) return "(no output)";
  const [only] = blocks;
  return blocks.length === 1 && only?.type === "text" ? only.text : blocks;
}

/** A tool name as all providers take it. */
export function toolName(value: unknown): string {
  const name = (textField(value) ?? "").replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return name === "" ? "unknown_tool" : /^[A-Za-z_]/.test(name) ? name : `_${name.slice(0, 63)}`;
}
