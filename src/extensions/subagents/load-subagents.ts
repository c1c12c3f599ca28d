import { basename, join } from "node:path";
import { omitUndefined } from "../../core/base/json.ts";
import { EFFORTS } from "../../core/model/model.ts";
import type { Tool } from "../../core/tool/tool.ts";
import { disabledNames, field, modelField, namesIn, textField } from "../markdown/fields.ts";
import {
  type Definition,
  type DefinitionFile,
  loadDefinitions,
  trustItemOf,
} from "../markdown/load-definitions.ts";
import { type Finding, type IsTrusted, type SourceFolder, trustNoProject } from "../markdown/origin.ts";
import { readFolder } from "../markdown/read-text-file.ts";
import { BUILT_IN_SUBAGENTS, isNamed, type LoadedSubagent, namedTools, type Subagent } from "./task-tool.ts";

const MAX_BYTES = 65_536;
const MAX_FILES = 200;

/** Options of {@link loadSubagents}. */
export interface LoadSubagentsOptions {
  /** Folders with `*.md` definitions; the first one with a name is used. */
  readonly folders: readonly SourceFolder[];
  /** The tools of the run: subagents can get no others. */
  readonly tools: readonly Tool[];
  /** Decides whether a project's subagent may have tools that change something. Default: it may not. */
  readonly isTrusted?: IsTrusted;
}

/** The usable subagents, and findings about the others for a person. */
export interface LoadedSubagents {
  readonly agents: readonly LoadedSubagent[];
  readonly findings: readonly Finding[];
}

/**
 * Loads the subagents in folders, plus the built-in ones unless replaced by one of the same name. Never
 * rejects: unusable ones are reported in `findings`. Missing folders count as empty.
 */
export async function loadSubagents({
  folders,
  tools,
  isTrusted = trustNoProject,
}: LoadSubagentsOptions): Promise<LoadedSubagents> {
  const { definitions, findings } = await loadDefinitions(folders, {
    maxBytes: MAX_BYTES,
    title: (name) => `subagent ${name}`,
    files: definitionFiles,
    read: (definition) => readSubagent(definition, tools, isTrusted),
  });
  const isBuiltIn = (name: string) => BUILT_IN_SUBAGENTS.some((each) => each.name === name);
  for (const { name, path, origin, trusted } of definitions) {
    if (!isBuiltIn(name)) continue;
    const isReplaced = origin === "project" && trusted !== true;
    const message = `takes the place of the built-in subagent ${name}`;
    findings.push({ path, level: isReplaced ? "fault" : "note", message });
  }
  const names = new Set(definitions.map(({ name }) => name));
  return { agents: [...BUILT_IN_SUBAGENTS.filter(({ name }) => !names.has(name)), ...definitions], findings };
}

function definitionFiles({ path }: SourceFolder, findings: Finding[]): readonly DefinitionFile[] {
  const names = readFolder(path, findings).flatMap(({ name }) => (name.endsWith(".md") ? [name] : []));
  const message = `has ${names.length} definitions, of which the first ${MAX_FILES} are read`;
  if (names.length > MAX_FILES) findings.push({ path, level: "fault", message });
  return names.slice(0, MAX_FILES).map((name) => ({ path: join(path, name), name: basename(name, ".md") }));
}

type FileSubagent = LoadedSubagent & { readonly path: string };

async function readSubagent(
  definition: Definition,
  tools: readonly Tool[],
  isTrusted: IsTrusted,
): Promise<FileSubagent | undefined> {
  const { origin, path, report } = definition;
  const subagent = readFields(definition, tools);
  if (subagent === undefined) return undefined;
  const { name } = subagent;
  const loaded = { ...subagent, origin, path };
  const actingNames = actingTools(subagent, tools);
  if (origin !== "project" || (actingNames.length === 0 && subagent.model === undefined)) return loaded;
  if (await isTrusted(trustItemOf(definition, "subagent", name))) return { ...loaded, trusted: true };
  // A project must not decide where the conversation is sent.
  const { model, ...withoutModel } = loaded;
  if (model !== undefined)
    report("note", `the subagent ${name} gets the model of the run: what this project brings is not trusted`);
  if (actingNames.length === 0) return { ...withoutModel, trusted: false };
  if (!tools.some((tool) => tool.readOnly === true && isGiven(tool, subagent)))
    return report(
      "fault",
      `the subagent ${name} is left out: all its tools act (${actingNames.join(", ")}), and what this project brings is not trusted`,
    );
  report("note", `the subagent ${name} only reads: what this project brings is not trusted`);
  return { ...withoutModel, readOnly: true, trusted: false };
}

function actingTools(subagent: Subagent, tools: readonly Tool[]): readonly string[] {
  if (subagent.readOnly === true) return [];
  const known = tools.filter((tool) => tool.readOnly !== true && isGiven(tool, subagent));
  const names = known.map(({ name }) => name);
  // Tools of servers not yet connected may do anything.
  const later = (subagent.tools ?? []).filter((name) => typeof name === "string" && name.startsWith("mcp__"));
  return [...names, ...later.map(String)];
}

function isGiven({ name }: Tool, { tools, disallowedTools = [] }: Subagent): boolean {
  if (isNamed(name, disallowedTools)) return false;
  const names = tools?.filter((each) => typeof each === "string");
  return names === undefined || isNamed(name, names);
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_DESCRIPTION = 1_024;
const MAX_ITERATIONS = 200;
/** Fields that other agents use. */
const IGNORED_FIELDS = ["hooks", "mcpServers", "permission", "skills", "background", "isolation"] as const;

/**
 * Parses a subagent from its Markdown definition: front matter fields (`name`, `description`, `tools`,
 * `disallowedTools`, `model`, `maxTurns`, `effort`, `permissionMode`), and the body as its system prompt.
 * Fields of other agents are tolerated.
 */
function readFields(
  { fields, body, report, name: fileName }: Definition,
  tools: readonly Tool[],
): Subagent | undefined {
  const note = (message: string): undefined => report("note", message);
  const name = textField(fields, "name") ?? fileName;
  if (!NAME.test(name))
    return report(
      "fault",
      `is named ${JSON.stringify(name.slice(0, 80))}: use letters, digits, - and _, at most 64`,
    );
  const description = textField(fields, "description");
  if (description === undefined)
    return report("fault", `the subagent ${name} has no description: say what to use it for`);
  if (body.trim() === "")
    return report("fault", `the subagent ${name} has no instructions after its front matter`);
  const toolFields = readTools(fields, tools);
  if ("fault" in toolFields) return report("fault", `the subagent ${name} ${toolFields.fault}`);
  const { unknown, ...given } = toolFields;
  unknown.forEach(note);
  for (const each of IGNORED_FIELDS)
    if (field(fields, each) !== undefined) note(`the field ${each} has no effect`);
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
    systemPrompt: body.trim(),
    ...given,
    ...omitUndefined({
      model: modelField(fields, note),
      readOnly: readMode(fields, note),
      effort: readEffort(fields, note),
      maxIterations: readIterations(fields, note),
    }),
  };
}

type ToolFields = Pick<Subagent, "tools" | "disallowedTools"> & { readonly unknown: readonly string[] };

function readTools(
  fields: Readonly<Record<string, unknown>>,
  known: readonly Tool[],
): ToolFields | { readonly fault: string } {
  const given = field(fields, "tools")?.value;
  const off = disabledNames(given) ?? [];
  const forbidden = namesIn(field(fields, "disallowedTools", "disallowed-tools")?.value ?? []);
  if (forbidden === undefined) return { fault: "has disallowedTools that are not a list of names" };
  const disallowed = namedTools([...forbidden.map(withoutPattern), ...off], known).names;
  const without = disallowed.length === 0 ? {} : { disallowedTools: disallowed };
  if (given === undefined || given === "*" || given === "all" || disabledNames(given) !== undefined)
    return { ...without, unknown: [] };
  const list = namesIn(given);
  if (list === undefined) return { fault: "has tools that are not a list of names" };
  const { names, unknown } = namedTools(list, known);
  if (names.length === 0 && list.length > 0)
    return { fault: `names no tool that exists here: ${unknown.join("; ")}` };
  return { ...without, tools: names, unknown };
}

/** A subagent gets whole tools, and forbidding a part forbids all of it. */
function withoutPattern(name: string): string {
  const bracket = name.indexOf("(");
  return bracket === -1 ? name : name.slice(0, bracket);
}

type Note = (message: string) => undefined;

function readMode(fields: Readonly<Record<string, unknown>>, note: Note): true | undefined {
  const mode = textField(fields, "permissionMode");
  if (mode === "plan") return true;
  if (mode === undefined || mode === "default" || mode === "inherit") return undefined;
  return note(`permissionMode ${mode} has no effect: the permission of the run holds`);
}

function readEffort(fields: Readonly<Record<string, unknown>>, note: Note): Subagent["effort"] {
  const given = textField(fields, "effort");
  const effort = EFFORTS.find((each) => each === given);
  if (given === undefined || effort !== undefined) return effort;
  return note(`the effort ${JSON.stringify(given.slice(0, 80))} is not one of ${EFFORTS.join(", ")}`);
}

function readIterations(fields: Readonly<Record<string, unknown>>, note: Note): number | undefined {
  const given = field(fields, "maxTurns", "max_turns", "maxSteps", "steps", "maxIterations");
  if (given === undefined) return undefined;
  const turns = typeof given.value === "string" ? Number(given.value) : given.value;
  if (typeof turns !== "number" || !Number.isInteger(turns) || turns < 1)
    return note(`${given.name} must be a whole number from 1`);
  if (turns > MAX_ITERATIONS) note(`${given.name} ${turns} is cut to ${MAX_ITERATIONS}`);
  return Math.min(turns, MAX_ITERATIONS);
}
