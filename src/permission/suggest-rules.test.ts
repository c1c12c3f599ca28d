import fc from "fast-check";
import { expect, test } from "vitest";
import { policyIn, shellRules } from "../../test/permission/shell-rules.ts";
import { tempFolder } from "../../test/temp-folder.ts";

function offered(command: string): readonly (string | undefined)[] {
  const { suggestion, wider } = policyIn(tempFolder(), { defaults: false }).check({
    tool: "bash",
    input: { command },
  });
  return [suggestion, wider];
}

test.each([
  ["npm test", "bash(npm test)", "bash(npm test*)"],
  ["npm test -- a", "bash(npm test -- a)", "bash(npm test *)"],
  ["npm run build --silent", "bash(npm run build --silent)", "bash(npm run build *)"],
  ["git add src/a.ts", "bash(git add src/a.ts)", "bash(git add *)"],
  ["git merge", "bash(git merge)", undefined],
  ["git merge x", "bash(git merge x)", "bash(git merge *)"],
  ["tsc", "bash(tsc)", undefined],
  ["tsc -b", "bash(tsc -b)", "bash(tsc *)"],
  ["npm audit", "bash(npm audit)", undefined],
  ["go env GOPATH", "bash(go env GOPATH)", undefined],
  ["git push --force", "bash(git push --force)", undefined],
  ["git -c core.pager=x log", "bash(git -c core.pager=x log)", undefined],
  ["git fetch --upload-pack=x", "bash(git fetch --upload-pack=x)", undefined],
  ["npm install left-pad", "bash(npm install left-pad)", undefined],
  ["npx tsc", "bash(npx tsc)", undefined],
  ["node a.js", "bash(node a.js)", undefined],
  ["python3 -m pytest", "bash(python3 -m pytest)", undefined],
  ["/usr/bin/git add a", "bash(/usr/bin/git add a)", undefined],
  ["A=1 npm test", "bash(A=1 npm test)", undefined],
  ["rm x", "bash(rm x)", undefined],
  ["cp a b", "bash(cp a b)", undefined],
])("%s is offered %j, and wider %j", (command, narrow, wider) => {
  expect(offered(command)).toEqual([narrow, wider]);
});

test.each(["rm build/*.o", "rm 'build/*.o'", "cp * x", "find . -name '*.ts' -delete"])(
  "for %s no rule is offered: a star in a rule stands for any text",
  (command) => {
    expect(offered(command)).toEqual([undefined, undefined]);
  },
);

test("a program that runs what it is fed is not offered for whatever is fed", () => {
  const asked = (command: string): string | undefined =>
    policyIn(tempFolder(), { rules: shellRules("xargs * ; cat*"), defaults: false }).check({
      tool: "bash",
      input: { command },
    }).suggestion;
  expect([asked("cat list | xargs touch"), asked("cat list | xargs node")]).toEqual([
    "bash(touch *)",
    undefined,
  ]);
});

test("what is offered allows the command, and an option that runs a program is under neither rule", () => {
  const folder = tempFolder();
  const commands = fc.constantFrom(
    "git fetch origin",
    "git commit -m x",
    "npm test",
    "cargo test x",
    "git log -3",
    "npm run x",
  );
  const options = fc.constantFrom(
    "--upload-pack=x",
    "--output=x",
    "--to-command=x",
    "--exec-batch=x",
    "--exec=x",
    "; rm x",
    "> f",
  );
  fc.assert(
    fc.property(commands, options, fc.boolean(), (command, option, isWider) => {
      const [narrow, wider] = offered(command);
      const rule = (isWider ? wider : narrow) ?? "";
      const policy = policyIn(folder, {
        rules: [{ tool: "bash", pattern: rule.slice(5, -1), action: "allow" }],
        defaults: false,
      });
      const decide = (line: string): string =>
        policy.check({ tool: "bash", input: { command: line } }).decision;
      expect([decide(command), decide(`${command} ${option}`)]).toEqual(["allow", "ask"]);
    }),
    { numRuns: 100 },
  );
});
