import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { replies } from "../../src/testing/server-step.ts";
import { modelServer } from "../e2e/command.ts";
import { sessionPlace } from "../e2e/session-place.ts";
import { missingForSandbox } from "../sandbox-room.ts";
import { isFullSweep } from "./sweep.ts";
import { isAlive, pidsIn, until } from "./until.ts";

const TURNS = 20;
/**
 * Lines of standard output after which the command is killed: the first, then an answer and a result a turn.
 */
const LINES = isFullSweep ? Array.from({ length: 2 * TURNS + 1 }, (_, at) => at + 1) : [1, 2, 3, 18];

it.each(LINES)(
  "has kept what it told when it is killed at line %i of its output, and goes on",
  async (line) => {
    const place = sessionPlace();
    const server = await modelServer((_request, index) =>
      index < TURNS ? calls("bash", { command: `echo ${index} >> effects` }, `call_${index}`) : says("done"),
    );
    const command = place.start(["-p", "--yolo", "--json", "go"], server);
    let lines = 0;
    command.child.stdout?.on("data", (text: string) => {
      lines += text.split("\n").length - 1;
      if (lines >= line) command.child.kill("SIGKILL");
    });
    const killed = await command.end;
    const told = killed.stdout.split("\n").slice(0, -1).filter(isAboutMessage);
    const file = place.files()[0];
    const recorded = file === undefined ? "" : readFileSync(file, "utf8");
    const lost = told.flatMap(callIds).filter((id) => !recorded.includes(id));
    expect({ code: killed.code, lost }).toEqual({ code: null, lost: [] });

    const goesOn = recorded === "" ? [] : ["-c"];
    const end = await place.run(["-p", ...goesOn, "--yolo", "go on"], server);
    const effects = existsSync(join(place.cwd, "effects"))
      ? readFileSync(join(place.cwd, "effects"), "utf8").trimEnd().split("\n")
      : [];
    expect({
      code: end.code,
      stdout: end.stdout,
      repeated: effects.filter((n, at) => effects.indexOf(n) !== at),
      refused: server.requests.flatMap(({ violations }) => violations),
    }).toEqual({ code: 0, stdout: "done\n", repeated: [], refused: [] });
  },
);

/** Each writes the number of a process that goes on for long, in the way that is hardest to find it by. */
const LEFT: Readonly<Record<string, { readonly input?: object; readonly config?: object }>> = {
  "a command at work": { input: { command: "echo $$ >> pids; exec sleep 1000" } },
  "a command that nothing but KILL ends": {
    input: { command: "trap '' TERM HUP; echo $$ >> pids; while :; do sleep 1; done" },
  },
  "a command in a session of its own": {
    input: { command: "setsid sh -c 'echo $$ >> pids; exec sleep 1000' > /dev/null 2>&1 & wait" },
  },
  "a background job": { input: { command: "echo $$ >> pids; exec sleep 1000", background: true } },
  "a hook": {
    input: { command: "true" },
    config: {
      hooks: {
        PostToolUse: [{ hooks: [{ type: "command", command: "echo $$ >> pids; exec sleep 1000" }] }],
      },
    },
  },
};

it.each(Object.entries(LEFT))("leaves nothing of %s when it is killed", async (_what, { input, config }) => {
  const place = sessionPlace({}, config);
  const server = await modelServer((_request, index) =>
    index === 0 ? calls("bash", { ...input }, "call_0") : replies({ stall: "before_headers" }),
  );
  const command = place.start(["-p", "--yolo", "--no-session", "go"], server);
  const named = (): readonly number[] => pidsIn(join(place.cwd, "pids"));
  await until(() => named().some(isAlive));
  command.child.kill("SIGKILL");
  const { code } = await command.end;
  await until(() => !named().some(isAlive));
  expect(code).toBe(null);
});

it.skipIf(missingForSandbox() !== "")("leaves nothing of a sandbox, when it is killed", async () => {
  const place = sessionPlace();
  const server = await modelServer([
    calls("bash", { command: "touch begun; setsid sleep 1000 & sleep 1000" }),
  ]);
  const command = place.start(["-p", "--yolo", "--sandbox", "on", "go"], server);
  await until(() => existsSync(join(place.cwd, "begun")));
  const { pid } = command.child;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  command.child.kill("SIGKILL");
  await command.end;
  await until(() => !children.some(isAlive));
  const inside = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isIn(Number(name), place.cwd));
  expect(inside).toEqual([]);
});

/** True for a process that works in a folder. */
function isIn(pid: number, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder && isAlive(pid);
  } catch {
    return false;
  }
}

function isAboutMessage(line: string): boolean {
  return line.startsWith('{"type":"assistant"') || line.startsWith('{"type":"user"');
}

function callIds(line: string): readonly string[] {
  return [...line.matchAll(/"call_\d+"/g)].map(([id]) => id);
}
