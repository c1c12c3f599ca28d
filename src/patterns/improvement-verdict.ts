import { isRecord } from "../core/base/json.ts";
import { defineTool, type Tool } from "../core/tool/tool.ts";

const PHRASE = /[无無][需须須]改[进進]|no\s+need\s+for\s+improvement/giu;
/** Ends of clauses: what stands before them does not negate what follows. */
const CLAUSE_END = /[.。!！?？;；,，:：\n]|\b(?:but|however|though|although|so)\b|但是?|不过|所以|因此/giu;
/** Words that turn the phrase into its opposite when they stand before it in the same clause. */
const NEGATION =
  /\b(?:not|never|cannot|hardly|far\s+from|nor|deny)\b|n['’]t\b|不是|[并並绝而]非|不能说|不可说|不会说|不算|不等于|不意味|不认为|不觉得|不代表|未达到|没有达到|没达到|谈不上|远非|远未|尚未|还未|很难说|难说/iu;
/** Ends of sentences: a condition holds for all of one. */
const SENTENCE_END = /[.。!！?？;；\n]/gu;
/** Words before the phrase that make a wish or a condition of it. */
const CONDITION =
  /\b(?:if|once|unless|until|when|only)\b|\bwould\b(?!\s+say)|如果|假如|假设|若(?!干)|只要|除非|等到|直到|才(?:能|会|算|可)?(?:说|是)?$/iu;
/** Words behind it that ask for a change all the same. */
const BUT_MORE =
  /^[^.。!！?？;；\n]{0,40}?(?:\b(?:but|however|except|although|though)\b|但是?|不过|然而|只是|除了)[^.。!！?？;；\n]{0,80}?(?:\b(?:needs?|must|should|fix|add|remove|correct|missing|wrong)\b|需要|应该?|必须|补充|修改|改进|缺|错)/iu;
/** Words that make a question or a refusal of the phrase when they follow. */
const TAKEN_BACK =
  /^["'”’」』)）\s]*(?:[?？]|(?:is|would be|was)\s+(?:not|wrong|false|too)|的?(?:说法|结论|判断)?(?:不成立|是错|并不))/iu;

/**
 * True when a reflection says that nothing is to be improved: it holds `无需改进` or `no need for improvement`
 * (in any case) at least once where the clause does not negate it, the sentence makes no condition of it, and
 * nothing behind it asks for a change all the same. A doubt costs one more round. Words can be misread: a
 * structured verdict cannot.
 */
export function saysNoImprovement(text: string): boolean {
  for (const match of text.matchAll(PHRASE)) {
    const before = text.slice(Math.max(0, match.index - 200), match.index);
    const after = text.slice(match.index + match[0].length, match.index + match[0].length + 160);
    const isNegated = NEGATION.test(behindLast(CLAUSE_END, before)) || TAKEN_BACK.test(after);
    if (isNegated || CONDITION.test(behindLast(SENTENCE_END, before)) || BUT_MORE.test(after)) continue;
    return true;
  }
  return false;
}

/** The text behind the last place where `end` matches. */
function behindLast(end: RegExp, text: string): string {
  let from = 0;
  for (const match of text.matchAll(end)) from = match.index + match[0].length;
  return text.slice(from);
}

/** The value that the tool of a structured verdict delivers. */
export interface Verdict {
  readonly needs_improvement: boolean;
  readonly feedback: string;
}

/** True when the output of a run is a verdict. */
export function isVerdict(output: unknown): output is Verdict {
  return isRecord(output) && typeof output["needs_improvement"] === "boolean";
}

/** Name of the tool of a structured verdict. */
export const VERDICT_TOOL = "give_verdict";

/** By this tool a reflection says if the answer is good; the {@link Verdict} is its run's output. */
export function verdictTool(): Tool {
  return defineTool({
    name: VERDICT_TOOL,
    description: "Gives your judgement of the answer.",
    parameters: {
      type: "object",
      properties: {
        needs_improvement: { type: "boolean", description: "False when the answer is good as it is." },
        feedback: { type: "string", description: "What is wrong or missing, and how to improve it." },
      },
      required: ["needs_improvement", "feedback"],
    },
    readOnly: true,
    execute: (verdict) => ({
      content: verdict.feedback,
      finish: { text: verdict.feedback, output: verdict },
    }),
  });
}
