import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { PathPattern } from "../../permission/match-text.ts";
import { readOpenCodeRules } from "./foreign-rules.ts";
import type { ImportSource } from "./import-plan.ts";
import { readForeign } from "./read-foreign.ts";

async function planOf(source: ImportSource, files: Readonly<Record<string, unknown>>) {
  const texts = Object.entries(files).map(([path, content]) => [path, JSON.stringify(content)]);
  const home = tempFolder(Object.fromEntries(texts));
  const { items, left } = await readForeign(source, { home, environment: {} });
  return { taken: items.map(({ does }) => does), left: left.map(({ what }) => what) };
}

test("rules of gemini allow no more here than there, and what is switched off stays so", async () => {
  const settings = {
    tools: {
      allowed: ["write_file(docs/x.md)", "run_shell_command(echo *)", "run_shell_command(git status)"],
      exclude: ["read_file(secret)", "run_shell_command(rm *)", "constructor"],
      core: ["ReadFileTool"],
    },
    mcp: { excluded: ["off"], allowed: ["off", "on"] },
    mcpServers: {
      off: { command: "a" },
      other: { command: "b" },
      on: { command: "c", excludeTools: ["drop table"], includeTools: ["x"] },
    },
  };
  expect(await planOf("gemini", { ".gemini/settings.json": settings })).toEqual({
    taken: ["allow: Bash(git status:*)", "deny: Bash(rm *:*)", "deny: mcp__on__drop_table", "starts c"],
    left: [
      "allow: write_file(docs/x.md)",
      "allow: run_shell_command(echo *)",
      "deny: read_file(secret)",
      "deny: constructor",
      "core",
      "MCP server off",
      "MCP server other",
      "includeTools",
    ],
  });
});

test("rules of opencode allow no more here than there", async () => {
  const config = {
    permission: {
      "*": "allow",
      edit: { "*": "allow", "secrets/*": "deny", "[x]": "deny" },
      read: { "*.pass": "ask" },
      bash: { "git *": "allow" },
      "git_hub_*": "deny",
      websearch: "deny",
    },
    tools: { git_hub_drop: false, write: true },
    mcp: { git_hub: { type: "local", command: ["c"] } },
  };
  expect(await planOf("opencode", { ".config/opencode/opencode.json": config })).toEqual({
    taken: [
      "deny: mcp__git_hub__drop",
      "allow: edit",
      "deny: edit(secrets/**)",
      "ask: read(**.pass)",
      "allow: bash(git *)",
      "deny: mcp__git_hub__*",
      "starts c",
    ],
    left: ["permission: *", "permission: edit([x])", "permission: websearch"],
  });
  expect(
    (await planOf("opencode", { ".config/opencode/opencode.json": { permission: "allow" } })).left,
  ).toEqual(["permission: *"]);
});

test("hooks that are switched off in Claude Code are not taken over", async () => {
  const hooks = { Stop: [{ hooks: [{ type: "command", command: "x" }] }] };
  const { taken, left } = await planOf("claude", {
    ".claude/settings.json": { hooks, disableAllHooks: true },
  });
  expect([taken, left]).toEqual([[], ["hooks"]]);
});

test("a pattern of opencode that denies takes in every path that it does there", () => {
  const pattern = fc.array(fc.constantFrom("a", "b", "/", "*", ".")).map((parts) => parts.join(""));
  const path = fc.stringMatching(/^[ab.]{1,2}(?:\/[ab.]{1,2}){0,3}$/);
  fc.assert(
    fc.property(pattern, path, (text, place) => {
      const stars = text.replaceAll(/\*+/g, "*");
      fc.pre(
        /^(?:[ab.*]+\/)*[ab.*]+$/.test(stars) &&
          stars !== "*" &&
          !/(?:^|\/)\.{1,2}(?:\/|$)/.test(`${stars} ${place}`),
      );
      const [read] = readOpenCodeRules({ permission: { edit: { [text]: "deny" } } });
      const rules = read !== undefined && "rules" in read ? read.rules : [];
      fc.pre(rules.length > 0 && rules[0] !== "edit");
      const there = new RegExp(`^${stars.replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(place);
      const here = rules.some((rule) => new PathPattern(rule.slice("edit(".length, -1)).matches(place));
      expect([text, place, !there || here]).toEqual([text, place, true]);
    }),
    { numRuns: 2_000 },
  );
});
