import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createPermissionGate, FileGuard } from "../../src/coding/setup/permission-gate.ts";
import type { ToolInput } from "../../src/core/message/message.ts";
import type { Tool, ToolContext } from "../../src/core/tool/tool.ts";
import { fileTools } from "../../src/tools/file-tools.ts";
import { settingsIn } from "../settings.ts";
import { tempFolder } from "../temp-folder.ts";

const INSIDE = "harmless inside\n";
const OUTSIDE = "SECRET outside\n";

/** A workspace whose folders an attacker swaps, the gate and the tools of the command. */
function arena() {
  const cwd = tempFolder({ "real/file.txt": INSIDE, "folder/file.txt": INSIDE });
  const outside = tempFolder({ "file.txt": OUTSIDE, "secret-name": "" });
  symlinkSync(join(cwd, "real"), join(cwd, "link"));
  const guard = new FileGuard();
  const tools = fileTools({ permitted: guard.permitted, excludes: guard.excludes });
  const known = tools.map(({ name }) => name);
  const settings = settingsIn(cwd, { permissionMode: "acceptEdits" });
  const gate = createPermissionGate(settings, { tools: known, workspace: [cwd], guard });
  let calls = 0;
  /** Judges a call as the loop does, and runs it when it is allowed; `between` happens in the gap. */
  const call = async (name: string, input: ToolInput, between?: () => void): Promise<string> => {
    const tool = tools.find((each) => each.name === name) as Tool;
    const callId = `c${++calls}`;
    const { signal } = new AbortController();
    const { action } = await gate.check({ callId, tool, name, input, cwd, sessionId: "s", signal });
    if (action !== "allow") return "refused";
    between?.();
    const context: ToolContext = {
      signal,
      sessionId: "s",
      callId,
      cwd,
      idempotencyKey: "key",
      context: undefined,
      transcriptId: "s",
      update: () => undefined,
      listTools: () => [],
      runAgent: () => Promise.reject(new Error("no subagents")),
      callTool: () => Promise.reject(new Error("no nested calls")),
    };
    const result = await tool.execute?.(input as never, context);
    return typeof result === "string" ? result : String((result as { readonly content: unknown }).content);
  };
  return { cwd, outside, call };
}

/** What a round may leave behind outside: nothing. */
function isUntouched(outside: string): boolean {
  return (
    readdirSync(outside)
      .toSorted((a, b) => a.localeCompare(b))
      .join(" ") === "file.txt secret-name" && readFileSync(join(outside, "file.txt"), "utf8") === OUTSIDE
  );
}

const INPUTS: Readonly<Record<string, (path: string) => ToolInput>> = {
  read: (path) => ({ path: `${path}/file.txt` }),
  list: (path) => ({ path }),
  write: (path) => ({ path: `${path}/file.txt`, content: INSIDE }),
  create: (path) => ({ path: `${path}/new/deep/file.txt`, content: INSIDE }),
  edit: (path) => ({ path: `${path}/file.txt`, edits: [{ old_string: "SECRET", new_string: "harmless" }] }),
  grep: (path) => ({ path, pattern: "harmless|SECRET", mode: "content" }),
  "grep in a file": (path) => ({ path: `${path}/file.txt`, pattern: "harmless|SECRET", mode: "content" }),
  glob: (path) => ({ path, pattern: "*" }),
};
const TOOLS: Readonly<Record<string, string>> = { list: "read", create: "write", "grep in a file": "grep" };

const toolOf = (way: string): string => TOOLS[way] ?? way;

test.each(Object.keys(INPUTS))("a link that is swapped after the check loses: %s", async (way) => {
  for (const [path, swap] of [
    [
      "link",
      (cwd: string, out: string) => (unlinkSync(join(cwd, "link")), symlinkSync(out, join(cwd, "link"))),
    ],
    [
      "folder",
      (cwd: string, out: string) => (
        renameSync(join(cwd, "folder"), join(cwd, "x")), symlinkSync(out, join(cwd, "folder"))
      ),
    ],
  ] as const) {
    const { cwd, outside, call } = arena();
    const input = (INPUTS[way] as (path: string) => ToolInput)(path);
    // What is changed must have been read: the attacker lets that happen.
    await call("read", { path: `${path}/file.txt` });
    const said = await call(toolOf(way), input, () => swap(cwd, outside));
    expect({
      way,
      path,
      said: /SECRET outside|secret-name/.test(said),
      untouched: isUntouched(outside),
    }).toEqual({
      way,
      path,
      said: false,
      untouched: true,
    });
    expect(said).toMatch(/no longer leads|taken (?:its|the) place|no such file/);
  }
});

const ROUNDS: readonly (readonly [way: string, rounds: number])[] = [
  ["read", 5_000],
  ["list", 2_000],
  ["write", 900],
  ["create", 600],
  ["edit", 600],
  ["grep", 300],
  ["grep in a file", 300],
  ["glob", 300],
];

test.skipIf(process.platform !== "linux")(
  "in 10,000 rounds against somebody who swaps links all the time nothing outside is read or written (needs Linux)",
  async () => {
    const { cwd, outside, call } = arena();
    for (const path of ["real", "folder"]) await call("read", { path: `${path}/file.txt` });
    const swapper = spawn(process.execPath, [join(import.meta.dirname, "swap-links.mjs"), cwd, outside], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void swapper.kill("SIGKILL"));
    const closed = once(swapper, "close");
    await once(swapper.stdout, "data");
    const escapes: string[] = [];
    const counts = { refused: 0, lost: 0, done: 0 };
    for (const [way, rounds] of ROUNDS) {
      for (let round = 0; round < rounds; round++) {
        const path = round % 2 === 0 ? "link" : "folder";
        const input = (INPUTS[way] as (path: string) => ToolInput)(path);
        const said = await call(toolOf(way), input).catch((error: unknown) => String(error));
        if (/SECRET outside|secret-name/.test(said)) escapes.push(`${way}: ${said}`);
        if (said === "refused") counts.refused++;
        else if (/^Error|no longer leads|taken .* place|no such/.test(said)) counts.lost++;
        else counts.done++;
        if (round % 50 === 0 && !isUntouched(outside)) escapes.push(`${way}: something was written outside`);
      }
      if (!isUntouched(outside)) escapes.push(`${way}: something was written outside`);
    }
    swapper.stdin.end();
    expect(await closed).toEqual([0, null]);
    expect(escapes).toEqual([]);
    // Both sides had their turns; how many is for a busy machine to say.
    expect([counts.refused, counts.lost, counts.done].every((count) => count > 0)).toBe(true);
  },
);
