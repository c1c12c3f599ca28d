import fc from "fast-check";
import { expect, test } from "vitest";
import { policyIn, commandRoom as room, shellRules } from "../../../test/permission/shell-rules.ts";
import { PERMISSION_MODES, type PermissionMode, type SandboxState } from "../permission-mode.ts";
import { createPolicy } from "../policy.ts";

test("mode, sandbox and access say what runs, and where", () => {
  const { cwd } = room();
  const states: readonly SandboxState[] = ["none", "works", "only"];
  const decide = (mode: PermissionMode, sandbox: SandboxState, access: unknown): string => {
    const policy = createPolicy({ cwd, home: "/home/me", workspace: [cwd], mode, sandbox });
    const { decision, runs } = policy.check({ tool: "bash", input: { command: "make", access } });
    return decision === "allow" ? `${runs}` : decision;
  };
  const row = (mode: PermissionMode): readonly string[] =>
    states.map((state) =>
      [undefined, "network", "full", "all"].map((access) => decide(mode, state, access)).join(" "),
    );
  expect(Object.fromEntries(PERMISSION_MODES.map((mode) => [mode, row(mode)]))).toEqual({
    plan: ["deny deny deny deny", "inside ask deny deny", "inside ask deny deny"],
    dontAsk: ["deny deny deny deny", "deny deny deny deny", "deny deny deny deny"],
    default: ["ask ask ask ask", "ask ask ask ask", "ask ask deny deny"],
    acceptEdits: ["ask ask ask ask", "ask ask ask ask", "ask ask deny deny"],
    auto: ["ask ask ask ask", "inside ask ask ask", "inside ask deny deny"],
    bypassPermissions: [
      "outside outside outside outside",
      "outside outside outside outside",
      "inside network deny deny",
    ],
  });
});

test("inside the sandbox everything runs but what a rule speaks against and what names a file with keys", () => {
  const { check } = room();
  const decide = (command: string): string =>
    check(command, "!rm * ; ?git push*", { mode: "auto", sandbox: "works" }).decision;
  expect([
    decide('for f in *; do echo "$f" > x; done'),
    decide("make\u200b"),
    decide("sudo rm x"),
    decide("git push"),
    decide("cat .env"),
    decide("cat x > deploy.pem"),
  ]).toEqual(["allow", "allow", "deny", "ask", "ask", "ask"]);
});

test("a command that asks to leave is covered by rules as one outside is", () => {
  const { cwd } = room();
  const decide = (access: string): readonly unknown[] => {
    const rules = shellRules("npm install*");
    const policy = policyIn(cwd, { rules, mode: "auto", sandbox: "works" });
    return ["npm install x", "make"].map((command) => {
      const { decision, runs, reason } = policy.check({ tool: "bash", input: { command, access } });
      return [decision, runs, reason];
    });
  };
  expect([decide("network"), decide("full")]).toEqual([
    [
      ["allow", "network", "The rule bash(npm install*) allows npm install x."],
      ["ask", "network", "make: no rule allows it. It asks for the network."],
    ],
    [
      ["allow", "outside", "The rule bash(npm install*) allows npm install x."],
      ["ask", "outside", "make: no rule allows it. It asks to run outside the sandbox."],
    ],
  ]);
});

test("an allow rule covers single commands of plain lines; one for the tool covers every line", () => {
  const { allowed } = room();
  const covered = [
    "make x",
    "make 'x y'",
    "make x && make y | make z 2>&1",
    "cd src && make x",
    "cd ~/x; make",
  ];
  const not = [
    "make x > log",
    "make x; rm y",
    'make "$x"',
    "make $(x)",
    "A=1 make x",
    "make x &",
    "/usr/bin/make x",
    "./make x",
    "cd .. && make x",
    "cd way && make x",
    "cd && make x",
    "make\tx\u00a0y",
    "make x\u200b",
    "make x\u202e",
  ];
  expect(allowed([...covered, ...not], "make *")).toEqual(covered.slice(0, 4));
  expect([
    allowed(["./make x", "make x"], "./make *"),
    allowed(["make x y", "make", "makes"], "make x"),
    allowed(not, "make *", { rules: [{ tool: "bash", action: "allow" }] }),
  ]).toEqual([["./make x"], [], not.slice(0, -3)]);
});

test("no * covers an option that runs a program or writes elsewhere, but a rule that shows it does", () => {
  const { allowed } = room();
  const lines = [
    "find . -delete",
    "find . -exec rm x",
    "find . -d*",
    "git -c core.pager=x log",
    "git clone -- 'ext::./evil.sh' d",
    "git fetch --upload-p=x",
    "git log --output=x",
    "git clone -c x=y z",
    "rg --pre x y",
    "rg --pre=x y",
    "sort -no x y",
    "sort -ox y",
    "sort --outp=x y",
    "tar xf a --remove-files",
    "tar xIf x a",
    "tar --to-command=x -xf a",
    "patch -o x",
    "ssh -oProxyCommand=x host",
    "rsync -ave x a b",
    "go test -exec x",
    "go test --exec=x",
    "node --import x a.js",
    "/usr/bin/sort -o x y",
  ];
  const programs = "find git rg sort tar patch ssh rsync go node /usr/bin/sort".split(" ");
  expect(allowed(lines, programs.map((name) => `${name} *`).join(" ; "))).toEqual([]);
  const exact = lines.filter((line) => !line.includes("*"));
  expect(allowed(exact, exact.map((line) => line.replaceAll("'", "")).join(" ; "))).toEqual(exact);
  expect([
    allowed(["find . -delete", "find x -name y -delete"], "find * -delete"),
    allowed(["git -c a=b log", "git -c a=b push"], "git -c a=b *"),
    allowed(
      ["git switch -c x", "go test -count=1", "find . -name x", "git push -u origin x", "tar czf a b"],
      "git * ; go * ; find * ; tar *",
    ),
  ]).toEqual([
    ["find . -delete", "find x -name y -delete"],
    ["git -c a=b log", "git -c a=b push"],
    ["git switch -c x", "go test -count=1", "find . -name x", "git push -u origin x", "tar czf a b"],
  ]);
});

test("deny and ask rules reach a command wherever it stands in a line", () => {
  const { check } = room();
  const lines = [
    "rm x",
    "/bin/rm x",
    "r''m x",
    "\\rm x",
    "$'rm' x",
    "A=1 rm x",
    "ls; rm x",
    "ls && ! rm x",
    "ls | xargs rm x",
    "ls | xargs -n 1 -I {} rm x",
    "sudo -u root nice -n 5 rm x",
    "env -i A=1 rm x",
    "timeout -s KILL 5 rm x",
    "time rm x",
    "nohup rm x &",
    "command rm x",
    "exec rm x",
    "bash -c 'ls; rm x'",
    'bash -lc "sudo rm x"',
    "sh -c 'bash -c \"rm x\"'",
    "eval rm x",
    "eval 'rm' x",
    "ssh host rm x",
    "su -c 'rm x'",
    "find . -exec rm x {} +",
    "flock /tmp/lock rm x",
    "echo $(rm x)",
    'echo "`rm x`"',
    "cat <(rm x)",
    "x=$(rm x)",
    'echo "${y:-$(rm x)}"',
    "if true; then rm x; fi",
    "for f in a; do rm x; done",
    "f() { rm x; }; f",
    "(rm x)",
    "cat <<E\n$(rm x)\nE",
    "[[ $(rm x) ]]",
  ];
  const row = (rules: string, mode: PermissionMode): readonly string[] =>
    lines.filter(
      (line) => check(line, rules, { mode }).decision !== (rules.startsWith("!") ? "deny" : "ask"),
    );
  expect([
    row("!rm x*", "bypassPermissions"),
    row("?rm x*", "bypassPermissions"),
    row("!rm x* ; *", "default"),
  ]).toEqual([[], [], []]);
  const free = ["echo rm x", "grep rm x", "timeout 5 grep rm x", "git rm x", "find . -name rm x"];
  expect(
    free.filter((line) => check(line, "!rm *", { mode: "bypassPermissions" }).decision !== "allow"),
  ).toEqual([]);
});

test("where deny or ask rules cannot be applied, a person is asked in every mode", () => {
  const { check } = room();
  const lines = ["(".repeat(60), `echo ${"x".repeat(500_000)}`];
  const decide = (rules: string | undefined): readonly string[] =>
    lines.map((line) => check(line, rules, { mode: "bypassPermissions" }).decision);
  expect([decide("!rm *"), decide(undefined)]).toEqual([
    ["ask", "ask"],
    ["allow", "allow"],
  ]);
});

test("a question names the command without a rule, and offers one rule that would allow the line", () => {
  const { check } = room();
  const offered = (command: string, rules?: string): unknown => {
    const { decision, suggestion } = check(command, rules);
    return decision === "ask" ? suggestion : decision;
  };
  expect(
    [
      "npm install x",
      "git push --force",
      "npm run build 2>&1 | tail -5",
      "npx vitest run",
      "docker compose up -d",
      "cd src && npm test",
      "npm run lint && npm run lint -- --fix",
      "make all",
      "./run.sh x",
      "make all && rm x",
      "rm *.o",
      "rm 'a b'",
      "node -e ''",
      "git push --receive-pack=x",
      "git add *.ts",
      "make > log",
      'make "$x"',
    ].map((command) => offered(command)),
  ).toEqual([
    "bash(npm install*)",
    "bash(git push*)",
    "bash(npm run build*)",
    "bash(npx vitest run)",
    "bash(docker compose up*)",
    "bash(npm test*)",
    "bash(npm run lint*)",
    "bash(make all)",
    "bash(./run.sh x)",
    "bash(make all && rm x)",
    undefined,
    "bash(rm 'a b')",
    "bash(node -e '')",
    "bash(git push --receive-pack=x)",
    undefined,
    undefined,
    undefined,
  ]);
  const { reason, part, code } = check("ls && git -c a=b log; make x", "git *");
  expect({ reason, part, code }).toEqual({
    reason: "git -c a=b log: the * of bash(git *) does not cover -c. Not allowed either: make x.",
    part: "git -c a=b log",
    code: "no_rule",
  });
  expect([check("make > log").reason, check("a\u202eb").reason]).toEqual([
    "No rule for single commands covers the line: > is not plain text.",
    "The command has a character in it that does not show (U+202E).",
  ]);
});

const SHELL =
  "ls;rm;git;make; ;&&;|;>;<;$(;`;);';\";$x;\\;*;-c;-exec;.env;../x;/etc;~/x;#;\n;bash -c;sudo;env;{;};if;cd;src;2>&1;=".split(
    ";",
  );
const lines = fc.array(fc.constantFrom(...SHELL, ";"), { maxLength: 12 }).map((pieces) => pieces.join(" "));
const RANK = { deny: 0, ask: 1, allow: 2 };

test("random lines never throw; a rule that denies or asks never widens, one that allows never narrows", () => {
  const { cwd } = room();
  const without = policyIn(cwd);
  const asking = policyIn(cwd, { rules: shellRules("?rm * ; !git *") });
  const allowing = policyIn(cwd, { rules: shellRules("rm * ; make*") });
  const both = policyIn(cwd, { rules: shellRules("?rm * ; !git * ; rm * ; make* ; git *") });
  fc.assert(
    fc.property(fc.oneof(lines, fc.string({ unit: "binary" })), (command) => {
      const [none, asks, allows, all] = [without, asking, allowing, both].map(
        (policy) => RANK[policy.check({ tool: "bash", input: { command } }).decision],
      );
      expect((asks ?? 0) <= (none ?? 0) && (none ?? 0) <= (allows ?? 0)).toBe(true);
      expect((all ?? 0) <= (allows ?? 0) && (all ?? 0) === Math.min(all ?? 0, allows ?? 0)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("what is offered allows the line it was offered for, and nothing with a harmful option", () => {
  const { cwd } = room();
  fc.assert(
    fc.property(
      lines,
      fc.constantFrom("npm install", "git fetch origin", "make x", "sort a"),
      (rest, head) => {
        const command = `${head} ${rest}`;
        const { suggestion } = policyIn(cwd, { defaults: false }).check({ tool: "bash", input: { command } });
        fc.pre(suggestion !== undefined);
        const pattern = suggestion?.slice(5, -1) ?? "";
        const policy = policyIn(cwd, {
          rules: [{ tool: "bash", pattern, action: "allow" }],
          defaults: false,
        });
        const decide = (line: string): string =>
          policy.check({ tool: "bash", input: { command: line } }).decision;
        expect([decide(command), decide(`${head} --upload-pack=x --output=x`)]).toEqual([
          "allow",
          pattern === "npm install*" ? "allow" : "ask",
        ]);
      },
    ),
    { numRuns: 200, maxSkipsPerRun: 1000 },
  );
});
