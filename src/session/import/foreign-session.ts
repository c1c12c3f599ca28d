import { closeSync } from "node:fs";
import { type Fields, fieldsOf, isRecord, ownValue, safeParse } from "../../core/base/json.ts";
import {
  type AssistantBlock,
  type ImageBlock,
  type TextBlock,
  type ToolResultBlock,
  type ToolUseBlock,
  tokenCount,
  type Usage,
  type UserBlock,
} from "../../core/message/message.ts";
import { type DamagedLine, readLines } from "../read-session.ts";
import { openNamedFile } from "../session-file.ts";

/** Programs whose session files can be read. */
export type ForeignProgram = "claude-code" | "codex" | "pi";

export type ForeignItem =
  | {
      readonly type: "user";
      readonly content: readonly UserBlock[];
      /** False for messages that the program itself sent to the model. */
      readonly isInput: boolean;
      readonly time: number | undefined;
    }
  | {
      readonly type: "assistant";
      readonly content: readonly AssistantBlock[];
      /** `provider/id`. */
      readonly model: string;
      readonly usage?: Usage | undefined;
      /** USD, if the file has it. */
      readonly costUsd?: number | undefined;
      readonly finish: "stop" | "tool_use" | "length" | "refusal" | "interrupted";
      readonly time: number | undefined;
    }
  | { readonly type: "result"; readonly result: ToolResultBlock; readonly time: number | undefined };

export type ForeignAnswer = Extract<ForeignItem, { readonly type: "assistant" }>;

/** An answer that owns its list, so that further blocks can be added. */
export type MutableAnswer = ForeignAnswer & { readonly content: AssistantBlock[] };

export interface ForeignSession {
  readonly program: ForeignProgram;
  readonly sessionId: string | undefined;
  readonly cwd: string | undefined;
  readonly items: readonly ForeignItem[];
  /** Records skipped on purpose, by kind. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Records and blocks of unknown kinds, by kind. */
  readonly unknown: ReadonlyMap<string, number>;
}

export interface ForeignRecord {
  readonly line: number;
  readonly fields: Fields;
}

export interface Counts {
  readonly leftOut: KindCount;
  readonly unknown: KindCount;
}

export type ParsedSession = Pick<ForeignSession, "sessionId" | "cwd" | "items">;

export type ParseForeign = (records: readonly ForeignRecord[], counts: Counts) => ParsedSession;

export class KindCount {
  readonly counts: Map<string, number> = new Map();

  add(kind: string, count = 1): void {
    // The kinds in a hostile file are strings of any length and number.
    const known = kind.slice(0, 80).toWellFormed();
    const key = this.counts.has(known) || this.counts.size < 100 ? known : "others";
    if (count > 0) this.counts.set(key, (this.counts.get(key) ?? 0) + count);
  }
}

interface ForeignLines {
  readonly records: readonly ForeignRecord[];
  readonly damaged: readonly DamagedLine[];
}

const MAX_BYTES = 1024 * 1024 * 1024;

/** Reads JSON lines; broken ones are noted and skipped. Throws `invalid_argument`: no readable file. */
export function readForeignLines(path: string): ForeignLines {
  const descriptor = openNamedFile(path, MAX_BYTES);
  try {
    const records: ForeignRecord[] = [];
    const damaged: DamagedLine[] = [];
    for (const { bytes, number: line, isTooLong } of readLines(descriptor)) {
      if (isTooLong) {
        damaged.push({ line, reason: "longer than a line can be" });
        continue;
      }
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
        .toString("utf8")
        .replace(/^\uFEFF/, "");
      if (text.trim() === "") continue;
      const parsed = safeParse(text);
      if (!parsed.ok) damaged.push({ line, reason: "no JSON" });
      else if (!isRecord(parsed.value)) damaged.push({ line, reason: "no JSON object" });
      else records.push({ line, fields: parsed.value });
    }
    return { records, damaged };
  } finally {
    closeSync(descriptor);
  }
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textField(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.toWellFormed() : undefined;
}

export function timeField(value: unknown): number | undefined {
  const time = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) && Math.abs(time) < 8.64e15 ? Math.trunc(time) : undefined;
}

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function imageFrom(mediaType: unknown, data: unknown): ImageBlock | TextBlock {
  const type = textField(mediaType) ?? "an unknown type";
  if (IMAGE_TYPES.has(type) && typeof data === "string" && data.length % 4 === 0 && BASE64.test(data))
    return { type: "image", source: { type: "base64", media_type: type, data } };
  return { type: "text", text: `[an image of ${type.slice(0, 60)} that cannot be sent]` };
}

function imageFromUrl(value: unknown): ImageBlock | TextBlock {
  const url = textField(typeof value === "string" ? value : fieldsOf(value)["url"]) ?? "";
  const inline = /^data:([^;,]{1,60});base64,/.exec(url);
  if (inline !== null) return imageFrom(inline[1], url.slice(inline[0].length));
  if (/^https:\/\/[^\s]+$/.test(url)) return { type: "image", source: { type: "url", url } };
  return { type: "text", text: "[an image that cannot be sent]" };
}

/** Text and images of a content field as in the Anthropic Messages API: a string, or a list of blocks. */
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

export function textBlocks(value: unknown): readonly TextBlock[] {
  const text = textField(value);
  return text === undefined || text.trim() === "" ? [] : [{ type: "text", text }];
}

export function callBlock({ id, name }: Fields, input: unknown): ToolUseBlock {
  return { type: "tool_use", id: textField(id) ?? "", name: toolName(name), input: fieldsOf(input) };
}

export function resultItem(
  { callId, content, isError }: Fields,
  time: number | undefined,
  unknown: KindCount,
): ForeignItem {
  const failed = isError === true ? { is_error: true } : {};
  const answers = { tool_use_id: textField(callId) ?? "", content: resultContent(content, unknown) };
  return { type: "result", time, result: { type: "tool_result", ...answers, ...failed } };
}

export type FinishWords = { readonly [word: string]: ForeignAnswer["finish"] };

/** The reason an answer ended; `stop` for an unknown word. */
export function finishOf(word: unknown, finishes: FinishWords): ForeignAnswer["finish"] {
  return ownValue(finishes, word) ?? "stop";
}

/** The fields of a usage report whose input count excludes cache reads and writes. */
export interface UsageFields {
  readonly input: string;
  readonly output: string;
  readonly read: string;
  readonly write: string;
}

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

function resultContent(value: unknown, unknown: KindCount): string | readonly (TextBlock | ImageBlock)[] {
  if (typeof value === "string") return value.trim() === "" ? "(no output)" : value.toWellFormed();
  const blocks = contentBlocks(value, unknown);
  if (blocks.length === 0) return "(no output)";
  const [only] = blocks;
  return blocks.length === 1 && only?.type === "text" ? only.text : blocks;
}

export function toolName(value: unknown): string {
  const name = (textField(value) ?? "").replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return name === "" ? "unknown_tool" : /^[A-Za-z_]/.test(name) ? name : `_${name.slice(0, 63)}`;
}
