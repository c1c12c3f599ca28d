import { ownValue } from "../core/base/json.ts";
import type { ToolInput } from "../core/message/message.ts";
import { ASK_TOOL } from "../tools/ask-tool.ts";
import type { Question } from "./question.ts";
import { pathLine } from "./safe-text.ts";

/** The tool that submits a plan for approval. */
export const PLAN_TOOL = "present_plan";

/** The kind of a question, shown in its heading. `value`: not a call, but a value or a choice. */
export type QuestionKind =
  | "run"
  | "network"
  | "unsandboxed"
  | "write"
  | "edit"
  | "read"
  | "search"
  | "write_outside"
  | "read_outside"
  | "fetch"
  | "call"
  | "ask"
  | "plan"
  | "value";

const VALUE_KINDS: { readonly [tool: string]: QuestionKind | undefined } = {
  [PLAN_TOOL]: "plan",
  [ASK_TOOL]: "ask",
};

export function questionKind({ type, tool, runs, outside }: Question): QuestionKind {
  if (type !== "permission") return ownValue(VALUE_KINDS, tool) ?? "value";
  switch (tool) {
    case "bash":
      return runs === "network" ? "network" : runs === "outside" ? "unsandboxed" : "run";
    case "write":
    case "edit":
      return outside === undefined ? tool : "write_outside";
    case "read":
      return outside === undefined ? "read" : "read_outside";
    case "glob":
    case "grep":
      return outside === undefined ? "search" : "read_outside";
    case "web_fetch":
      return "fetch";
    default:
      return "call";
  }
}

/** The complete effect of a call, for a person to decide on, without what heading and notes show. */
interface CallSubject {
  /** The most telling argument: the command of `bash`, else a path or an address, on one line. */
  readonly main: string;
  /** All other arguments given. */
  readonly others: ToolInput;
}

/** The subject of a call; `undefined` if no argument represents the others. */
export function questionSubject({ tool, input = {} }: Question): CallSubject | undefined {
  const isCommand = tool === "bash";
  const name = isCommand ? "command" : typeof input["path"] === "string" ? "path" : "url";
  const main = input[name];
  if (typeof main !== "string") return undefined;
  const omitted = isCommand ? [name, "access", "reason"] : [name];
  const others = Object.entries(input).filter(
    ([key, value]) => value !== undefined && !omitted.includes(key),
  );
  return { main: isCommand ? main : pathLine(main), others: Object.fromEntries(others) };
}
