import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { defineTool, type Tool } from "../../core/tool/tool.ts";
import { type IsTrusted, sourceFolders, type TrustItem } from "../markdown/origin.ts";
import { type LoadedSubagents, loadSubagents } from "./load-subagents.ts";

const tool = (name: string, readOnly = false): Tool =>
  defineTool({ name, description: name, readOnly, execute: () => name });
const TOOLS = [tool("read", true), tool("grep", true), tool("edit"), tool("bash"), tool("task")];

const definition = (head: string, body = "Do it."): string => `---\n${head}\n---\n${body}`;

async function load(
  files: Readonly<Record<string, string>>,
  {
    home = {},
    isTrusted = () => true,
  }: { readonly home?: Readonly<Record<string, string>>; readonly isTrusted?: IsTrusted } = {},
): Promise<LoadedSubagents & { readonly root: string; readonly home: string }> {
  const root = tempFolder(files);
  const homeFolder = tempFolder(home);
  const folders = sourceFolders("agents", {
    projectFolders: [root],
    home: homeFolder,
    configFolder: join(homeFolder, "config"),
  });
  return { ...(await loadSubagents({ folders, tools: TOOLS, isTrusted })), root, home: homeFolder };
}

const told = ({ findings }: LoadedSubagents): readonly string[] =>
  findings.map(({ level, message }) => `${level}: ${message}`);

test("the built-in ones are there without any file", async () => {
  const { agents, findings } = await load({});
  expect([
    agents.map(({ name, maxIterations, readOnly }) => [name, maxIterations, readOnly]),
    findings,
  ]).toEqual([
    [
      ["explore", 10, true],
      ["plan", 15, true],
      ["code", 20, undefined],
      ["general", 15, undefined],
    ],
    [],
  ]);
});

test("a definition is read in the forms of the field", async () => {
  const { agents, ...rest } = await load({
    ".claude/agents/a.md": definition(
      "name: reviewer\ndescription: Reviews.\ntools: Read, MultiEdit, LS, mcp__files__*\nmodel: sonnet\nmaxTurns: 7\ncolor: red\nhooks: {}",
      "Review it.\n",
    ),
    ".nano-agent/agents/b.md": definition(
      "description: Plans.\ntools: [Read, Bash]\ndisallowedTools: bash\nmodel: openai/gpt-5\neffort: high\nsteps: 500\npermissionMode: plan",
    ),
    ".nano-agent/agents/c.md": definition(
      "description: Other form.\nmode: subagent\ntools:\n  bash: false\n  edit: true\npermissionMode: bypassPermissions",
    ),
  });
  expect(agents.filter(({ origin }) => origin === "project").map(({ path: _, ...agent }) => agent)).toEqual([
    {
      name: "b",
      description: "Plans.",
      systemPrompt: "Do it.",
      tools: ["read", "bash"],
      disallowedTools: ["bash"],
      model: "openai/gpt-5",
      effort: "high",
      maxIterations: 200,
      readOnly: true,
      origin: "project",
      trusted: true,
    },
    {
      name: "c",
      description: "Other form.",
      systemPrompt: "Do it.",
      disallowedTools: ["bash"],
      origin: "project",
      trusted: true,
    },
    {
      name: "reviewer",
      description: "Reviews.",
      systemPrompt: "Review it.",
      tools: ["read", "edit", "mcp__files__*"],
      maxIterations: 7,
      origin: "project",
      trusted: true,
    },
  ]);
  expect(told({ agents, ...rest })).toEqual([
    "note: steps 500 is cut to 200",
    "note: permissionMode bypassPermissions has no effect: the permission of the run holds",
    "note: the field hooks has no effect",
    'note: the model "sonnet" is not of the form provider/id: the model of the run is used',
  ]);
});

test("a project that is not trusted does not choose the model: the conversation stays where it is", async () => {
  const files = {
    ".nano-agent/agents/a.md": definition("description: A.\ntools: read\nmodel: evil/m"),
    ".nano-agent/agents/b.md": definition("description: B.\nmodel: evil/m"),
  };
  const loaded = await load(files, { isTrusted: () => false });
  const own = loaded.agents.filter(({ origin }) => origin === "project");
  expect(own.map(({ name, model, readOnly, trusted }) => [name, model, readOnly, trusted])).toEqual([
    ["a", undefined, undefined, false],
    ["b", undefined, true, false],
  ]);
  expect(told(loaded)).toEqual([
    "note: the subagent a gets the model of the run: what this project brings is not trusted",
    "note: the subagent b gets the model of the run: what this project brings is not trusted",
    "note: the subagent b only reads: what this project brings is not trusted",
  ]);
});

test("unknown tools are left out and told with what was probably meant; a definition without any is not used", async () => {
  const loaded = await load({
    ".claude/agents/a.md": definition("description: A.\ntools: Raed, Grep, Bash(git *), WebSearch"),
    ".claude/agents/b.md": definition("description: B.\ntools: WebSearch"),
    ".claude/agents/c.md": definition("description: C.\ntools: 7"),
  });
  expect(loaded.agents.find(({ name }) => name === "a")?.tools).toEqual(["grep"]);
  expect(loaded.agents.map(({ name }) => name)).toEqual(["explore", "plan", "code", "general", "a"]);
  const all = "(tools: read, grep, edit, bash, task)";
  expect(told(loaded)).toEqual([
    `note: there is no tool "Raed", did you mean read? ${all}`,
    'note: the tool "Bash(git *)" is left out: a subagent gets whole tools, and permission rules say what they may do',
    `note: there is no tool "WebSearch" ${all}`,
    `fault: the subagent b names no tool that exists here: there is no tool "WebSearch" ${all}`,
    "fault: the subagent c has tools that are not a list of names",
  ]);
});

test("what cannot be used is told, and the rest is used", async () => {
  const loaded = await load({
    ".claude/agents/a.md": "---\nname: [\n---\nx",
    ".claude/agents/b.md": "no front matter",
    ".claude/agents/c.md": definition("description: C.", "  \n"),
    ".claude/agents/d.md": definition('name: "no good"\ndescription: D.'),
    ".claude/agents/e.md": definition("description: E.\nmaxTurns: many\neffort: huge"),
    ".claude/agents/f.txt": "not looked at",
  });
  expect(loaded.agents.at(-1)).toMatchObject({ name: "e", systemPrompt: "Do it." });
  expect(told(loaded)).toEqual([
    expect.stringMatching(/^fault: the front matter is not YAML, line /),
    "fault: the subagent b has no description: say what to use it for",
    "fault: the subagent c has no instructions after its front matter",
    'fault: is named "no good": use letters, digits, - and _, at most 64',
    'note: the effort "huge" is not one of none, minimal, low, medium, high, xhigh',
    "note: maxTurns must be a whole number from 1",
  ]);
});

test("the project's come before the user's and those before the built-in; each clash is told", async () => {
  const loaded = await load(
    { ".claude/agents/explore.md": definition("description: Of the project.") },
    {
      home: {
        ".claude/agents/explore.md": definition("description: Of the user."),
        "config/agents/code.md": definition("description: My coder."),
      },
    },
  );
  expect(loaded.agents.map(({ name, description, origin }) => [name, description, origin])).toEqual([
    ["plan", expect.any(String), "builtin"],
    ["general", expect.any(String), "builtin"],
    ["explore", "Of the project.", "project"],
    ["code", "My coder.", "user"],
  ]);
  expect(told(loaded)).toEqual([
    `fault: the subagent explore of ${join(loaded.root, ".claude/agents/explore.md")} is used instead`,
    "note: takes the place of the built-in subagent explore",
    "note: takes the place of the built-in subagent code",
  ]);
});

test("a project's subagent only reads until it is trusted, and is asked about by the hash of its text", async () => {
  const asked: TrustItem[] = [];
  const refuse: IsTrusted = (item) => {
    asked.push(item);
    return false;
  };
  const loaded = await load(
    {
      ".claude/agents/all.md": definition("description: All."),
      ".claude/agents/reads.md": definition("description: Reads.\ntools: read, grep"),
      ".claude/agents/runs.md": definition("description: Runs.\ntools: bash"),
    },
    { home: { ".claude/agents/mine.md": definition("description: Mine.\ntools: bash") }, isTrusted: refuse },
  );
  expect(
    loaded.agents.filter(({ origin }) => origin !== "builtin").map(({ name, readOnly }) => [name, readOnly]),
  ).toEqual([
    ["all", true],
    ["reads", undefined],
    ["mine", undefined],
  ]);
  expect(asked.map(({ kind, name, contentHash }) => [kind, name, contentHash.length])).toEqual([
    ["subagent", "all", 64],
    ["subagent", "runs", 64],
  ]);
  expect(told(loaded)).toEqual([
    "note: the subagent all only reads: what this project brings is not trusted",
    "fault: the subagent runs is left out: all its tools act (bash), and what this project brings is not trusted",
  ]);
});

test("a link out of the project is not followed", async () => {
  const outside = tempFolder({ "x.md": definition("description: X.") });
  const root = tempFolder({ ".claude/agents/y.md": definition("description: Y.") });
  symlinkSync(join(outside, "x.md"), join(root, ".claude/agents/x.md"));
  const folders = sourceFolders("agents", {
    projectFolders: [root],
    home: "/nowhere",
    configFolder: "/nowhere/c",
  });
  const loaded = await loadSubagents({ folders, tools: TOOLS });
  expect([loaded.agents.at(-1)?.name, told(loaded)]).toEqual([
    "y",
    [
      `fault: is a link that leads out of ${root}, which is not followed`,
      "note: the subagent y only reads: what this project brings is not trusted",
    ],
  ]);
});
