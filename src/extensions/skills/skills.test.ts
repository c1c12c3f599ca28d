import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { callTool, textOf } from "../../../test/tools/call-tool.ts";
import { sourceFolders, type TrustItem } from "../markdown/origin.ts";
import { loadSkills } from "./load-skills.ts";
import { createSkillTool, type SkillToolOptions } from "./skill-tool.ts";

const skill = (name: string, more = "", body = "Do it."): string =>
  `---\nname: ${name}\ndescription: Use for ${name}.\n${more}---\n${body}\n`;

/** The skills of a project in `root` with an empty home. */
async function projectSkills(root: string, folders: readonly string[] = [root]) {
  return loadSkills(
    sourceFolders("skills", { projectFolders: folders, home: "/nowhere", configFolder: "/nowhere/config" }),
  );
}

async function use(root: string, input: object, options: SkillToolOptions = {}): Promise<string> {
  const tool = createSkillTool((await projectSkills(root)).skills, options);
  if (tool === undefined) return "no tool";
  return textOf(await callTool(tool, input, { cwd: root }));
}

describe("discovery", () => {
  test("skills of the working folder come before those of the root, the project's before the user's, and what is hidden is told", async () => {
    const home = tempFolder({
      ".agents/skills/one/SKILL.md": skill("one"),
      ".claude/skills/three/SKILL.md": skill("three"),
      "config/skills/four/SKILL.md": skill("four"),
    });
    const root = tempFolder({
      ".agents/skills/one/SKILL.md": skill("one"),
      ".claude/skills/two/SKILL.md": skill("two"),
      "sub/.nano-agent/skills/two/SKILL.md": skill("two"),
    });
    const { skills, findings } = await loadSkills(
      sourceFolders("skills", {
        projectFolders: [root, join(root, "sub")],
        home,
        configFolder: join(home, "config"),
      }),
    );
    expect(skills.map(({ name, origin, path }) => [name, origin, path])).toEqual([
      ["two", "project", join(root, "sub/.nano-agent/skills/two/SKILL.md")],
      ["one", "project", join(root, ".agents/skills/one/SKILL.md")],
      ["four", "user", join(home, "config/skills/four/SKILL.md")],
      ["three", "user", join(home, ".claude/skills/three/SKILL.md")],
    ]);
    expect(findings).toEqual([
      {
        path: join(root, ".claude/skills/two/SKILL.md"),
        level: "note",
        message: `the skill two of ${join(root, "sub/.nano-agent/skills/two/SKILL.md")} is used instead`,
      },
      {
        path: join(home, ".agents/skills/one/SKILL.md"),
        level: "fault",
        message: `the skill one of ${join(root, ".agents/skills/one/SKILL.md")} is used instead`,
      },
    ]);
  });

  test("what cannot be used is told, and the rest is used", async () => {
    const at = (name: string): string => `.agents/skills/${name}/SKILL.md`;
    const root = tempFolder({
      [at("a-broken")]: "---\nname: [\n---\n",
      [at("b-open")]: "---\nname: x\n",
      [at("c-nameless")]: "---\ndescription: x\n---\n",
      [at("d-named")]: skill("Not Usable"),
      [at("e-silent")]: "---\nname: e-silent\n---\n",
      [at("f-other")]: skill("another"),
      [at("g-large")]: skill("g-large", "", "x".repeat(300_000)),
      [at("good")]: skill("good", "license: MIT\nallowed-tools: Read Write\nmetadata: { a: 1 }\n"),
      ".agents/skills/README.md": "not a folder",
      ".agents/skills/empty/x": "",
    });
    mkdirSync(join(root, ".agents/skills/h-latin"));
    writeFileSync(join(root, at("h-latin")), Buffer.from([0x2d, 0xe9]));
    const { skills, findings } = await projectSkills(root);
    expect(skills.map(({ name }) => name)).toEqual(["another", "good"]);
    expect(findings.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      expect.stringMatching(/^fault: the front matter is not YAML, line /),
      "fault: the front matter has no end: close it with a line of ---",
      "fault: names no skill: add name: to its front matter",
      'fault: is named "Not Usable": use lower-case letters, digits and single dashes, at most 64',
      "fault: the skill e-silent has no description: say when to use it",
      "note: the skill is named another and its folder f-other: give both one name",
      expect.stringMatching(/^fault: has 3000\d\d bytes, more than 262144$/),
      "fault: is not UTF-8 text: save it as UTF-8",
    ]);
  });

  test("links out of a skill's folder, and out of the project, are not followed", async () => {
    const outside = tempFolder({ "SKILL.md": skill("outside"), "secret.md": skill("secret") });
    const root = tempFolder({ ".agents/skills/in/SKILL.md": skill("in"), ".agents/skills/out/x": "" });
    symlinkSync(join(outside, "secret.md"), join(root, ".agents/skills/out/SKILL.md"));
    symlinkSync(outside, join(root, ".agents/skills/outside"));
    mkdirSync(join(root, ".claude"));
    symlinkSync("../.agents/skills", join(root, ".claude/skills"));
    const { skills, findings } = await projectSkills(root);
    expect(skills.map(({ name }) => name)).toEqual(["in"]);
    expect(new Set(findings.map(({ message }) => message.replace(/out of .*?,/, "out of F,")))).toEqual(
      new Set([
        "is a link that leads out of F, which is not followed",
        "is behind a link that leads out of F, which is not followed",
      ]),
    );
  });
});

describe("the tool", () => {
  test("is not there without skills for the model, and lists only names and descriptions", async () => {
    const root = tempFolder({
      ".agents/skills/hidden/SKILL.md": skill("hidden", "disable-model-invocation: true\n"),
    });
    expect(await use(root, { name: "hidden" })).toBe("no tool");
    const more = tempFolder({ ".agents/skills/pdf/SKILL.md": skill("pdf", "", "SECRET BODY") });
    expect(createSkillTool((await projectSkills(more)).skills)?.description).toBe(
      "Load a skill, instructions for a kind of task, before such a task.\n- pdf: Use for pdf.",
    );
  });

  test("the list has a bound and says what it leaves out", async () => {
    const names = Array.from({ length: 60 }, (_, at) => `skill-${String(at).padStart(2, "0")}`);
    const root = tempFolder(
      Object.fromEntries(
        names.map((name) => [
          `.agents/skills/${name}/SKILL.md`,
          `---\nname: ${name}\ndescription: ${"long ".repeat(100)}\n---\nx`,
        ]),
      ),
    );
    const description = createSkillTool((await projectSkills(root)).skills)?.description ?? "";
    expect(description.length).toBeLessThan(6_300);
    expect(description).toMatch(/\(38 more without room: call skill with the name "\?" for all names\)$/);
    expect(await use(root, { name: "?" })).toContain("skill-59");
  });

  test("gives the text of a skill with its arguments put in literally, and lists its files", async () => {
    const root = tempFolder({
      ".agents/skills/pdf/SKILL.md": skill("pdf", "", "First $ARGUMENTS, then $ARGUMENTS."),
      ".agents/skills/pdf/references/a.md": "",
      ".agents/skills/pdf/.hidden": "",
    });
    symlinkSync("/etc/passwd", join(root, ".agents/skills/pdf/passwd"));
    expect(await use(root, { name: "pdf", arguments: "$& $1 $ARGUMENTS" })).toBe(
      `# Skill pdf\n\nFirst $& $1 $ARGUMENTS, then $& $1 $ARGUMENTS.\n\nFiles of the skill in ${root}/.agents/skills/pdf, to be read when needed:\n- references/a.md`,
    );
    expect(await use(root, { name: "pdf" })).toContain("First , then .");
  });

  test("arguments without a place stand behind the text", async () => {
    const root = tempFolder({ ".agents/skills/pdf/SKILL.md": skill("pdf") });
    expect(await use(root, { name: "pdf", arguments: "a.pdf" })).toBe(
      "# Skill pdf\n\nDo it.\n\nArguments: a.pdf",
    );
  });

  test("a wrong name is answered with the nearest and all others", async () => {
    const root = tempFolder({
      ".agents/skills/pdf/SKILL.md": skill("pdf"),
      ".agents/skills/docx/SKILL.md": skill("docx"),
    });
    expect(await use(root, { name: "PDF" })).toBe(
      'Error: There is no skill "PDF". Did you mean pdf? Skills: docx, pdf.',
    );
  });

  test("scripts of a project's skill are left out until it is trusted, by a hash that changes with them", async () => {
    const root = tempFolder({
      ".agents/skills/pdf/SKILL.md": skill("pdf"),
      ".agents/skills/pdf/scripts/run": "#!/bin/sh",
      ".agents/skills/pdf/tool": "#!/bin/sh",
      ".agents/skills/pdf/a.md": "",
    });
    chmodSync(join(root, ".agents/skills/pdf/tool"), 0o755);
    const asked: TrustItem[] = [];
    const trusts = (item: TrustItem): boolean => asked.push(item) > 0;
    const refused = await use(root, { name: "pdf" });
    const listed = await use(root, { name: "pdf" }, { isTrusted: trusts });
    writeFileSync(join(root, ".agents/skills/pdf/tool"), "#!/bin/sh\nrm -rf /");
    await use(root, { name: "pdf" }, { isTrusted: trusts });
    expect(refused).toContain("- a.md\n\n(Its 2 scripts are left out: the user has not trusted");
    expect(listed).toContain("- a.md\n- scripts/run\n- tool");
    expect(asked.map(({ kind, name, origin }) => [kind, name, origin])).toEqual([
      ["skill", "pdf", "project"],
      ["skill", "pdf", "project"],
    ]);
    expect(asked[0]?.contentHash).not.toBe(asked[1]?.contentHash);
  });

  test("a skill that went away or broke since is an error the model can read", async () => {
    const root = tempFolder({ ".agents/skills/pdf/SKILL.md": skill("pdf") });
    const tool = createSkillTool((await projectSkills(root)).skills);
    writeFileSync(join(root, ".agents/skills/pdf/SKILL.md"), "---\nname: [\n---\n");
    const result = tool && (await callTool(tool, { name: "pdf" }, { cwd: root }));
    expect([result?.isError, result && textOf(result)]).toEqual([
      true,
      expect.stringMatching(/^Error: The skill pdf: the front matter is not YAML/),
    ]);
  });
});

test("a project reached by a link is one place, and the home folder is the user's also as a project", async () => {
  const root = tempFolder({ ".agents/skills/pdf/SKILL.md": skill("pdf") });
  const links = tempFolder();
  symlinkSync(root, join(links, "project"));
  const place = (home: string) =>
    loadSkills(
      sourceFolders("skills", {
        projectFolders: [join(links, "project")],
        home,
        configFolder: "/nowhere/config",
      }),
    );
  const origins = [await place("/nowhere"), await place(root)].map(({ skills, findings }) => [
    skills.map(({ origin }) => origin),
    findings,
  ]);
  expect(origins).toEqual([
    [["project"], []],
    [["user"], []],
  ]);
});
