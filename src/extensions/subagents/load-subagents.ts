import { hash } from "node:crypto";
import { basename, join } from "node:path";
import type { Tool } from "../../core/tool/tool.ts";
import { parseMarkdown } from "../markdown/front-matter.ts";
import {
  type Finding,
  type IsTrusted,
  replacedFinding,
  type SourceFolder,
  trustsNoProject,
} from "../markdown/origin.ts";
import { readFolder, readTextFile } from "../markdown/read-text-file.ts";
import { BUILT_IN_SUBAGENTS } from "./built-in-subagents.ts";
import { isNamed } from "./named-tools.ts";
import type { LoadedSubagent, Subagent } from "./subagent.ts";
import { readDefinition } from "./subagent-definition.ts";

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
