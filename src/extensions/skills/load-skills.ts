import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { field, textField } from "../markdown/fields.ts";
import { parseMarkdown } from "../markdown/front-matter.ts";
import { type Finding, replacedFinding, type SourceFolder } from "../markdown/origin.ts";
import { readFolder, readTextFile } from "../markdown/read-text-file.ts";
import type { Skill } from "./skill.ts";

/** Bytes a `SKILL.md` may have. */
export const MAX_SKILL_BYTES = 262_144;
/** Skills that are looked at in one folder, and used altogether. */
const MAX_SKILLS = 200;
const MAX_DESCRIPTION = 1_024;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;

/** The skills that can be used, and what a person should know of the others. */
export interface LoadedSkills {
  readonly skills: readonly Skill[];
  readonly findings: readonly Finding[];
}

/**
 * Finds the skills of some folders: each subfolder with a `SKILL.md` whose head names and describes it. Of
 * several of one name the first is used. Never rejects: what cannot be used is told in `findings`. Folders
 * that are not there hold nothing.
 */
export async function loadSkills(folders: readonly SourceFolder[]): Promise<LoadedSkills> {
  const skills = new Map<string, Skill>();
  const findings: Finding[] = [];
  const seen = new Set<string>();
  for (const source of folders) {
    for (const folder of skillFolders(source, findings)) {
      const found = await readSkill(folder, source);
      if (found === undefined) continue;
      if ("message" in found) {
        findings.push(found);
        continue;
      }
      // One folder may be reached on several ways, by links between the places skills are kept.
      if (seen.has(found.skill.folder)) continue;
      seen.add(found.skill.folder);
      findings.push(...found.findings);
      keep(found.skill, skills, findings);
    }
  }
  return { skills: [...skills.values()], findings };
}

function keep(skill: Skill, skills: Map<string, Skill>, findings: Finding[]): void {
  const known = skills.get(skill.name);
  if (known !== undefined) findings.push(replacedFinding(skill, { what: `skill ${skill.name}`, by: known }));
  else if (skills.size >= MAX_SKILLS) {
    const message = `is left out: there are more than ${MAX_SKILLS} skills`;
    findings.push({ path: skill.path, level: "note", message });
  } else skills.set(skill.name, skill);
}

/** The subfolders, in the order of their names. */
function skillFolders({ path }: SourceFolder, findings: Finding[]): readonly string[] {
  const entries = readFolder(path, findings);
  const message = `has ${entries.length} entries, of which the first ${MAX_SKILLS} are looked at`;
  if (entries.length > MAX_SKILLS) findings.push({ path, level: "fault", message });
  return entries.slice(0, MAX_SKILLS).map(({ name }) => join(path, name));
}

type SkillReading = { readonly skill: Skill; readonly findings: readonly Finding[] } | Finding | undefined;

async function readSkill(given: string, { origin, root }: SourceFolder): Promise<SkillReading> {
  const path = join(given, "SKILL.md");
  const fault = (message: string): Finding => ({ path, level: "fault", message });
  let folder: string;
  try {
    folder = realpathSync(given);
  } catch (error) {
    return fault(`cannot be read: ${errorMessage(error)}`);
  }
  if (root !== undefined && !isWithin(folder, realPath(root)))
    return fault(`is behind a link that leads out of ${root}, which is not followed`);
  const file = readTextFile(path, { maxBytes: MAX_SKILL_BYTES, within: folder });
  if (file === undefined) return undefined;
  if ("fault" in file) return fault(file.fault);
  const document = await parseMarkdown(file.text);
  if ("fault" in document) return fault(document.fault);
  const { fields } = document;
  const name = textField(fields, "name");
  const description = textField(fields, "description");
  if (name === undefined) return fault("names no skill: add name: to its front matter");
  if (name.length > MAX_NAME || !NAME.test(name))
    return fault(
      `is named ${JSON.stringify(name.slice(0, 80))}: use lower-case letters, digits and single dashes, at most ${MAX_NAME}`,
    );
  if (description === undefined) return fault(`the skill ${name} has no description: say when to use it`);
  const findings: Finding[] = [];
  const note = (message: string): number => findings.push({ path, level: "note", message });
  const own = basename(dirname(path));
  if (own !== name) note(`the skill is named ${name} and its folder ${own}: give both one name`);
  if (description.length > MAX_DESCRIPTION) note(`the description is cut at ${MAX_DESCRIPTION} characters`);
  const skill: Skill = {
    name,
    description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
    forModel: field(fields, "disable-model-invocation")?.value !== true,
    origin,
    path,
    folder,
  };
  return { skill, findings };
}
