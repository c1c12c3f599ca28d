import { hash } from "node:crypto";
import { basename, join } from "node:path";
import { defined } from "../../core/base/json.ts";
import { EFFORTS } from "../../core/model/model.ts";
import type { Tool } from "../../core/tool/tool.ts";
import { field, modelField, namesIn, switchedOff, textField } from "../markdown/fields.ts";
import { type MarkdownDocument, parseMarkdown } from "../markdown/front-matter.ts";
import {
  type Finding,
  type IsTrusted,
  replacedFinding,
  type SourceFolder,
  trustsNoProject,
} from "../markdown/origin.ts";
import { readFolder, readTextFile } from "../markdown/read-text-file.ts";
import { BUILT_IN_SUBAGENTS } from "./built-in-subagents.ts";
import { isNamed, namedTools } from "./named-tools.ts";
import type { LoadedSubagent, Subagent } from "./subagent.ts";

/** Bytes a definition may have. */
const MAX_BYTES = 65_536;
/** Definitions that are looked at in one folder. */
const MAX_FILES = 200;

/** Options of {@link loadSubagents}. */
export interface LoadSubagentsOptions {
  /** Folders with `*.md` definitions; the first one of a name is used. */
  readonly folders: readonly SourceFolder[];
  /** The tools of the run: only they can be given. */
  readonly tools: readonly Tool[];
  /** Decides whether a project's subagent may have tools that change something. Default: it may not. */
  readonly isTrusted?: IsTrusted;
}

/** The subagents that can be used, and what a person should know of the others. */
export interface LoadedSubagents {
  readonly agents: readonly LoadedSubagent[];
  readonly findings: readonly Finding[];
}

/**
 * The subagents of some folders and the built-in ones, whose place one of the same name takes. Never rejects:
 * what cannot be used is told in `findings`. Folders that are not there hold nothing.
 */
export async function loadSubagents(options: LoadSubagentsOptions): Promise<LoadedSubagents> {
  const agents = new Map<string, LoadedSubagent>();
  const findings: Finding[] = [];
  for (const source of options.folders) {
    for (const path of definitions(source, findings)) {
      const loaded = await load(path, source, options, findings);
      if (loaded === undefined) continue;
      const known = agents.get(loaded.name);
      if (known === undefined) agents.set(loaded.name, loaded);
      else {
        const by = { path: known.path ?? "", origin: known.origin };
        findings.push(
          replacedFinding({ path, origin: loaded.origin }, { what: `subagent ${loaded.name}`, by }),
        );
      }
    }
  }
  for (const builtIn of BUILT_IN_SUBAGENTS) {
    const known = agents.get(builtIn.name);
    if (known === undefined) continue;
    const message = `takes the place of the built-in subagent ${builtIn.name}`;
    const isTaken = known.origin === "project" && known.trusted !== true;
    findings.push({ path: known.path ?? "", level: isTaken ? "fault" : "note", message });
  }
  const rest = BUILT_IN_SUBAGENTS.filter(({ name }) => !agents.has(name));
  return { agents: [...rest, ...agents.values()], findings };
}

function definitions({ path }: SourceFolder, findings: Finding[]): readonly string[] {
  const names = readFolder(path, findings).flatMap(({ name }) => (name.endsWith(".md") ? [name] : []));
  const message = `has ${names.length} definitions, of which the first ${MAX_FILES} are read`;
  if (names.length > MAX_FILES) findings.push({ path, level: "fault", message });
  return names.slice(0, MAX_FILES).map((name) => join(path, name));
}

async function load(
  path: string,
  { origin, root }: SourceFolder,
  { tools, isTrusted = trustsNoProject }: LoadSubagentsOptions,
  findings: Finding[],
): Promise<LoadedSubagent | undefined> {
  const tell = (level: Finding["level"], message: string): undefined => {
    findings.push({ path, level, message });
  };
  const file = readTextFile(path, { maxBytes: MAX_BYTES, within: root });
  if (file === undefined) return undefined;
  if ("fault" in file) return tell("fault", file.fault);
  const document = await parseMarkdown(file.text);
  if ("fault" in document) return tell("fault", document.fault);
  const read = readDefinition(document, { fileName: basename(path, ".md"), tools });
  if ("fault" in read) return tell("fault", read.fault);
  for (const note of read.notes) tell("note", note);
  const { subagent } = read;
  const loaded = { ...subagent, origin, path };
  const acting = actingTools(subagent, tools);
  if (origin !== "project" || (acting.length === 0 && subagent.model === undefined)) return loaded;
  const item = {
    kind: "subagent",
    name: subagent.name,
    origin,
    path,
    contentHash: hash("sha256", file.text),
  } as const;
  if (await isTrusted(item)) return { ...loaded, trusted: true };
  // Where the conversation goes is not for a project to say.
  const { model, ...atHome } = loaded;
  if (model !== undefined)
    tell(
      "note",
      `the subagent ${subagent.name} gets the model of the run: what this project brings is not trusted`,
    );
  if (acting.length === 0) return { ...atHome, trusted: false };
  if (!tools.some((tool) => tool.readOnly === true && isGiven(tool, subagent)))
    return tell(
      "fault",
      `the subagent ${subagent.name} is left out: all its tools act (${acting.join(", ")}), and what this project brings is not trusted`,
    );
  tell("note", `the subagent ${subagent.name} only reads: what this project brings is not trusted`);
  return { ...atHome, readOnly: true, trusted: false };
}

/** The tools of a subagent that may change something. */
function actingTools(subagent: Subagent, tools: readonly Tool[]): readonly string[] {
  if (subagent.readOnly === true) return [];
  const known = tools.filter((tool) => tool.readOnly !== true && isGiven(tool, subagent));
  const names = known.map(({ name }) => name);
  // Tools of servers that are not there yet may be anything.
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
/** Model requests a definition may ask for. */
const MAX_ITERATIONS = 200;
/** Fields of other agents that would have an effect there and have none here. */
const WITHOUT_EFFECT = ["hooks", "mcpServers", "permission", "skills", "background", "isolation"] as const;

/** A definition that can be used, with what differs from what it says; or why it cannot. */
type ReadDefinition =
  | { readonly subagent: Subagent; readonly notes: readonly string[] }
  | { readonly fault: string };

/** Facts that a definition is read with. */
interface DefinitionContext {
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
function readDefinition(
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
