import { execFileSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { clientPorts } from "./client-ports.ts";

const OFFERED = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
const { signal } = new AbortController();

const refused = (): Promise<never> => Promise.reject(new Error("not today"));

test.each([
  ["a number", async () => ({ content: 42 })],
  ["no text", async () => ({})],
  ["nothing", async () => null],
  ["an error", refused],
])("an editor that answers %s for a file does not know it", async (_what, request) => {
  const { files } = clientPorts({ request } as never, "s", OFFERED);
  expect(await files?.readText?.("/a.txt", { signal })).toBeUndefined();
});

test("a file that is not there and that the editor calls empty can be created; one that is there is empty", async () => {
  const folder = tempFolder({ "there.txt": "saved" });
  const { files } = clientPorts({ request: async () => ({ content: "" }) } as never, "s", OFFERED);
  const read = (name: string) => files?.readText?.(join(folder, name), { signal });
  expect([await read("new.txt"), await read("there.txt")]).toEqual([undefined, ""]);
});

type Start = (program: string, args: readonly string[], env: NodeJS.ProcessEnv) => string;

const run: Start = (program, args, env) =>
  execFileSync(program, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** How editors start a program: as it is, or in a shell with its words joined, with quotes or without. */
const STARTS: readonly Start[] = [
  run,
  (program, args, env) => run("/bin/sh", ["-c", [program, ...args].join(" ")], env),
  (program, args, env) => run("/bin/sh", ["-c", `(${[program, ...args].join(" ")}) </dev/null`], env),
  (program, args, env) => {
    const words = args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`);
    return run("/bin/sh", ["-c", [program, ...words].join(" ")], env);
  },
];

const TERMINAL = {
  id: "t",
  waitForExit: async () => ({ exitCode: 0 }) as object,
  currentOutput: async () => ({ output: "hi", truncated: false }) as object,
  kill: async () => undefined,
  release: async (): Promise<unknown> => undefined,
};

async function outputs(command: string, unset: readonly string[] = []): Promise<readonly string[]> {
  const started: string[][] = [];
  const createTerminal = async (asked: { readonly command: string; readonly args: readonly string[] }) => {
    started.push([asked.command, ...asked.args]);
    return TERMINAL;
  };
  const { shell } = clientPorts({ createTerminal } as never, "s", OFFERED);
  await shell?.run({ command, cwd: "/", env: {}, unset, maxOutputBytes: 100, signal });
  const [program = "", ...args] = started[0] ?? [];
  const env = { PATH: process.env["PATH"] ?? "", SECRET: "shown" };
  return STARTS.map((start) => start(program, args, env));
}

test.each([
  ["echo a; echo 'b;c' \"$0\"", [], "a\nb;c bash\n"],
  ["cat <<'E'\n$x 'y' \\\\\nE\necho done", [], "$x 'y' \\\\\ndone\n"],
  ["[[ a == a ]] && echo ${SECRET-none}", ["SECRET"], "none\n"],
])("whichever way an editor starts it, bash reads the line whole: %j", async (line, unset, expected) => {
  expect(await outputs(line, unset)).toEqual(STARTS.map(() => expected));
});

test("whatever a line holds reaches bash as it is, whichever way an editor starts it", async () => {
  const text = fc
    .string({ unit: fc.constantFrom(..."ab '\"\\$`;|&<>(){}*?!#~\n\t=%é".split("")), maxLength: 12 })
    .map((each) => each.replaceAll("'", ""));
  await fc.assert(
    fc.asyncProperty(text, async (inner) => {
      expect(await outputs(`printf %s '${inner}'`)).toEqual(STARTS.map(() => inner));
    }),
    { numRuns: 10 },
  );
});

const ENDED = { output: "hi", exitCode: 0, signal: null, isTruncated: false };

test.each([
  ["says what the protocol wants", {}, {}],
  ["does not take the terminal back", { release: refused }, {}],
  ["says no code", { waitForExit: async () => ({}) }, { exitCode: null }],
  [
    "says a code that is none",
    { waitForExit: async () => ({ exitCode: "x", signal: 9 }) },
    { exitCode: null },
  ],
  ["says no output", { currentOutput: async () => ({ output: 5 }) }, { output: "" }],
])("a command has ended in an editor that %s", async (_what, said, ended) => {
  const client = { createTerminal: async () => ({ ...TERMINAL, ...said }) };
  const { shell } = clientPorts(client as never, "s", OFFERED);
  const command = { command: "echo hi", cwd: "/", env: {}, unset: [], maxOutputBytes: 100, signal };
  expect(await shell?.run(command)).toEqual({ ...ENDED, ...ended });
});
