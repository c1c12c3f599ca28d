import { join } from "node:path";
import { omitUndefined } from "../../core/base/json.ts";
import { modelField, namesIn, textField } from "../markdown/fields.ts";
import { type Definition, loadDefinitions, trustItemOf } from "../markdown/load-definitions.ts";
import { type Finding, type IsTrusted, type SourceFolder, trustNoProject } from "../markdown/origin.ts";
import { filesBelow } from "../markdown/read-text-file.ts";
import { type CommandFile, commandParts } from "./expand-command.ts";

const MAX_BYTES = 262_144;
const MAX_DESCRIPTION = 200;

export interface LoadedCommands {
  readonly commands: readonly CommandFile[];
  readonly findings: readonly Finding[];
}

/** Loads the commands in folders and their subfolders. By default a project's command runs nothing. */
export async function loadCommands({
  folders,
  isTrusted = trustNoProject,
}: {
  readonly folders: readonly SourceFolder[];
  readonly isTrusted?: IsTrusted;
}): Promise<LoadedCommands> {
  const { definitions, findings } = await loadDefinitions(folders, {
    maxBytes: MAX_BYTES,
    title: (name) => `command /${name}`,
    files: ({ path: folder }, found) => {
      const { paths, cut } = filesBelow(folder, found, ".md");
      const message = "has more files or deeper folders than are looked at";
      if (cut) found.push({ path: folder, level: "note", message });
      return paths.map((path) => ({
        path: join(folder, path),
        name: path.slice(0, -3).replaceAll("/", ":"),
      }));
    },
    read: (definition) => readCommand(definition, isTrusted),
  });
  return { commands: definitions.toSorted((a, b) => (a.name < b.name ? -1 : 1)), findings };
}

async function readCommand(definition: Definition, isTrusted: IsTrusted): Promise<CommandFile | undefined> {
  const { name, origin, path, fields, report } = definition;
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u.test(name))
    return report("fault", `is named ${JSON.stringify(name)}: use letters, digits, - and _ for a command`);
  const body = definition.body.trim();
  if (body === "") return report("fault", `the command /${name} has no text`);
  const given = allowedTools(definition);
  const model = modelField(fields, (message) => report("note", message));
  const runs = commandParts(body).filter((part) => part.type === "run");
  if (runs.some(({ command }) => /\$(?:ARGUMENTS|[1-9])/.test(command)))
    report("note", "arguments are never put into commands: a $1 or $ARGUMENTS between !` and ` stays empty");
  const acts = runs.length > 0 || given.length > 0 || model !== undefined;
  const mayRun = origin !== "project" || !acts || (await isTrusted(trustItemOf(definition, "command", name)));
  if (!mayRun)
    report(
      "note",
      `the command /${name} runs nothing and brings neither rules nor a model: what this project brings is not trusted`,
    );
  return {
    name,
    description: (textField(fields, "description") ?? firstLine(body))
      .slice(0, MAX_DESCRIPTION)
      .toWellFormed(),
    ...omitUndefined({ argumentHint: hintIn(fields), agent: textField(fields, "agent") }),
    ...(mayRun ? { ...omitUndefined({ model }), allowedTools: given } : { allowedTools: [] }),
    origin,
    path,
    body,
    mayRun,
  };
}

function allowedTools({ fields, report }: Definition): readonly string[] {
  const names = namesIn(fields["allowed-tools"] ?? []);
  if (names === undefined) report("note", "allowed-tools is left out: write names, or a list of them");
  return names ?? [];
}

function firstLine(body: string): string {
  return (body.split("\n", 1)[0] ?? "").replace(/^#+\s*/, "").trim();
}

/** `argument-hint: [file]` is text to people but a list to YAML. */
function hintIn(fields: Readonly<Record<string, unknown>>): string | undefined {
  const listed = Array.isArray(fields["argument-hint"]) ? namesIn(fields["argument-hint"]) : undefined;
  return listed === undefined ? textField(fields, "argument-hint") : `[${listed.join(", ")}]`;
}
