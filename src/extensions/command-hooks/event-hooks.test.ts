import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isAlive, pidsIn, until } from "../../../test/faults/until.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import { EventHooks } from "./event-hooks.ts";
import { type HookCommand, type HookEvent, matchedName, peerMatcher, readHooks } from "./read-hooks.ts";

const PATH = process.env["PATH"] ?? "";

function hooksOf(commands: readonly (string | Partial<HookCommand>)[], cwd = tempFolder({})): EventHooks {
  const hooks = commands.map(
    (given): HookCommand => ({
      event: "PreToolUse",
      command: typeof given === "string" ? given : "true",
      timeoutMs: 60_000,
      source: "settings",
      ...(typeof given === "string" ? {} : given),
    }),
  );
  const commonInput = () => ({ session_id: "s", transcript_path: "/t", cwd, permission_mode: "default" });
  return new EventHooks({
    commands: hooks,
    handlers: [],
    surroundings: () => ({ cwd, env: { PATH, HOME: cwd } }),
    commonInput,
  });
}

const answer = (value: object): string => `echo '${JSON.stringify(value)}'`;
const decide = (permissionDecision: string, more: object = {}): string =>
  answer({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more } });

test("a hook gets the call as one JSON object on standard input", async () => {
  const cwd = tempFolder({});
  const fields = { tool_name: "bash", tool_input: { command: "ls" }, tool_use_id: "call_1" };
  await hooksOf(["cat > seen.json"], cwd).fire("PreToolUse", { name: "bash", fields });
  expect(JSON.parse(readFileSync(join(cwd, "seen.json"), "utf8"))).toEqual({
    session_id: "s",
    transcript_path: "/t",
    cwd,
    permission_mode: "default",
    hook_event_name: "PreToolUse",
    ...fields,
  });
});

test.each([
  [["exit 0"], {}],
  [["echo no >&2; exit 2"], { decision: "deny", reason: "no" }],
  [[decide("allow", { permissionDecisionReason: "fine" })], { decision: "allow", reason: "fine" }],
  [[decide("ask"), decide("allow")], { decision: "ask" }],
  [[decide("allow"), "echo stop >&2; exit 2", decide("ask")], { decision: "deny", reason: "stop" }],
  [[answer({ decision: "block", reason: "old form" })], { decision: "deny", reason: "old form" }],
  [[answer({ decision: "approve" })], { decision: "allow" }],
  [
    [decide("allow", { updatedInput: { command: "ls" } })],
    { decision: "allow", updatedInput: { command: "ls" } },
  ],
  [[answer({ continue: false, stopReason: "enough" })], { stop: "enough" }],
  [
    [
      answer({ hookSpecificOutput: { additionalContext: "a" } }),
      answer({ hookSpecificOutput: { additionalContext: "b" } }),
    ],
    { context: ["a", "b"] },
  ],
  [
    [answer({ hookSpecificOutput: { decision: { behavior: "deny", message: "not now" } } })],
    { decision: "deny", reason: "not now" },
  ],
])("%j decides %j", async (commands, verdict) => {
  const {
    by: _by,
    updatedBy: _updatedBy,
    ...said
  } = await hooksOf(commands).fire("PreToolUse", { name: "bash" });
  expect(said).toEqual({ context: [], problems: [], ...verdict });
});

test.each([
  ["exit 1", /ended with 1, which blocks nothing \(2 does\)/],
  ["echo '{oops'", /answered what is not JSON/],
  ["kill -9 $$", /ended with 137/],
  [decide("perhaps"), /only allow, ask and deny count/],
  [decide("allow", { updatedInput: 7 }), /updatedInput that is not an object/],
  ["no-such-program-anywhere", /ended with 127/],
])("%j is told and blocks nothing", async (command, problem) => {
  const verdict = await hooksOf([command]).fire("PreToolUse", { name: "bash" });
  expect(verdict.problems).toEqual([expect.stringMatching(problem)]);
  expect(["deny", "ask"]).not.toContain(verdict.decision);
});

test("a script that is not there blocks, and a person is told why", async () => {
  const verdict = await hooksOf(["echo \"python3: can't open file 'x.py'\" >&2; exit 2"]).fire("PreToolUse");
  expect([verdict.decision, verdict.problems]).toEqual([
    "deny",
    [expect.stringContaining("script seems to be missing")],
  ]);
});

test("a hook that hangs is ended with all it started, and blocks nothing", async () => {
  const cwd = tempFolder({});
  const command = "sleep 1000 & echo $! > pid; wait";
  let timeoutMs = 100;
  // A busy machine may take longer than that to start it.
  while (pidsIn(join(cwd, "pid")).length === 0) {
    timeoutMs *= 2;
    const verdict = await hooksOf([{ command, timeoutMs }], cwd).fire("PreToolUse");
    const problem: unknown = expect.stringContaining(`longer than ${timeoutMs / 1000} s`);
    expect([verdict.decision, verdict.problems]).toEqual([undefined, [problem]]);
  }
  const pids = pidsIn(join(cwd, "pid"));
  await until(() => !pids.some(isAlive));
  expect(pids).not.toEqual([]);
});

test("what a hook leaves running holds nothing up, also when it keeps the pipe", async () => {
  const escape = process.platform === "linux" ? "setsid sleep 2 &" : "sleep 2 &";
  const verdict = await hooksOf([`${escape} ${decide("ask")}`]).fire("PreToolUse");
  expect(verdict.decision).toBe("ask");
});

test("a hook that floods is heard up to a bound, and one that does not read its input does no harm", async () => {
  const flood = "head -c 50000000 /dev/zero | tr '\\0' x; exit 0";
  const verdict = await hooksOf([flood]).fire("PreToolUse", { fields: { prompt: "y".repeat(1_000_000) } });
  expect(verdict).toEqual({ context: [], problems: [] });
});

test("the model reads at most 50 KB of what a hook says; a longer answer than is read is told", async () => {
  const long = (bytes: number): string => `head -c ${bytes} /dev/zero | tr '\\0' x`;
  const blocked = await hooksOf([`${long(200_000)} >&2; exit 2`]).fire("PreToolUse");
  const said = `printf '{"additionalContext":"'; ${long(200_000)}; printf '"}'`;
  const added = await hooksOf([said]).fire("PreToolUse");
  const cut = await hooksOf([`printf '{"reason":"'; ${long(300_000)}; printf '"}'`]).fire("PreToolUse");
  const context = await hooksOf([{ event: "SessionStart", command: long(100_000) }]).fire("SessionStart");
  expect([
    [blocked.reason, ...added.context, ...context.context].map(
      (text = "") => text.length <= 50_000 && text.length > 49_000,
    ),
    cut.problems,
  ]).toEqual([[true, true, true], [expect.stringContaining("answered more than 256 KB")]]);
});

test("an abort ends the hooks", async () => {
  const controller = new AbortController();
  const cwd = tempFolder({});
  const fired = hooksOf(["touch begun; sleep 1000"], cwd).fire("PreToolUse", { signal: controller.signal });
  controller.abort();
  expect((await fired).problems).toEqual([expect.stringContaining("the run was stopped")]);
});

test.each([
  [undefined, "bash", true],
  ["Bash", "bash", true],
  ["bash|edit", "edit", true],
  ["Edit|Write", "write", true],
  ["MultiEdit", "edit", true],
  ["write_file|replace", "edit", true],
  ["ba", "bash", false],
  ["mcp__git.*", "mcp__github__search", true],
  ["mcp__git", "mcp__github__search", false],
  ["bash", "constructor", false],
])("the matcher %j fits %s: %s", (matcher, name, fits) => {
  const hook: HookCommand = {
    event: "PreToolUse",
    command: "x",
    timeoutMs: 1,
    source: "",
    ...(matcher === undefined ? {} : { matcher }),
  };
  expect(matchedName(hook, name) !== undefined).toBe(fits);
});

test("a matcher of another agent is told the names of that agent, whatever it fits", () => {
  const told = (isPeers: (name: string) => boolean, matcher?: string) =>
    ["bash", "edit", "glob", "job", "mcp__a__b"].map((name) => {
      const adapted = peerMatcher(matcher, isPeers);
      return matchedName(adapted === undefined ? {} : { matcher: adapted }, name);
    });
  const isCapital = (name: string): boolean => /^[A-Z]/.test(name);
  const isGemini = (name: string): boolean => ["run_shell_command", "replace", "glob"].includes(name);
  expect([
    told(isCapital),
    told(isCapital, ".*"),
    told(isCapital, "Edit|MultiEdit"),
    told(isGemini),
    peerMatcher("Bash", isCapital),
  ]).toEqual([
    ["Bash", "Edit", "Glob", "job", "mcp__a__b"],
    ["Bash", "Edit", "Glob", "job", "mcp__a__b"],
    [undefined, "Edit", undefined, undefined, undefined],
    ["run_shell_command", "replace", "glob", "job", "mcp__a__b"],
    "Bash",
  ]);
});

test("plain output is context where something begins, and nothing elsewhere", async () => {
  const said = async (event: HookEvent): Promise<readonly string[]> =>
    (await hooksOf([{ event, command: "echo branch: main" }]).fire(event)).context;
  expect([await said("SessionStart"), await said("UserPromptSubmit"), await said("PostToolUse")]).toEqual([
    ["branch: main"],
    ["branch: main"],
    [],
  ]);
});

test("settings are read one hook at a time: what is malformed is told and the rest counts", () => {
  const { hooks, problems } = readHooks(
    {
      PreToolUse: [
        {
          matcher: "bash",
          hooks: [
            { type: "command", command: "a", timeout: 5 },
            { type: "http", url: "x" },
            { command: " " },
          ],
        },
        { matcher: "(", hooks: [{ command: "b" }] },
        { hooks: [{ command: "c", timeout: -1 }, { command: "d" }] },
        "odd",
      ],
      Stop: {},
      PreTolUse: [],
    },
    "config.json",
  );
  expect([hooks.map(({ command, matcher, timeoutMs }) => [command, matcher, timeoutMs]), problems]).toEqual([
    [
      ["a", "bash", 5_000],
      ["d", undefined, 60_000],
    ],
    [
      'config.json: hooks.PreToolUse[0].hooks[1] is of type "http"; only "command" runs',
      "config.json: hooks.PreToolUse[0].hooks[2] has no command",
      "config.json: hooks.PreToolUse[1].matcher is not a regular expression, so its hooks do not run",
      "config.json: hooks.PreToolUse[2].hooks[0].timeout is not a number of seconds up to 3600",
      "config.json: hooks.PreToolUse[3] has no list of hooks",
      "config.json: hooks.Stop is not a list",
      'config.json: there is no event "PreTolUse", so its hooks do not run. Did you mean PreToolUse?',
    ],
  ]);
});

test("never throws, whatever the settings hold", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const { hooks, problems } = readHooks(value, "s");
      expect([Array.isArray(hooks), Array.isArray(problems)]).toEqual([true, true]);
    }),
  );
});
