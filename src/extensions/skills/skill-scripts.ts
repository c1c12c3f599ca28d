import type { IsTrusted } from "../markdown/origin.ts";
import { readTextFile } from "../markdown/read-text-file.ts";
import { MAX_SKILL_BYTES } from "./load-skills.ts";
import type { Skill } from "./skill.ts";
import { type SkillFiles, skillFiles, skillHash } from "./skill-files.ts";

/** The files of a skill that can be run, and whether they may be. */
export interface SkillScripts {
  /** Relative to the folder of the skill. */
  readonly scripts: readonly string[];
  readonly isTrusted: boolean;
}

/** Looks at the scripts of a skill as they are now. Those of a project have to be trusted. */
export async function skillScripts(skill: Skill, isTrusted: IsTrusted): Promise<SkillScripts> {
  const files = skillFiles(skill.folder);
  const { scripts } = files;
  if (scripts.length === 0) return { scripts, isTrusted: true };
  const file = readTextFile(skill.path, { maxBytes: MAX_SKILL_BYTES, within: skill.folder });
  if (file === undefined || "fault" in file) return { scripts, isTrusted: false };
  return { scripts, isTrusted: await mayUseScripts(skill, { text: file.text, files, isTrusted }) };
}

/** True when the scripts of a skill may be used, by its text and its files. */
export async function mayUseScripts(
  { name, origin, path, folder }: Skill,
  {
    text,
    files,
    isTrusted,
  }: { readonly text: string; readonly files: SkillFiles; readonly isTrusted: IsTrusted },
): Promise<boolean> {
  if (origin !== "project" || files.scripts.length === 0) return true;
  const contentHash = skillHash(folder, text, files);
  return contentHash !== undefined && (await isTrusted({ kind: "skill", name, origin, path, contentHash }));
}
