import { truncateMiddle } from "../../core/base/text.ts";
import type { ContentBlock } from "../../core/message/block.ts";
import { type Message, textOf } from "../../core/message/message.ts";
import { readNote } from "./note.ts";

/** A transcript as texts, in order, each short enough for one request. */
export interface TranscriptPieces {
  readonly pieces: readonly string[];
  /** Summary the transcript begins with, by an earlier compaction. */
  readonly summary: string | undefined;
}

/** The most that the pieces may come to. */
export interface PieceLimits {
  /** Tokens of one piece. */
  readonly tokens: number;
  readonly pieces: number;
  readonly ofText: (text: string) => number;
}

/** Characters of one block, tried one after the other until all of it fits into the pieces. */
const BLOCK_CAPS: readonly number[] = [20_000, 4_000, 1_000, 300, 120];

/**
 * Writes a transcript as text in at most so many pieces. Long blocks are cut as far as that needs; when even
 * that is not enough, the oldest part is left out and the first piece says so.
 */
export function transcriptPieces(messages: readonly Message[], limits: PieceLimits): TranscriptPieces {
  const noteAt = messages.findLastIndex((message) => readNote(message) !== undefined);
  const note = messages[noteAt];
  const summary = note === undefined ? undefined : readNote(note)?.summary;
  const rest = messages.filter((_message, at) => at !== noteAt);
  let pieces: readonly string[] = [];
  for (const cap of BLOCK_CAPS) {
    pieces = packed(
      rest.map((message) => messageLines(message, cap)),
      limits,
    );
    if (pieces.length <= limits.pieces) return { pieces, summary };
  }
  const newest = pieces.slice(-limits.pieces);
  return {
    pieces: [`[The oldest part is left out: it was too long.]\n${newest[0] ?? ""}`, ...newest.slice(1)],
    summary,
  };
}

function packed(texts: readonly string[], { tokens, ofText }: PieceLimits): readonly string[] {
  const pieces: string[] = [];
  let lines: string[] = [];
  let used = 0;
  for (const text of texts) {
    const size = ofText(text) + 1;
    if (used + size > tokens && lines.length > 0) {
      pieces.push(lines.join("\n"));
      lines = [];
      used = 0;
    }
    lines.push(size > tokens ? truncateMiddle(text, Math.floor((text.length * tokens) / size)) : text);
    used += size;
  }
  if (lines.length > 0) pieces.push(lines.join("\n"));
  return pieces;
}

function messageLines({ role, content }: Message, cap: number): string {
  return (content as readonly ContentBlock[])
    .map((block) => blockLine(role, block, cap))
    .filter((line) => line !== "")
    .join("\n");
}

function blockLine(role: Message["role"], block: ContentBlock, cap: number): string {
  switch (block.type) {
    case "text":
      return `[${role}] ${truncateMiddle(block.text, cap)}`;
    case "thinking":
      return "";
    case "image":
      return `[${role}] (an image)`;
    case "tool_use":
      return `[call ${block.name}] ${truncateMiddle(JSON.stringify(block.input), cap)}`;
    case "tool_result":
      return `[${block.is_error === true ? "failed" : "result"}] ${truncateMiddle(textOf(block.content, "\n"), cap)}`;
  }
}
