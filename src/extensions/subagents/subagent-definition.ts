import { defined } from "../../core/base/defined.ts";
import { EFFORTS } from "../../core/model/model.ts";
import type { Tool } from "../../core/tool/tool.ts";
import { field, modelField, namesIn, switchedOff, textField } from "../markdown/fields.ts";
import type { MarkdownDocument } from "../markdown/front-matter.ts";
import { namedTools } from "./named-tools.ts";
import type { Subagent } from "./subagent.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_DESCRIPTION = 1_024;
/** Model requests a definition may ask for. */
const MAX_ITERATIONS = 200;
/** Fields of other agents that would have an effect there and have none here. */
const WITHOUT_EFFECT = ["hooks", "mcpServers", "permission", "skills", "background", "isolation"] as const;

/** A definition that can be used, with what differs from what it says; or why it cannot. */
export type ReadDefinition =
  | { readonly subagent: Subagent; readonly notes: readonly string[] }
  | { readonly fault: string };

/** Facts that a definition is read with. */
export interface DefinitionContext {
  /** The name where the definition has none: that of its file. */
  readonly fileName: string;
  /** The tools of the run. */
  readonly tools: readonly Tool[];
}

/**
 * Reads a subagent from its Markdown definition: fields of the front matter (`name`, `description`, `tools`,
 * `disallowedTools`, `model`, `maxTurns`, `effort`, `permissionMode`), and the body as its system prompt.
 * Fields of other agents are tolerated.
 */
export function readDefinition(
  { fields, body }: MarkdownDocument,
  { fileName, tools }: DefinitionContext,
): ReadDefinition {
  const name = textField(fields, "name") ?? fileName;
  if (!NAME.test(name))
    return {
      fault: `is named ${JSON.stringify(name.slice(0, 80))}: use letters, digits, - and _, at most 64`,
    };
  const description = textField(fields, "description");
  if (description === undefined)
    return { fault: `the subagent ${name} has no description: say what to use it for` };
  if (body.trim() === "")
    return { fault: `the subagent ${name} has no instructions behind its front matter` };
  const notes: string[] = [];
  const toolFields = readTools(fields, tools, notes);
  if ("fault" in toolFields) return { fault: `the subagent ${name} ${toolFields.fault}` };
  for (const each of WITHOUT_EFFECT)
    if (field(fields, each) !== undefined) notes.push(`the field ${each} has no effect`);
  const model = modelField(fields, (note) => notes.push(note));
  const subagent: Subagent = {
    name,
    description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
    systemPrompt: body.trim(),
    ...toolFields,
    ...readMode(fields, notes),
    ...defined({ model }),
    ...readEffort(fields, notes),
    ...readIterations(fields, notes),
  };
  return { subagent, notes };
}

type ToolFields = Pick<Subagent, "tools" | "disallowedTools">;

function readTools(
  fields: Readonly<Record<string, unknown>>,
  known: readonly Tool[],
  notes: string[],
): ToolFields | { readonly fault: string } {
  const given = field(fields, "tools")?.value;
  const off = switchedOff(given) ?? [];
  const forbidden = namesIn(field(fields, "disallowedTools", "disallowed-tools")?.value ?? []);
  if (forbidden === undefined) return { fault: "has disallowedTools that are not a list of names" };
  const disallowed = namedTools([...forbidden.map(withoutPattern), ...off], known).names;
  const without: ToolFields = disallowed.length === 0 ? {} : { disallowedTools: disallowed };
  if (given === undefined || given === "*" || given === "all" || switchedOff(given) !== undefined)
    return without;
  const list = namesIn(given);
  if (list === undefined) return { fault: "has tools that are not a list of names" };
  const { names, unknown } = namedTools(list, known);
  notes.push(...unknown);
  if (names.length === 0 && list.length > 0)
    return { fault: `names no tool that exists here: ${unknown.join("; ")}` };
  return { ...without, tools: names };
}

/** A name without its pattern: a subagent gets whole tools, and who forbids a part forbids all of it. */
function withoutPattern(name: string): string {
  const bracket = name.indexOf("(");
  return bracket === -1 ? name : name.slice(0, bracket);
}

function readMode(fields: Readonly<Record<string, unknown>>, notes: string[]): Pick<Subagent, "readOnly"> {
  const mode = textField(fields, "permissionMode");
  if (mode === "plan") return { readOnly: true };
  if (mode !== undefined && mode !== "default" && mode !== "inherit")
    notes.push(`permissionMode ${mode} has no effect: the permission of the run holds`);
  return {};
}

function readEffort(fields: Readonly<Record<string, unknown>>, notes: string[]): Pick<Subagent, "effort"> {
  const given = textField(fields, "effort");
  const effort = EFFORTS.find((each) => each === given);
  if (given !== undefined && effort === undefined)
    notes.push(`the effort ${JSON.stringify(given.slice(0, 80))} is not one of ${EFFORTS.join(", ")}`);
  return effort === undefined ? {} : { effort };
}

function readIterations(
  fields: Readonly<Record<string, unknown>>,
  notes: string[],
): Pick<Subagent, "maxIterations"> {
  const given = field(fields, "maxTurns", "max_turns", "maxSteps", "steps", "maxIterations");
  if (given === undefined) return {};
  const { name, value } = given;
  const turns = typeof value === "string" ? Number(value) : value;
  if (typeof turns === "number" && Number.isInteger(turns) && turns >= 1) {
    if (turns > MAX_ITERATIONS) notes.push(`${name} ${turns} is cut to ${MAX_ITERATIONS}`);
    return { maxIterations: Math.min(turns, MAX_ITERATIONS) };
  }
  notes.push(`${name} must be a whole number from 1`);
  return {};
}
