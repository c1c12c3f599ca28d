import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { AgentEvent, FileVersion } from "../core/agent/entries.ts";
import { CHECK_COMMANDS, checkLine, EvidenceFold, evidenceText } from "./evidence.ts";

let count = 0;

function file(hash: string): FileVersion {
  return { type: "file", hash, size: 1, mode: 0o644 };
}

/** An entry as a journal would give it; the fold looks at no more than this. */
function entry(fields: object): AgentEvent {
  return { id: `e${++count}`, parent: null, time: count, ...fields } as AgentEvent;
}

function said(): AgentEvent[] {
  return [entry({ type: "user_message", source: "input", message: { role: "user", content: "go" } })];
}

function change(path: string, after = `h${++count}`): AgentEvent[] {
  const callId = `c${++count}`;
  return [
    entry({ type: "tool_intent", callId, name: "edit", input: { path } }),
    entry({
      type: "checkpoint",
      callId,
      name: "edit",
      root: "/w",
      changes: [{ path, before: file("old"), after: file(after) }],
    }),
    entry({ type: "tool_result", callId, name: "edit", status: "ok", durationMs: 1 }),
  ];
}

interface Bash {
  readonly exitCode?: number;
  readonly status?: "ok" | "error" | "denied" | "aborted";
  readonly changes?: readonly string[];
  readonly background?: boolean;
}

function bash(command: string, { exitCode = 0, status, changes = [], background }: Bash = {}): AgentEvent[] {
  const callId = `c${++count}`;
  const name = "bash";
  const changed = changes.map((path) => ({ path, before: null, after: file(path) }));
  const intent = entry({ type: "tool_intent", callId, name, input: { command, background } });
  const end = status ?? (exitCode === 0 ? "ok" : "error");
  const metadata = { exitCode, durationMs: 7 };
  return [
    ...(end === "denied" ? [] : [intent]),
    ...(changed.length === 0
      ? []
      : [entry({ type: "checkpoint", callId, name, root: "/w", changes: changed })]),
    entry({ type: "tool_result", callId, name, status: end, durationMs: 9, metadata }),
  ];
}

function line(...events: readonly (readonly AgentEvent[])[]): string {
  const fold = new EvidenceFold("/w");
  for (const event of events.flat()) fold.add(event);
  return evidenceText(fold.evidence);
}

test("a script that is named as a test or a check is one, whatever runs it", () => {
  const found = [
    "node test.js",
    "python3 ./tests/test_api.py",
    "bash scripts/check.sh",
    "tsx src/a.spec.ts",
    "./run-tests --all",
  ];
  expect(found.filter((command) => checkLine(command) === undefined)).toEqual([]);
  const others = ["node server.js", "sh -c 'test -f a'", "test -f a", "cat test.js", "python contest.py"];
  expect(others.filter((command) => checkLine(command) !== undefined)).toEqual([]);
});

test("one line tells a run that only says done from one that was checked before, and one after its last change", () => {
  const tests = bash("npm test");
  expect({
    done: line(said(), change("a")),
    before: line(said(), change("a"), tests, change("b")),
    after: line(said(), change("a"), change("b"), change("a"), tests),
    failed: line(said(), change("a"), bash("npm test", { exitCode: 1 })),
    quiet: line(said(), bash("ls")),
    looked: line(said(), tests),
  }).toEqual({
    done: "1 file changed · nothing was run since the last change",
    before: "2 files changed · nothing was run since the last change; before it npm test passed",
    after: "2 files changed · npm test passed after the last change",
    failed: "1 file changed · npm test failed after the last change",
    quiet: "",
    looked: "npm test passed",
  });
});

test("what did not run, or hides how it ended, is not taken for passed", () => {
  const after = (...events: readonly (readonly AgentEvent[])[]): string =>
    line(said(), change("a"), ...events).replace(/^.* · /, "");
  const nothing = "nothing was run since the last change";
  const unseen = "npm test was run, its result not seen after the last change";
  expect({
    denied: after(bash("npm test", { status: "denied" })),
    background: after(bash("npm test", { background: true })),
    help: after(bash("npx vitest --version")),
    spoken: after(bash('echo "npm test"')),
    comment: after(bash("true # npm test")),
    here: after(bash("cat <<X\nnpm test\nX")),
    pipe: after(bash("npm test | tail -5")),
    or: after(bash("npm test || true")),
    behind: after(bash("npm test; echo done")),
    stopped: after(bash("npm test", { status: "aborted" })),
    earlier: line(bash("npm test"), said(), change("a")).replace(/^.* · /, ""),
  }).toEqual({
    denied: nothing,
    background: nothing,
    help: nothing,
    spoken: nothing,
    comment: nothing,
    here: nothing,
    pipe: unseen,
    or: unseen,
    behind: unseen,
    stopped: unseen,
    earlier: nothing,
  });
});

test("files that Bash changed count: behind the check it is before the change, by the check itself it is not", () => {
  expect({
    sed: line(said(), bash("npm test"), bash("sed -i s/a/b/ a", { changes: ["a"] })),
    first: line(said(), bash("sed -i s/a/b/ a && npm test", { changes: ["a"] })),
    last: line(said(), bash("npm test && sed -i s/a/b/ a", { changes: ["a"] })),
    own: line(said(), change("a"), bash("npm test -- --coverage", { changes: ["coverage/x"] })),
    back: line(said(), change("a"), bash("npm test"), change("a", "old")),
  }).toEqual({
    sed: "1 file changed · nothing was run since the last change; before it npm test passed",
    first: "1 file changed · npm test passed after the last change",
    last: "1 file changed · nothing was run since the last change; before it npm test passed",
    own: "2 files changed · npm test -- --coverage passed after the last change",
    back: "npm test passed",
  });
});

test("a check is known by the table, wherever it stands in its line", () => {
  const known = [
    "cd web && npm run -s lint 2>&1",
    "CI=1 timeout 60 npx vitest run src",
    "./node_modules/.bin/tsc --noEmit",
    "python -m pytest -q",
    "go test ./... > log.txt",
    "(cargo clippy)",
    "make -j4 check",
    "node --test",
  ];
  const unknown = ["npm install", "vim test", "git commit -m 'npm test'", "go run .", "tsc --watch"];
  expect({
    known: known.filter((each) => checkLine(each) === undefined),
    unknown: unknown.filter((each) => checkLine(each) !== undefined),
  }).toEqual({ known: [], unknown: [] });
});

test("the table is published as it is", () => {
  const page = readFileSync(new URL("../../docs/until.md", import.meta.url), "utf8");
  expect(page).toContain(`\n${CHECK_COMMANDS.join("\n")}\n`);
});

test("where nothing is kept for undo, the tools say what they changed", () => {
  const callId = "w";
  const written = [
    entry({ type: "tool_intent", callId, name: "write", input: { path: "a" } }),
    entry({ type: "tool_result", callId, name: "write", status: "ok", durationMs: 1 }),
  ];
  expect(line(said(), written)).toBe("1 file changed · nothing was run since the last change");
});
