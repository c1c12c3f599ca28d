import { type Fields, isRecord } from "../../core/base/json.ts";
import { truncateMiddle, utf8Length } from "../../core/base/text.ts";
import type { ImageBlock, TextBlock } from "../../core/message/message.ts";
import type { ToolResult } from "../../core/tool/tool.ts";

const MAX_TEXT_BYTES = 50 * 1024;
/** Base64 bytes allowed for one image, and for all images of a result: providers refuse more. */
const MAX_IMAGE_CHARS = 7_000_000;
const MAX_ALL_IMAGE_CHARS = 14_000_000;
const IMAGE_TYPES: ReadonlySet<unknown> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

type Block = TextBlock | ImageBlock;

/** Text (50 KB), images and resources; structured content only if there is nothing else. */
export function toMcpResult(answer: unknown): ToolResult {
  if (!isRecord(answer)) return { content: "Error: The server's answer is not a result.", isError: true };
  const { content, structuredContent, isError } = answer;
  const blocks = contentBlocks(Array.isArray(content) ? content : []);
  const hasOnlyStructure = blocks.length === 0 && structuredContent !== undefined;
  const shown: readonly Block[] = hasOnlyStructure
    ? [textBlock(truncateMiddle(JSON.stringify(structuredContent), { maxBytes: MAX_TEXT_BYTES }))]
    : blocks;
  const [first] = shown;
  const plain = shown.length === 1 && first?.type === "text" ? first.text : undefined;
  const failed = isError === true;
  return {
    content: plain ?? shown,
    ...(failed ? { isError: true } : {}),
  };
}

/** Converts content blocks of the protocol to blocks for the model. All text together is at most 50 KB. */
export function contentBlocks(content: readonly unknown[]): readonly Block[] {
  const images = { left: MAX_ALL_IMAGE_CHARS };
  const blocks = content.flatMap((block) => (isRecord(block) ? toBlocks(block, images) : []));
  const sizes = blocks.map((block) => (block.type === "text" ? utf8Length(block.text) : 0));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= MAX_TEXT_BYTES) return blocks;
  let left = MAX_TEXT_BYTES;
  const bounded: Block[] = [];
  for (const [at, block] of blocks.entries()) {
    if (block.type !== "text") bounded.push(block);
    else if (left > 0) {
      bounded.push(textBlock(truncateMiddle(block.text, { maxBytes: left })));
      left -= Math.min(left, sizes[at] ?? 0);
    }
  }
  return [
    ...bounded,
    textBlock(`[${total} bytes of text in all, cut to ${MAX_TEXT_BYTES}. Ask for less at once.]`),
  ];
}

function textBlock(value: string): TextBlock {
  return { type: "text", text: value };
}

function toBlocks(block: Fields, images: { left: number }): readonly Block[] {
  switch (block["type"]) {
    case "text":
      return typeof block["text"] === "string" && block["text"] !== "" ? [textBlock(block["text"])] : [];
    case "image":
    case "audio":
      return [mediaBlock(block, images)];
    case "resource":
      return isRecord(block["resource"]) ? resourceBlocks(block["resource"], images) : [];
    case "resource_link":
      return [textBlock(`[resource ${shortText(block["name"])}: ${shortText(block["uri"])}]`)];
    default:
      return [textBlock(JSON.stringify(block))];
  }
}

function resourceBlocks(resource: Fields, images: { left: number }): readonly Block[] {
  const { uri, blob, mimeType } = resource;
  if (typeof resource["text"] === "string")
    return [textBlock(`<resource uri=${JSON.stringify(shortText(uri))}>\n${resource["text"]}\n</resource>`)];
  if (typeof blob !== "string") return [textBlock(`[resource ${shortText(uri)}]`)];
  const block = mediaBlock({ mimeType, data: blob }, images);
  return [block.type === "image" ? block : textBlock(`[resource ${shortText(uri)}: ${block.text.slice(1)}`)];
}

function mediaBlock({ mimeType, data: given }: Fields, images: { left: number }): Block {
  const data = typeof given === "string" ? plainBase64(given) : undefined;
  const size = typeof given === "string" ? given.length : 0;
  const what = `${shortText(mimeType)}, ${Math.floor((size * 3) / 4)} bytes`;
  const type = (data === undefined ? undefined : imageTypeOf(data)) ?? mimeType;
  if (!IMAGE_TYPES.has(type)) return textBlock(`[${what}: the model cannot be shown this kind of file]`);
  if (data === undefined) return textBlock(`[${what}: not base64, left out]`);
  if (data.length > MAX_IMAGE_CHARS || data.length > images.left)
    return textBlock(`[${what}: too large to be shown]`);
  images.left -= data.length;
  return { type: "image", source: { type: "base64", media_type: String(type), data } };
}

/** Base64 as every provider accepts it: no line breaks, standard alphabet; `undefined` if invalid. */
function plainBase64(data: string): string | undefined {
  if (BASE64.test(data)) return data;
  const plain = data.replaceAll(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  return BASE64.test(plain) ? plain : undefined;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Servers name image types in many ways, and providers check them. */
function imageTypeOf(data: string): string | undefined {
  const head = Buffer.from(data.slice(0, 16), "base64").toString("latin1");
  if (head.startsWith("\x89PNG")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF8")) return "image/gif";
  return head.startsWith("RIFF") && head.endsWith("WEBP") ? "image/webp" : undefined;
}

function shortText(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 1_000) : "unknown";
}
