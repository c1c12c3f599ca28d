import { type ContentBlock, type Message, messageText, textOf } from "../../src/core/message/message.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";

/** How good a {@link scriptedSummary} is. */
export interface SummariserLimits {
  /** Longest summary, in characters. */
  readonly maxChars: number;
  /** One sentence of so many is overlooked, always the same ones. */
  readonly overlooksOneIn: number;
}

/**
 * A summary as an honest but imperfect model writes it: sentences taken out of what it was shown, those that
 * look important first, up to its limit; some it overlooks. It understands nothing, so what it keeps is a
 * lower bound of what a model can keep.
 */
export function scriptedSummary({ messages }: ModelRequest, limits: SummariserLimits): string {
  const shown = messages.slice(0, messages.length > 1 ? -1 : undefined).flatMap(textsOf);
  const sentences = [...new Set(shown.flatMap(sentencesOf))].filter(
    (sentence) => hash(sentence) % limits.overlooksOneIn !== 0,
  );
  const ranked = sentences
    .map((sentence, at) => ({ sentence, at, worth: worthOf(sentence) }))
    .filter(({ worth }) => worth > 0)
    .sort((left, right) => right.worth - left.worth || right.at - left.at);
  const kept: typeof ranked = [];
  let chars = 0;
  for (const each of ranked) {
    chars += each.sentence.length + 3;
    if (chars > limits.maxChars) break;
    kept.push(each);
  }
  const lines = kept.sort((left, right) => left.at - right.at).map(({ sentence }) => `- ${sentence}`);
  return ["## Findings", ...lines].join("\n");
}

/** Whether a request asks for a summary. */
export function asksForSummary({ system = "", messages }: ModelRequest): boolean {
  const last = messages.at(-1);
  return (
    system.startsWith("You summarise") ||
    (last !== undefined && messageText(last).includes("write a summary"))
  );
}

function textsOf(message: Message): readonly string[] {
  return (message.content as readonly ContentBlock[]).map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "tool_result" ? textOf(block.content, "\n") : "";
  });
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(/\n|(?<=[.!?。])\s+|(?<=。)/)
    .map((sentence) => sentence.replace(/^[-#\s]+|^\[[a-z ]+\] /g, "").trim())
    .filter((sentence) => sentence.length > 5 && sentence.length < 400);
}

/**
 * What catches the eye: decisions, failures, figures, paths, another script. Lines that look like many others
 * do not.
 */
function worthOf(sentence: string): number {
  if (/^\d\d:\d\d:\d\d debug|^(const|let) |^<|is done\.$/.test(sentence)) return 0;
  let worth = 0;
  if (/decid|decision|决定/i.test(sentence)) worth += 4;
  if (/fail|error|tried|warning|失败|错误/i.test(sentence)) worth += 4;
  if (/\d{2,}/.test(sentence)) worth += 2;
  if (/[\w-]+\/[\w./-]+|--\w|\w+_\w+/.test(sentence)) worth += 2;
  if (/[\u4e00-\u9fff]/.test(sentence)) worth += 1;
  if (/^\w+( \d+)?: /.test(sentence)) worth += 1;
  return worth;
}

function hash(text: string): number {
  let sum = 7;
  for (const char of text) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
  return sum;
}
