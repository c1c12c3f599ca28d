import { didYouMean, truncateMiddle } from "../../core/base/text.ts";
import { defineTool, type Tool, type ToolResult } from "../../core/tool/tool.ts";
import { errorResult } from "../../core/tool/tool-output.ts";
import { itemList } from "../markdown/fields.ts";
import { parseMarkdown } from "../markdown/front-matter.ts";
import { type IsTrusted, trustNoProject } from "../markdown/origin.ts";
import { readTextFile } from "../markdown/read-text-file.ts";
import { MAX_SKILL_BYTES, mayUseScripts, type Skill, type SkillFiles, skillFiles } from "./load-skills.ts";

const MAX_LIST_CHARS = 6_000;
const MAX_BODY_BYTES = 48_000;
const MAX_FILES = 50;

/** Options of {@link createSkillTool}. */
export interface SkillToolOptions {
  /** Decides whether a project skill's scripts may be used. Default: they may not. */
  readonly isTrusted?: IsTrusted;
}

/** Arguments of `skill`. */
export interface SkillInput {
  readonly name: string;
  /** Replaces `$ARGUMENTS` in the skill's text. */
  readonly arguments?: string;
}

/**
 * The `skill` tool: its description lists the skills' names and descriptions; a call returns one skill's text
 * and a list of its files. Undefined if there is no skill the model may use: no skills, no tokens.
 */
export function createSkillTool(skills: readonly Skill[], options: SkillToolOptions = {}): Tool | undefined {
  const offered = skills.filter(({ forModel }) => forModel);
  if (offered.length === 0) return undefined;
  const { isTrusted = trustNoProject } = options;
  return defineTool({
    name: "skill",
    description: `Load a skill, instructions for a kind of task, before such a task.\n${itemList(offered, "skill", "name", MAX_LIST_CHARS)}`,
    parameters: {
      type: "object",
      properties: { name: { type: "string" }, arguments: { type: "string" } },
      required: ["name"],
      additionalProperties: false,
    },
    readOnly: true,
    access: "none",
    execute: (input: SkillInput) => loadSkill(input, offered, isTrusted),
  });
}

export async function loadSkill(
  input: SkillInput,
  skills: readonly Skill[],
  isTrusted: IsTrusted,
): Promise<ToolResult> {
  const skill = skills.find(({ name }) => name === input.name);
  if (skill === undefined) return unknownSkill(input.name, skills);
  const file = readTextFile(skill.path, { maxBytes: MAX_SKILL_BYTES, boundary: skill.folder });
  if (file === undefined || "fault" in file)
    return errorResult(`The skill ${skill.name}: ${skill.path} ${file?.fault ?? "is gone"}.`);
  const document = await parseMarkdown(file.text);
  if ("fault" in document) return errorResult(`The skill ${skill.name}: ${document.fault}.`);
  const body = withArguments(document.body.trim(), input.arguments ?? "");
  const text = truncateMiddle(body, { maxBytes: MAX_BODY_BYTES });
  const files = skillFiles(skill.folder);
  const withScripts = await mayUseScripts(skill, file.text, files, isTrusted);
  return {
    content: [
      `# Skill ${skill.name}`,
      text === "" ? "(The skill has no text.)" : text,
      ...(text === body ? [] : [`(The middle is left out; read ${skill.path} for all of it.)`]),
      ...filesText(skill, files, withScripts),
    ].join("\n\n"),
    title: skill.name,
    metadata: { skill: skill.name, path: skill.path, origin: skill.origin },
  };
}

/** Appends the arguments if the text has no `$ARGUMENTS`. */
function withArguments(body: string, given: string): string {
  if (body.includes("$ARGUMENTS")) return body.replaceAll("$ARGUMENTS", () => given);
  return given.trim() === "" ? body : `${body}\n\nArguments: ${given}`;
}

function filesText({ folder }: Skill, files: SkillFiles, withScripts: boolean): readonly string[] {
  const { texts, scripts, cut } = files;
  const shown = withScripts ? [...texts, ...scripts].sort() : texts;
  const lines = shown.slice(0, MAX_FILES).map((path) => `- ${path}`);
  const more = shown.length - lines.length;
  if (more > 0 || cut) lines.push(`- … ${more > 0 ? `${more} ` : ""}more`);
  return [
    ...(lines.length === 0
      ? []
      : [`Files of the skill in ${folder}, to be read when needed:\n${lines.join("\n")}`]),
    ...(withScripts
      ? []
      : [
          `(Its ${scripts.length === 1 ? "script is" : `${scripts.length} scripts are`} left out: the user has not trusted what this project brings. Do not run ${scripts.length === 1 ? "it" : "them"}.)`,
        ]),
  ];
}

function unknownSkill(wanted: string, skills: readonly Skill[]): ToolResult {
  const names = skills.map(({ name }) => name);
  const hint = didYouMean(wanted, names);
  return errorResult(
    `There is no skill ${JSON.stringify(wanted.slice(0, 100))}.${hint} Skills: ${names.join(", ")}.`,
  );
}
