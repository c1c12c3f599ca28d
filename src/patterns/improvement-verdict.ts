import { isRecord } from "../core/base/json.ts";
import { defineTool } from "../core/tool/define-tool.ts";
import type { Tool } from "../core/tool/tool.ts";

const PHRASE = /无需改进|無需改進|no\s+need\s+for\s+improvement/giu;
/** Ends of clauses: what stands before them does not negate what follows. */
const CLAUSE_END = /[.。!！?？;；,，:：\n]|\b(?:but|however|though|although|so)\b|但是?|不过|所以|因此/giu;
/** Words that turn the phrase into its opposite when they stand before it in the same clause. */
const NEGATION =
  /\b(?:not|never|cannot|hardly|far\s+from|nor|deny)\b|n['’]t\b|不是|[并並绝而]非|不能说|不可说|不会说|不算|不等于|不意味|不认为|不觉得|不代表|未达到|没有达到|没达到|谈不上|远非|很难说|难说/iu;
/** What makes a question or a refusal of the phrase when it follows. */
const TAKEN_BACK =
  /^["'”’」』)）\s]*(?:[?？]|(?:is|would be|was)\s+(?:not|wrong|false|too)|的?(?:说法|结论|判断)?(?:不成立|是错|并不))/iu;

/**
 * Whether a reflection says that nothing is to be improved: it holds `无需改进` or `no need for improvement` (in any case) at least
 * once where the clause does not negate it or ask for it. Words can be misread: a structured verdict cannot.
 */
export function saysNoImprovement(text: string): boolean {
  for (const match of text.matchAll(PHRASE)) {
    const before = text.slice(Math.max(0, match.index - 200), match.index);
    const clause = before.slice(lastClauseEnd(before));
    const after = text.slice(match.index + match[0].length, match.index + match[0].length + 40);
    if (!NEGATION.test(clause) && !TAKEN_BACK.test(after)) return true;
  }
  return false;
}

function lastClauseEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(CLAUSE_END)) end = match.index + match[0].length;
  return end;
}

/** What the tool of a structured verdict delivers. */
export interface Verdict {
  readonly needs_improvement: boolean;
  readonly feedback: string;
}

/** Whether the output of a run is a verdict. */
export function isVerdict(output: unknown): output is Verdict {
  return isRecord(output) && typeof output["needs_improvement"] === "boolean";
}

/** Name of the tool of a structured verdict. */
export const VERDICT_TOOL = "give_verdict";

/** The tool through which a reflection says whether the answer is good; the {@link Verdict} is the output of the run it ends. */
export function verdictTool(): Tool {
  return defineTool({
    name: VERDICT_TOOL,
    description: "Gives your judgement of the answer.",
    parameters: {
      type: "object",
      properties: {
        needs_improvement: { type: "boolean", description: "False when the answer is good as it is." },
        feedback: { type: "string", description: "What is wrong or missing, and how to mend it." },
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
