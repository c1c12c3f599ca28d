import {
  type AgentContext,
  type ClientCapabilities,
  methods,
  type PermissionOption,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import type { Json } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import { fenced } from "../../core/base/text.ts";
import { withHiddenShown } from "../../permission/hidden-characters.ts";
import type { AnswerChoice, OfferedChoice, Question, QuestionReply } from "../../view/question.ts";
import { questionKind, questionSubject } from "../../view/question-kind.ts";
import { choiceText, questionHeading, questionNotes } from "../../view/question-text.ts";
import { ValueForm } from "../../view/value-form.ts";
import { diffContent, isShownAsDiff, toolFacts } from "./updates.ts";

export interface QuestionPlace {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly cwd: string;
  readonly capabilities: ClientCapabilities | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export const REFUSED: QuestionReply = { choice: "no" };

/**
 * Asks the person at the editor. An editor that cannot ask, or fails, refuses. `undefined`: it says that the
 * prompt is cancelled.
 */
export async function askClient(
  question: Question,
  place: QuestionPlace,
): Promise<QuestionReply | undefined> {
  try {
    switch (questionKind(question)) {
      case "plan":
        return await askPlan(question, place);
      case "ask":
        return place.capabilities?.elicitation?.form == null
          ? await askOneByOne(question, place)
          : await askValue(question, place);
      case "value":
        return await askValue(question, place);
      default:
        return await askPermission(question, place);
    }
  } catch {
    // An editor that cannot ask, or went away, has not said yes.
    return REFUSED;
  }
}

async function askPermission(question: Question, place: QuestionPlace): Promise<QuestionReply | undefined> {
  const { tool = "", input = {}, agent, choices, diff } = question;
  const named = agent === undefined ? "" : `${agent}: `;
  const chosen = await choose(question, place, {
    title: `${named}${questionTitle(question)}`,
    content: [...diffContent({ name: tool, input, diff }, place.cwd), ...noteContent(question)],
    options: choices.map((each) => toOption(each, question)),
  });
  if (chosen === undefined) return undefined;
  const offered = choices.find(({ choice }) => choice === chosen);
  if (offered === undefined) return REFUSED;
  return { choice: offered.choice, ...defined({ rule: offered.rule }) };
}

interface Offer {
  readonly title: string;
  readonly content: readonly ToolCallContent[];
  readonly options: readonly PermissionOption[];
}

/** Has the person choose an option, and resolves to its id; `undefined`: the prompt is cancelled. */
async function choose(
  { callId, id, tool = "", input = {} }: Question,
  { client, sessionId, cwd, signal }: QuestionPlace,
  { title, content, options }: Offer,
): Promise<string | undefined> {
  const { outcome } = await client.request(
    methods.client.session.requestPermission,
    {
      sessionId,
      toolCall: {
        toolCallId: callId ?? id,
        title: withHiddenShown(title),
        status: "pending",
        rawInput: input,
        ...toolFacts(tool, input, cwd),
        content: [...content],
      },
      options: [...options],
    },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  return outcome.outcome === "cancelled" ? undefined : outcome.optionId;
}

/** A plan below its title. What is to change is said with the next message: an editor has no field for it. */
async function askPlan(question: Question, place: QuestionPlace): Promise<QuestionReply | undefined> {
  const { options = [], input = {} } = question;
  const chosen = await choose(question, place, {
    title: questionHeading(question).title,
    content: [textContent(String(input["plan"]))],
    options: [
      ...options.map(
        ({ value, label }): PermissionOption => ({ optionId: value, name: label, kind: "allow_once" }),
      ),
      { optionId: "stop", name: choiceText({ choice: "stop" }, question), kind: "reject_once" },
    ],
  });
  if (chosen === undefined) return undefined;
  return options.some(({ value }) => value === chosen) ? { value: chosen } : { choice: "stop" };
}

/** The questions of the model for an editor that has no forms: one option of each can be chosen. */
async function askOneByOne(question: Question, place: QuestionPlace): Promise<QuestionReply | undefined> {
  const form = new ValueForm(question.schema ?? {});
  for (let field = form.field; field !== undefined; field = form.field) {
    const { label, kind, options } = field;
    const notes = options.flatMap((each) => (each.note === undefined ? [] : [`${each.label}: ${each.note}`]));
    const chosen = await choose(question, place, {
      title: label,
      content: notes.length === 0 ? [] : [textContent(notes.join("\n\n"))],
      options: [
        ...options.map((each, at): PermissionOption => {
          return { optionId: String(at), name: withHiddenShown(each.label), kind: "allow_once" };
        }),
        { optionId: "no", name: choiceText({ choice: "no" }, question), kind: "reject_once" },
      ],
    });
    if (chosen === undefined) return undefined;
    const value = options[Number(chosen)]?.value;
    if (value === undefined) return form.leave(question);
    const taken = form.give(kind === "several" ? [value] : value);
    if (taken !== undefined) return "value" in taken ? taken : REFUSED;
  }
  return REFUSED;
}

function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: withHiddenShown(text) } };
}

/** A longer text, and one of several lines, stands below the title as well. */
const MAX_TITLE = 300;

const HIDES = "It has characters that do not show; they stand here as their numbers:";

/** All that a call would do, but for what a diff shows. */
function subjectOf(question: Question): string {
  const { tool = "", input = {}, diff } = question;
  const subject = questionSubject(question);
  if (subject === undefined) return JSON.stringify(input);
  const change = { name: tool, input, diff };
  const rest = Object.entries(subject.others).filter(([name]) => !isShownAsDiff(change, name));
  return rest.length === 0 ? subject.main : `${subject.main} ${JSON.stringify(Object.fromEntries(rest))}`;
}

/** The end of a command is always shown: it is what runs last. */
function questionTitle(question: Question): string {
  const { title, target = "" } = questionHeading(question);
  const text = subjectOf(question);
  const shown = text.length <= MAX_TITLE ? text : `${text.slice(0, 150)} … ${text.slice(-145)}`;
  return `${title} ${shown.includes(target) ? "" : `${target} `}${shown}`;
}

/**
 * All of what the title leaves out, what the call reaches and why it is asked. Editors show it as Markdown,
 * in which a call could hide a part of itself.
 */
function noteContent(question: Question): ToolCallContent[] {
  const subject = subjectOf(question);
  const input = inputText(question, (text) => text);
  const shown = withHiddenShown(inputText(question, withHiddenShown));
  const texts = [
    ...(shown === input ? [] : [HIDES, fenced(shown)]),
    ...(subject.length > MAX_TITLE || subject.includes("\n") ? [fenced(withHiddenShown(subject))] : []),
    ...questionNotes(question).map((note) => withHiddenShown(note)),
  ];
  if (texts.length === 0) return [];
  return [{ type: "content", content: { type: "text", text: texts.join("\n\n") } }];
}

/** The arguments of a call as JSON, its texts as `look` makes them; the ends of lines of DOS are no signs. */
function inputText({ input = {} }: Question, look: (text: string) => string): string {
  const text = (value: unknown): unknown =>
    typeof value === "string" ? look(value.replaceAll("\r\n", "\n")) : value;
  return JSON.stringify(input, (_name, value: unknown) => text(value), 2);
}

/** An editor may remember an answer that is always given: stopping one run is not such a no. */
const KINDS: { readonly [choice in AnswerChoice]: PermissionOption["kind"] } = {
  once: "allow_once",
  edits: "allow_always",
  always: "allow_always",
  no: "reject_once",
  stop: "reject_once",
};

function toOption(offered: OfferedChoice, question: Question): PermissionOption {
  const { choice } = offered;
  const name = choice === "no" ? "No" : choiceText(offered, question);
  return { optionId: choice, name: withHiddenShown(name), kind: KINDS[choice] };
}

async function askValue(
  question: Question,
  { client, sessionId, capabilities, signal }: QuestionPlace,
): Promise<QuestionReply> {
  const form = capabilities?.elicitation?.form;
  if (form === undefined || form === null) return REFUSED;
  const { schema, options, reason } = question;
  const { title } = questionHeading(question);
  const requestedSchema = schema ?? {
    type: "object",
    properties: { choice: { type: "string", enum: (options ?? []).map(({ value }) => value) } },
    required: ["choice"],
  };
  const answer = await client.request<{ readonly action: string; readonly content?: Json }>(
    methods.client.elicitation.create,
    { sessionId, mode: "form", message: withHiddenShown(reason || title), requestedSchema },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (answer.action !== "accept" || answer.content === undefined) return REFUSED;
  const { content } = answer;
  if (schema !== undefined) return { value: content };
  const { choice } = content as { readonly choice?: Json };
  return choice === undefined ? REFUSED : { value: choice };
}
