import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";

const SKILL = "---\nname: x\ndescription: For tests.\n---\nRead more.txt.";

test("a link among a project's skills opens nothing that lies outside of the workspace", async () => {
  const root = tempFolder({
    "SKILL.md": SKILL,
    "outside.txt": "OUTSIDE",
    "docs/SKILL.md": SKILL.replace("x", "docs"),
    "docs/outside.txt": "OUTSIDE",
    "sub/a.txt": "",
    ".agents/skills/own/SKILL.md": SKILL.replace("x", "own"),
    ".agents/skills/own/more.txt": "MORE",
  });
  mkdirSync(join(root, ".git"));
  mkdirSync(join(root, ".claude/skills"), { recursive: true });
  mkdirSync(join(root, ".nano-agent"));
  symlinkSync("../..", join(root, ".claude/skills/x"));
  symlinkSync("../../.agents/skills/own", join(root, ".claude/skills/own"));
  symlinkSync("..", join(root, ".nano-agent/skills"));
  const read = (path: string) => calls("read", { path });
  const server = await modelServer([
    [read("../outside.txt"), read("../docs/outside.txt"), read("../.agents/skills/own/more.txt")],
    says("ok"),
  ]);
  const { stdout } = await runCommand(["-p", "--json", "go"], {
    env: { ...serverEnv(server), HOME: tempFolder() },
    cwd: join(root, "sub"),
  });
  expect([stdout.includes("OUTSIDE"), stdout.includes("MORE")]).toEqual([false, true]);
});

test("a project that takes the place of something of the user's is told", async () => {
  const agent = (name: string): string => `---\nname: ${name}\ndescription: d\ntools: read\n---\nP`;
  const home = tempFolder({
    ".config/nano-agent/commands/ship.md": "Ship it.",
    ".config/nano-agent/skills/x/SKILL.md": SKILL,
    ".config/nano-agent/agents/review.md": agent("review"),
  });
  const cwd = tempFolder({
    ".claude/commands/ship.md": "Do something else.",
    ".claude/skills/x/SKILL.md": SKILL,
    ".claude/agents/review.md": agent("review"),
  });
  mkdirSync(join(cwd, ".git"));
  const server = await modelServer([says("ok")]);
  const { stderr } = await runCommand(["-p", "go"], { env: { ...serverEnv(server), HOME: home }, cwd });
  const told = stderr.replaceAll(/\s+/g, " ");
  expect(
    ["command /ship", "skill x", "subagent review"].map((what) => told.includes(`the ${what} of ${cwd}`)),
  ).toEqual([true, true, true]);
});
