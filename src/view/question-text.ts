import { homedir } from "node:os";
import type { OfferedChoice, Question } from "./question.ts";
import { type QuestionKind, questionKind } from "./question-kind.ts";
import { pathLine } from "./safe-text.ts";
import { valueFields } from "./value-form.ts";

/** The heading of a question, without the size of its change. */
export interface QuestionHeading {
  /** The special aspect of the call: `Run with network`. */
  readonly title: string;
  /** The file, address or tool concerned; absent if the call itself follows. */
  readonly target?: string;
  /** A fact about it: `in the sandbox`. */
  readonly note?: string;
}

const TITLES: { readonly [kind in QuestionKind]: string } = {
  run: "Run",
  network: "Run with network",
  unsandboxed: "Run without sandbox",
  write: "Write",
  edit: "Edit",
  read: "Read",
  search: "Search",
  write_outside: "Write outside the folder",
  read_outside: "Read outside the folder",
  fetch: "Fetch",
  call: "Call",
  ask: "Question",
  plan: "Go ahead with this plan?",
  value: "Question",
};

/** Kinds whose heading is only a title: the call is shown below it. */
const UNTARGETED: ReadonlySet<QuestionKind> = new Set([
  "run",
  "network",
  "unsandboxed",
  "ask",
  "plan",
  "value",
]);

/** The heading of a question, not made safe for a terminal. */
export function questionHeading(question: Question): QuestionHeading {
  const { tool = "", input = {}, agent, outside, runs, diff } = question;
  const kind = questionKind(question);
  const title = `${agent === undefined ? "" : `${agent}: `}${titleOf(question)}`;
  if (kind === "run" && runs === "inside") return { title, note: "in the sandbox" };
  if (UNTARGETED.has(kind)) return { title };
  if (kind === "call") return { title, target: tool };
  const named = kind === "fetch" ? input["url"] : (diff?.path ?? input["path"]);
  const target = outside === undefined ? named : tilde(outside);
  return typeof target === "string" ? { title, target: pathLine(target) } : { title };
}

function titleOf(question: Question): string {
  const kind = questionKind(question);
  const [first] = kind === "ask" ? valueFields(question.schema ?? {}) : [];
  return first?.label ?? TITLES[kind];
}

/** The facts a person needs besides the call: what it reaches, why the model wants it, why it is asked. */
export function questionNotes(question: Question): readonly string[] {
  const { tool, input = {}, reason, type } = question;
  if (type !== "permission") return [];
  const { reason: wanted } = input;
  const reached = REACH_NOTES[questionKind(question)];
  return [
    ...(reached === undefined ? [] : [reached]),
    ...(tool === "bash" && typeof wanted === "string" && wanted.trim() !== ""
      ? [`Reason given: ${wanted}`]
      : []),
    ...(reason === "" ? [] : [reason]),
  ];
}

const REACH_NOTES: { readonly [kind in QuestionKind]?: string } = {
  network: "Reaches the network. Its files stay in the sandbox.",
  unsandboxed: "Runs outside the sandbox, with everything that you can reach.",
};

/** The text of an answer. */
export function choiceText({ choice, rule }: OfferedChoice, question: Question): string {
  const isCommand = question.tool === "bash";
  const kind = questionKind(question);
  switch (choice) {
    case "once":
      return isCommand ? "Run once" : "Allow once";
    case "edits":
      return "Allow all edits in this session";
    case "always":
      return alwaysText(rule ?? "");
    case "no":
      return NO_TEXTS[kind] ?? "No, and say why";
    case "stop":
      return kind === "plan" ? "Keep planning" : "No, and stop";
  }
}

const NO_TEXTS: { readonly [kind in QuestionKind]?: string } = {
  ask: "No answer",
  plan: "Change it: say what",
  value: "None of these",
};

function alwaysText(rule: string): string {
  const [, tool = "", pattern] = /^([^(]+)\(([\s\S]*)\)$/.exec(rule) ?? [];
  const verb = { bash: "run", write: "write", edit: "edit", read: "read" }[tool];
  if (verb === undefined || pattern === undefined) return `Always allow ${rule} here`;
  return `Always ${verb} ${tool === "bash" ? pattern : tilde(pattern)} here`;
}

function tilde(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
