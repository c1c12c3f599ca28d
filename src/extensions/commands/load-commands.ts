import { hash } from "node:crypto";
import { join } from "node:path";
import { modelField, namesIn, textField } from "../markdown/fields.ts";
import { parseMarkdown } from "../markdown/front-matter.ts";
import {
  type Finding,
  type IsTrusted,
  replacedFinding,
  type SourceFolder,
  trustsNoProject,
} from "../markdown/origin.ts";
import { readFolder, readTextFile } from "../markdown/read-text-file.ts";
import type { CommandFile } from "./command-file.ts";
import { commandParts } from "./expand-command.ts";

/** Bytes a command file may have. */
const MAX_BYTES = 262_144;
/** Files that are looked at in one folder and those below, and how deep. */
const MAX_FILES = 500;
const MAX_DEPTH = 4;
const MAX_DESCRIPTION = 200;

/** The commands that can be called, and what a person should know of the others. */
export interface LoadedCommands {
  readonly commands: readonly CommandFile[];
  readonly findings: readonly Finding[];
}

/** What {@link loadCommands} works with. */
export interface LoadCommandsOptions {
  readonly folders: readonly SourceFolder[];
  /** Decides whether a project's command may run commands and bring rules. Default: it may not. */
  readonly isTrusted?: IsTrusted;
}

/**
 * Finds the commands of some folders: each `*.md` in them and below. Of several of one name the first is
 * used. Never rejects: what cannot be used is told in `findings`. Folders that are not there hold nothing.
 */
export async function loadCommands(options: LoadCommandsOptions): Promise<LoadedCommands> {
  const commands = new Map<string, CommandFile>();
  const findings: Finding[] = [];
  for (const source of options.folders) {
    for (const below of markdownFiles(source.path, findings)) {
      const path = join(source.path, below);
      const loaded = await loadCommand(path, below, { source, options, findings });
      if (loaded === undefined) continue;
      const known = commands.get(loaded.name);
      if (known === undefined) commands.set(loaded.name, loaded);
      else findings.push(replacedFinding(loaded, { what: `command /${loaded.name}`, by: known }));
    }
  }
  return { commands: [...commands.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), findings };
}

/** Paths of the Markdown files below a folder, with `/`, in order; links and hidden names left out. */
function markdownFiles(folder: string, findings: Finding[]): readonly string[] {
  const found: string[] = [];
  const walk = (below: string, depth: number): void => {
    for (const entry of readFolder(join(folder, below), findings)) {
      if (found.length >= MAX_FILES) return;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) walk(path, depth + 1);
      } else if (entry.name.endsWith(".md")) found.push(path);
    }
  };
  walk("", 1);
  return found;
}

interface LoadPlace {
  readonly source: SourceFolder;
  readonly options: LoadCommandsOptions;
  readonly findings: Finding[];
}

async function loadCommand(
  path: string,
  below: string,
  { source: { origin, root }, options, findings }: LoadPlace,
): Promise<CommandFile | undefined> {
  const tell = (level: Finding["level"], message: string): undefined => {
    findings.push({ path, level, message });
  };
  const name = below.slice(0, -".md".length).replaceAll("/", ":");
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u.test(name))
    return tell("fault", `is named ${JSON.stringify(name)}: use letters, digits, - and _ for a command`);
  const file = readTextFile(path, { maxBytes: MAX_BYTES, within: root });
  if (file === undefined) return undefined;
  if ("fault" in file) return tell("fault", file.fault);
  const document = await parseMarkdown(file.text);
  if ("fault" in document) return tell("fault", document.fault);
  const body = document.body.trim();
  if (body === "") return tell("fault", `the command /${name} has no text`);
  const { allowedTools, ...shown } = readFields(document.fields, body, (message) => tell("note", message));
  const runs = commandParts(body).filter((part) => part.type === "run");
  if (runs.some(({ command }) => /\$(?:ARGUMENTS|[1-9])/.test(command)))
    tell("note", "arguments are never put into commands: a $1 or $ARGUMENTS between !` and ` stays empty");
  const item = { kind: "command", name, origin, path, contentHash: hash("sha256", file.text) } as const;
  const acts = runs.length > 0 || allowedTools.length > 0 || shown.model !== undefined;
  const mayRun = origin !== "project" || !acts || (await (options.isTrusted ?? trustsNoProject)(item));
  if (!mayRun)
    tell(
      "note",
      `the command /${name} runs nothing and brings neither rules nor a model: what this project brings is not trusted`,
    );
  const { model: _model, ...plain } = shown;
  const fields = mayRun ? { ...shown, allowedTools } : { ...plain, allowedTools: [] };
  return { name, ...fields, origin, path, body, mayRun };
}

/** What the front matter says. */
function readFields(
  fields: Readonly<Record<string, unknown>>,
  body: string,
  note: (message: string) => void,
): Pick<CommandFile, "description" | "argumentHint" | "allowedTools" | "model" | "agent"> {
  const allowedTools = namesIn(fields["allowed-tools"] ?? []);
  if (allowedTools === undefined) note("allowed-tools is left out: write names, or a list of them");
  const optional = {
    argumentHint: hintIn(fields),
    model: modelField(fields, note),
    agent: textField(fields, "agent"),
  };
  return {
    description: (textField(fields, "description") ?? firstLine(body))
      .slice(0, MAX_DESCRIPTION)
      .toWellFormed(),
    allowedTools: allowedTools ?? [],
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

/** What a command without a description is shown with. */
function firstLine(body: string): string {
  return (body.split("\n", 1)[0] ?? "").replace(/^#+\s*/, "").trim();
}

/** `argument-hint: [file]` is a text to people and a list to YAML. */
function hintIn(fields: Readonly<Record<string, unknown>>): string | undefined {
  const listed = Array.isArray(fields["argument-hint"]) ? namesIn(fields["argument-hint"]) : undefined;
  return listed === undefined ? textField(fields, "argument-hint") : `[${listed.join(", ")}]`;
}
