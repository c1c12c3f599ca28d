import { hash } from "node:crypto";
import { lstatSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { field, textField } from "../markdown/fields.ts";
import { type Definition, loadDefinitions } from "../markdown/load-definitions.ts";
import type { Finding, IsTrusted, Origin, SourceFolder } from "../markdown/origin.ts";
import { filesBelow, readFolder, readRegularFile, readTextFile } from "../markdown/read-text-file.ts";

/** Instructions for a kind of task, kept in a folder with a `SKILL.md` and the files it refers to. */
export interface Skill {
  /** Lower-case letters, digits and dashes, at most 64; also the name of its folder. */
  readonly name: string;
  /** When to use it, at most 1,024 characters. */
  readonly description: string;
  /** False hides it from the model; a person can still see and use it. */
  readonly forModel: boolean;
  readonly origin: Origin;
  /** Its `SKILL.md`. */
  readonly path: string;
  /** Its folder, links resolved. */
  readonly folder: string;
}

export const MAX_SKILL_BYTES = 262_144;
const MAX_SKILLS = 200;
const MAX_DESCRIPTION = 1_024;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;

/** The usable skills, and findings about the others for a person. */
export interface LoadedSkills {
  readonly skills: readonly Skill[];
  readonly findings: readonly Finding[];
}

/**
 * Finds the skills in folders: each subfolder with a `SKILL.md` whose front matter names and describes it. If
 * several share a name, the first is used. Never rejects: unusable ones are reported in `findings`. Missing
 * folders count as empty.
 */
export async function loadSkills(folders: readonly SourceFolder[]): Promise<LoadedSkills> {
  // Through links, several paths may lead to one folder.
  const seen = new Set<string>();
  const { definitions, findings } = await loadDefinitions(folders, {
    maxBytes: MAX_SKILL_BYTES,
    title: (name) => `skill ${name}`,
    files: (source, found) =>
      skillFolders(source, found).flatMap(({ path, name, folder }) => {
        if (seen.has(folder)) return [];
        seen.add(folder);
        return [{ path: join(path, "SKILL.md"), name, boundary: folder }];
      }),
    read: async (definition) => readSkill(definition),
  });
  for (const { path } of definitions.slice(MAX_SKILLS))
    findings.push({ path, level: "note", message: `is left out: there are more than ${MAX_SKILLS} skills` });
  return { skills: definitions.slice(0, MAX_SKILLS), findings };
}

function skillFolders(
  { path: parent, root }: SourceFolder,
  findings: Finding[],
): readonly { readonly path: string; readonly name: string; readonly folder: string }[] {
  const entries = readFolder(parent, findings);
  const message = `has ${entries.length} entries, of which the first ${MAX_SKILLS} are looked at`;
  if (entries.length > MAX_SKILLS) findings.push({ path: parent, level: "fault", message });
  return entries.slice(0, MAX_SKILLS).flatMap(({ name }) => {
    const path = join(parent, name);
    const fault = (text: string) =>
      findings.push({ path: join(path, "SKILL.md"), level: "fault", message: text });
    try {
      const folder = realpathSync(path);
      if (root === undefined || isWithin(folder, realPath(root))) return [{ path, name, folder }];
      fault(`is behind a link that leads out of ${root}, which is not followed`);
    } catch (error) {
      fault(`cannot be read: ${errorMessage(error)}`);
    }
    return [];
  });
}

function readSkill({
  fields,
  path,
  origin,
  report,
  name: folderName,
  boundary = "",
}: Definition): Skill | undefined {
  const name = textField(fields, "name");
  const description = textField(fields, "description");
  if (name === undefined) return report("fault", "names no skill: add name: to its front matter");
  if (name.length > MAX_NAME || !NAME.test(name))
    return report(
      "fault",
      `is named ${JSON.stringify(name.slice(0, 80))}: use lower-case letters, digits and single dashes, at most ${MAX_NAME}`,
    );
  if (description === undefined)
    return report("fault", `the skill ${name} has no description: say when to use it`);
  if (folderName !== name)
    report("note", `the skill is named ${name} and its folder ${folderName}: give both one name`);
  if (description.length > MAX_DESCRIPTION)
    report("note", `the description is cut at ${MAX_DESCRIPTION} characters`);
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
    forModel: field(fields, "disable-model-invocation")?.value !== true,
    origin,
    path,
    folder: boundary,
  };
}

interface SkillScripts {
  readonly scripts: readonly string[];
  readonly isTrusted: boolean;
}

export async function skillScripts(skill: Skill, isTrusted: IsTrusted): Promise<SkillScripts> {
  const files = skillFiles(skill.folder);
  const { scripts } = files;
  if (scripts.length === 0) return { scripts, isTrusted: true };
  const file = readTextFile(skill.path, { maxBytes: MAX_SKILL_BYTES, boundary: skill.folder });
  if (file === undefined || "fault" in file) return { scripts, isTrusted: false };
  return { scripts, isTrusted: await mayUseScripts(skill, file.text, files, isTrusted) };
}

/** True if the scripts of a skill may be used, judged by its text and files. */
export async function mayUseScripts(
  { name, origin, path, folder }: Skill,
  text: string,
  files: SkillFiles,
  isTrusted: IsTrusted,
): Promise<boolean> {
  if (origin !== "project" || files.scripts.length === 0) return true;
  const contentHash = skillHash(folder, text, files);
  return contentHash !== undefined && (await isTrusted({ kind: "skill", name, origin, path, contentHash }));
}

const MAX_HASHED_BYTES = 4_194_304;
const SCRIPT = /\.(?:sh|bash|zsh|fish|py|js|mjs|cjs|ts|mts|rb|pl|php|lua|ps1|bat|cmd|exe|jar)$/i;

/** The files of a skill besides its `SKILL.md`: paths relative to its folder, in order. */
export interface SkillFiles {
  readonly texts: readonly string[];
  /** Executable files: marked executable, with a script extension, or in a folder `scripts`. */
  readonly scripts: readonly string[];
  readonly cut: boolean;
}

/** The files of a skill, without links and hidden files. Never throws: unreadable files are left out. */
export function skillFiles(folder: string): SkillFiles {
  const { paths, cut } = filesBelow(folder);
  const files = paths.filter((path) => path !== "SKILL.md" && isFile(join(folder, path)));
  const scripts = files.filter((path) => isScript(join(folder, path), path));
  return { texts: files.filter((path) => !scripts.includes(path)), scripts, cut };
}

function isFile(path: string): boolean {
  try {
    return lstatSync(path).isFile();
  } catch {
    return false;
  }
}

/** SHA-256 over a skill's text and scripts; undefined if they are too large or unreadable. */
function skillHash(folder: string, text: string, { scripts, cut }: SkillFiles): string | undefined {
  if (cut) return undefined;
  const parts = [hash("sha256", text)];
  let bytes = 0;
  for (const path of scripts) {
    const content = contentOf(join(folder, path));
    if (content === undefined) return undefined;
    bytes += content.length;
    if (bytes > MAX_HASHED_BYTES) return undefined;
    parts.push(JSON.stringify([path, hash("sha256", content)]));
  }
  return hash("sha256", parts.join("\n"));
}

function isScript(file: string, path: string): boolean {
  if (path.startsWith("scripts/") || path.includes("/scripts/") || SCRIPT.test(path)) return true;
  return ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) !== 0;
}

function contentOf(path: string): Buffer | undefined {
  try {
    const read = readRegularFile(path, MAX_HASHED_BYTES);
    return "fault" in read ? undefined : read;
  } catch {
    // A file that cannot be read cannot be trusted.
    return undefined;
  }
}
