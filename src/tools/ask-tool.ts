import type { Json } from "../core/base/errors.ts";
import { isRecord, ownValue } from "../core/base/json.ts";
import type { JsonSchema, SchemaIssue } from "../core/base/schema.ts";
import { defineTool, type Tool, type ToolResult } from "../core/tool/tool.ts";

export const ASK_TOOL = "ask_user";

/** A question from the model and the answers it offers. Any other text is a valid answer too. */
export interface AskedQuestion {
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description?: string }[];
  /** True if several options may be chosen. Default false. */
  readonly multiple?: boolean;
}

/** The answers by question: a label, the person's own words, or several of either. */
export interface AskAnswers {
  readonly [question: string]: string | readonly string[];
}

/**
 * The `ask_user` tool: the model asks a person up to four questions. The call is put to a person like one
 * that needs approval, and the answer is given as its input: `{ approved: true, input: { questions, answers }
 * }` with {@link AskAnswers}, immediately or later, even in another process. A plain yes means there is no
 * answer, and the model is told to use its best judgment. Offer this tool only if a person can answer.
 */
export function createAskTool(): Tool {
  const tool = defineTool({
    name: ASK_TOOL,
    description: "Asks what only the user can decide: 1-4 questions, 2-5 options each.",
    parameters: {
      type: "object",
      properties: {
        questions: {
          type: "array",
          items: {
            type: "object",
            properties: {
              question: { type: "string" },
              options: {
                type: "array",
                items: {
                  type: "object",
                  properties: { label: { type: "string" }, description: { type: "string" } },
                  required: ["label"],
                },
              },
              multiple: { type: "boolean" },
            },
            required: ["question", "options"],
          },
        },
      },
      required: ["questions"],
    },
    readOnly: true,
    needsApproval: true,
    execute: (input) => answersResult(input.questions, (input as { readonly answers?: unknown }).answers),
  });
  const { jsonSchema, validate } = tool.schema;
  return {
    ...tool,
    schema: {
      jsonSchema,
      validate: async (value) => {
        const checked = await validate(value);
        if (!checked.ok) return checked;
        const { questions } = checked.value as { readonly questions: readonly AskedQuestion[] };
        const issues = issuesOf(questions);
        return issues.length === 0 ? checked : { ok: false, issues };
      },
    },
  };
}

function issuesOf(questions: readonly AskedQuestion[]): readonly SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  const checkCount = ({ length }: readonly unknown[], path: string, least: number, most: number): boolean => {
    const isRight = length >= least && length <= most;
    if (!isRight) issues.push({ path, message: `must have ${least} to ${most} items, got ${length}` });
    return isRight;
  };
  const checkTexts = (texts: readonly string[], pathOf: (index: number) => string): void => {
    const seen = new Set<string>();
    for (const [index, text] of texts.entries()) {
      const key = text.trim().toLowerCase();
      if (key === "") issues.push({ path: pathOf(index), message: "must not be empty" });
      else if (seen.has(key))
        issues.push({ path: pathOf(index), message: `is a duplicate: ${JSON.stringify(text)}` });
      seen.add(key);
    }
  };
  // One issue is enough if there are too many questions.
  if (!checkCount(questions, "questions", 1, 4)) return issues;
  checkTexts(
    questions.map(({ question }) => question),
    (at) => `questions[${at}].question`,
  );
  for (const [at, { options }] of questions.entries()) {
    const path = `questions[${at}].options`;
    checkCount(options, path, 2, 5);
    checkTexts(
      options.map(({ label }) => label),
      (index) => `${path}[${index}].label`,
    );
  }
  return issues;
}

function answersResult(questions: readonly AskedQuestion[], given: unknown): ToolResult {
  const answers = questions.map(({ question }) => answerTo(question, given));
  const nonEmpty = answers.filter((each) => each.length > 0);
  if (nonEmpty.length === 0)
    return { content: "No answer: continue with your best judgment.", title: "no answer" };
  const lines = questions.map(({ question }, at) => {
    const answer = answers[at] ?? [];
    return `${question}\n${answer.length === 0 ? "No answer: use your best judgment." : `Answer: ${answer.join("; ")}`}`;
  });
  return { content: lines.join("\n\n"), title: nonEmpty.map((each) => each.join(", ")).join(" · ") };
}

function answerTo(question: string, given: unknown): readonly string[] {
  const answer = isRecord(given) ? ownValue(given, question) : undefined;
  const texts: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  return texts.flatMap((each) => (typeof each === "string" && each.trim() !== "" ? [each.trim()] : []));
}

/** The form that a person fills in: one field per question, named by it, that also accepts other text. */
export function askForm(questions: readonly AskedQuestion[]): JsonSchema {
  const field = ({ question, options, multiple = false }: AskedQuestion): JsonSchema => {
    const offered = options.map(
      ({ label, description }): JsonSchema => ({
        const: label,
        ...(description === undefined ? {} : { description }),
      }),
    );
    const one: JsonSchema = { anyOf: [...offered, { type: "string" }] as Json[] };
    return { title: question, ...(multiple ? { type: "array", items: one } : one) };
  };
  return {
    type: "object",
    properties: Object.fromEntries(questions.map((each) => [each.question, field(each)])),
    additionalProperties: false,
  };
}
