import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { parseRules } from "./parse-rule.ts";
import { PathSpace } from "./paths/path-space.ts";
import { createPolicy } from "./policy.ts";

test("the rule that is offered for a path allows that path and no other", () => {
  const cwd = tempFolder({ "src/a.ts": "" });
  mkdirSync(join(cwd, "~"));
  const piece = fc.constantFrom(
    "a",
    "b",
    "*",
    "**",
    "?",
    "~",
    "[a]",
    "{a,b}",
    "!",
    "\\",
    ")",
    "(",
    "#",
    " ",
    "/",
    "./",
  );
  const paths = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
  const others = ["a", "b", "src/a.ts", "~/.bashrc", "a/b", "/etc/passwd"];
  fc.assert(
    fc.property(paths, fc.array(paths), (path, more) => {
      const policy = (allow: readonly string[]) =>
        createPolicy({
          cwd,
          home: "/home/somebody",
          workspace: [cwd],
          platform: "linux",
          rules: parseRules({ allow }),
        });
      const decide = (given: string, allow: readonly string[] = []) =>
        policy(allow).check({ tool: "write", input: { path: given, content: "" } });
      const { suggestion, decision } = decide(path);
      if (suggestion === undefined) return;
      const space = new PathSpace({ cwd, home: "/home/somebody", workspace: [cwd], platform: "linux" });
      const placeOf = (given: string): string => space.path(given).resolved;
      const wrong = [...others, ...more].filter(
        (other) => placeOf(other) !== placeOf(path) && decide(other, [suggestion]).decision === "allow",
      );
      expect([decision, decide(path, [suggestion]).decision, wrong]).toEqual(["ask", "allow", []]);
    }),
  );
});

test("no rule is offered for a host with a star in it", () => {
  const cwd = tempFolder({ "src/a.ts": "" });
  const policy = createPolicy({ cwd, home: cwd, workspace: [cwd], platform: "linux", rules: parseRules([]) });
  const offered = ["https://*.com/", "https://*/", "https://a.example../"].map(
    (url) => policy.check({ tool: "web_fetch", input: { url } }).suggestion,
  );
  expect(offered).toEqual([undefined, undefined, "web_fetch(domain:a.example)"]);
});

test("a question about a link says where it leads, inside the workspace too", () => {
  const cwd = tempFolder({ "src/a.ts": "" });
  symlinkSync("src/a.ts", join(cwd, "notes.md"));
  const policy = createPolicy({ cwd, home: cwd, workspace: [cwd], platform: "linux", rules: parseRules([]) });
  const reason = (path: string): string => policy.check({ tool: "edit", input: { path, edits: [] } }).reason;
  expect([reason("notes.md"), reason("./src/../src/a.ts")]).toEqual([
    "notes.md leads to src/a.ts. No rule allows edit on notes.md.",
    "No rule allows edit on ./src/../src/a.ts.",
  ]);
});
